import { describe, expect, it } from 'vitest'
import type { HostMessage } from '../../../extension/protocol/messages.ts'
import { MAX_PLUGIN_PAYLOAD_BYTES, type PluginFrameView, type PluginMessage, type PluginPart, type PluginSlot } from '../../../extension/protocol/plugin-frame.ts'
import { FLOOD_MESSAGES_A_SECOND, MAX_MESSAGES_A_SECOND, MAX_SILENT_PINGS, MAX_WAITING_CALLS, PluginDesk } from '../../../webview/plugins/plugin-desk.ts'

const view = (slots: readonly PluginSlot[] = ['panel']): PluginFrameView => ({ id: 's1/run-1', pluginId: 'note-1', name: 'Note', slots, problem: null })
const theme = { classes: 'vscode-dark', language: 'en', variables: {} }

function setUp() {
  const posted: PluginMessage[] = []
  const left: string[] = []
  let now = 0
  const desk = new PluginDesk({ post: (message) => void posted.push(message), now: () => now, theme: () => theme, nonce: 'n', onLeave: (id) => void left.push(id) })
  return {
    desk,
    posted: () => posted.splice(0),
    left,
    wait: (ms: number) => void (now += ms),
    host: (part: PluginPart, frameId = 's1/run-1') => desk.hear({ source: null, data: { type: 'plugin', frameId, part } satisfies HostMessage }, true),
    /** A frame that is in the page, as its code would speak. */
    frame(of = view(), slot: PluginSlot = 'panel') {
      const told: unknown[] = []
      // A window, as far as the desk uses one.
      const contentWindow = { postMessage: (message: unknown) => void told.push(message) } as unknown as Window
      const drawn = desk.open(of, slot)
      drawn.join({ contentWindow })
      const say = (data: unknown) => desk.hear({ source: contentWindow, data }, false)
      return { drawn, contentWindow, say, told: () => told.splice(0) }
    },
  }
}

type Frame = ReturnType<ReturnType<typeof setUp>['frame']>

function standing(of?: PluginFrameView, slot?: PluginSlot) {
  const rig = setUp()
  const frame = rig.frame(of, slot)
  rig.host({ kind: 'code', code: 'x' })
  frame.say({ kind: 'here' })
  frame.say({ kind: 'ready', isDrawn: true })
  rig.posted()
  frame.told()
  return { ...rig, frame }
}

describe('a frame', () => {
  it('gets its code once it listens, with nonce and theme, and counts as drawn when it says so', () => {
    const { frame, posted, host } = setUp()
    const { say, told, drawn } = frame()
    expect(posted()).toEqual([{ type: 'plugin-code', frameId: 's1/run-1' }])
    host({ kind: 'code', code: 'return 1' })
    expect(told()).toEqual([])
    say({ kind: 'here' })
    expect(told()).toEqual([{ kind: 'start', slot: 'panel', code: 'return 1', nonce: 'n', theme }])
    say({ kind: 'here' })
    expect([told(), drawn.height.value]).toEqual([[], null])
    say({ kind: 'ready', isDrawn: true })
    say({ kind: 'height', px: 40 })
    expect([posted(), drawn.height.value]).toEqual([[{ type: 'plugin-frame', frameId: 's1/run-1', state: 'ready' }], 40])
  })

  it('takes no room where its code has nothing for the slot, until it has', () => {
    const { frame, host, posted } = setUp()
    const { say, drawn } = frame()
    host({ kind: 'code', code: '' })
    say({ kind: 'here' })
    say({ kind: 'ready', isDrawn: false })
    say({ kind: 'height', px: 40 })
    expect(drawn.height.value).toBe(null)
    say({ kind: 'ready', isDrawn: true })
    say({ kind: 'height', px: 40 })
    expect([drawn.height.value, posted().filter(({ type }) => type === 'plugin-frame').length]).toEqual([40, 1])
  })

  it('is drawn when all slots of its plugin are, and failed when one is', () => {
    const both = view(['panel', 'header'])
    const rig = setUp()
    const [panel, header] = [rig.frame(both, 'panel'), rig.frame(both, 'header')]
    rig.host({ kind: 'code', code: '' })
    for (const { say } of [panel, header]) say({ kind: 'here' })
    rig.posted()
    panel.say({ kind: 'ready', isDrawn: true })
    expect(rig.posted()).toEqual([])
    header.say({ kind: 'ready', isDrawn: true })
    header.say({ kind: 'failed', message: 'no more' })
    expect(rig.posted()).toEqual([
      { type: 'plugin-frame', frameId: 's1/run-1', state: 'ready' },
      { type: 'plugin-frame', frameId: 's1/run-1', state: 'failed', message: 'no more' },
    ])
    // What it says after that is not heard.
    header.say({ kind: 'call', id: 1, method: 'm', payload: null })
    expect(rig.posted()).toEqual([])
  })

  it('is not started without code, as of a run that is over', () => {
    const { frame, host } = setUp()
    const { say, told } = frame()
    say({ kind: 'here' })
    host({ kind: 'code', code: null })
    expect(told()).toEqual([])
  })

  it('that answers nothing any more is taken away, also one that never listened, and others stand', () => {
    const rig = setUp()
    const [busy, deaf, other] = ['1', '2', '3'].map((run) => rig.frame({ ...view(), id: `s1/run-${run}`, pluginId: `note-${run}` })) as [Frame, Frame, Frame]
    for (const { say } of [busy, other]) say({ kind: 'here' })
    rig.posted()
    for (let count = 0; count < MAX_SILENT_PINGS; count += 1) {
      rig.desk.ping()
      expect(other.told()).toEqual([{ kind: 'ping' }])
      other.say({ kind: 'pong' })
    }
    expect(rig.posted()).toEqual([])
    rig.desk.ping()
    const message = 'It did not answer for 10 s, so it was taken away. It may have been held up by another plugin.'
    expect(rig.posted()).toEqual(['s1/run-1', 's1/run-2'].map((frameId) => ({ type: 'plugin-frame', frameId, state: 'failed', message })))
    deaf.drawn.leave()
    busy.drawn.leave()
    for (let count = 0; count <= MAX_SILENT_PINGS; count += 1) rig.desk.ping()
    expect(rig.posted()).toEqual([{ type: 'plugin-frame', frameId: 's1/run-3', state: 'failed', message: 'It did not answer for 10 s, so it was taken away.' }])
  })

  it('is told of the theme that is chosen', () => {
    const { frame, desk } = standing()
    desk.themeChanged()
    expect(frame.told()).toEqual([{ kind: 'theme', theme }])
  })

  it('is left with the Escape key', () => {
    const { frame, left } = standing()
    frame.say({ kind: 'leave' })
    expect(left).toEqual(['s1/run-1'])
  })

  it('says what went wrong without an end of it', () => {
    const { frame } = standing()
    frame.say({ kind: 'trouble', message: 'a button' })
    expect(frame.drawn.trouble.value).toBe('a button')
    frame.say({ kind: 'call', id: 1, method: 'm', payload: null })
    expect(frame.drawn.trouble.value).toBe(null)
  })
})

describe('calls and events', () => {
  it('are answered to the frame that asked, under its own number', () => {
    const both = view(['panel', 'header'])
    const rig = setUp()
    const [panel, header] = [rig.frame(both, 'panel'), rig.frame(both, 'header')]
    rig.host({ kind: 'code', code: '' })
    for (const { say, told } of [panel, header]) {
      say({ kind: 'here' })
      told()
      say({ kind: 'call', id: 7, method: 'count', payload: { text: 'a b' } })
    }
    const calls = rig.posted().filter((message) => message.type === 'plugin-call')
    expect(calls).toEqual([1, 2].map((id) => ({ type: 'plugin-call', frameId: 's1/run-1', id, method: 'count', payload: { text: 'a b' } })))
    rig.host({ kind: 'refusal', id: 2, code: 'method-not-found', message: 'no' })
    rig.host({ kind: 'reply', id: 1, value: 2 })
    rig.host({ kind: 'reply', id: 1, value: 3 })
    expect([panel.told(), header.told()]).toEqual([[{ kind: 'reply', id: 7, value: 2 }], [{ kind: 'refusal', id: 7, code: 'method-not-found', message: 'no' }]])
  })

  it('reach the frames of that run alone', () => {
    const { frame, host } = standing()
    host({ kind: 'event', name: 'tick', payload: 1 }, 's1/run-2')
    host({ kind: 'event', name: 'tick', payload: 2 })
    expect(frame.told()).toEqual([{ kind: 'event', name: 'tick', payload: 2 }])
  })

  it('are refused over their caps', () => {
    const { frame, posted } = standing()
    frame.say({ kind: 'call', id: 1, method: 'm', payload: 'x'.repeat(MAX_PLUGIN_PAYLOAD_BYTES) })
    expect(frame.told()).toMatchObject([{ kind: 'refusal', id: 1, code: 'payload-too-large' }])
    for (let id = 2; id < MAX_WAITING_CALLS + 3; id += 1) frame.say({ kind: 'call', id, method: 'm', payload: null })
    expect([posted().length, frame.told()]).toMatchObject([MAX_WAITING_CALLS, [{ kind: 'refusal', id: MAX_WAITING_CALLS + 2, code: 'too-many-calls' }]])
  })
})

describe('what does not belong', () => {
  it.each([
    ['no object', 'ready'],
    ['nothing', null],
    ['a kind of another protocol', { kind: 'snapshot', state: {} }],
    ['a call without a number', { kind: 'call', id: 'a', method: 'm', payload: null }],
    ['a call without a method', { kind: 'call', id: 1, payload: null }],
    ['a call with a method that is a book', { kind: 'call', id: 1, method: 'm'.repeat(201), payload: null }],
    ['a payload that no JSON holds', { kind: 'call', id: 1, method: 'm', payload: 1n }],
    ['a payload that is not there', { kind: 'call', id: 1, method: 'm' }],
    ['a height that is none', { kind: 'height', px: Number.NaN }],
  ])('is not heard: %s', (_what, data) => {
    const { frame, posted } = standing()
    frame.say(data)
    expect([posted(), frame.told(), frame.drawn.height.value]).toEqual([[], [], 0])
  })

  it('is not heard from another window, or from a frame that is gone', () => {
    const { frame, desk, posted } = standing()
    const call = { kind: 'call', id: 1, method: 'm', payload: null }
    desk.hear({ source: window, data: call }, false)
    desk.hear({ source: null, data: call }, false)
    frame.drawn.leave()
    frame.say(call)
    expect(posted()).toEqual([])
  })

  it('a frame does not speak as the host', () => {
    const { frame, posted } = standing()
    frame.say({ type: 'plugin', frameId: 's1/run-1', part: { kind: 'event', name: 'tick', payload: 1 } })
    expect([frame.told(), posted()]).toEqual([[], []])
  })

  it('is throttled, and stopped when it floods', () => {
    const { frame, posted, wait } = standing()
    wait(1_000)
    for (let index = 0; index < MAX_MESSAGES_A_SECOND; index += 1) frame.say({ kind: 'height', px: index })
    frame.say({ kind: 'height', px: 5_000 })
    frame.say({ kind: 'call', id: 1, method: 'm', payload: null })
    expect([frame.drawn.height.value, frame.told()]).toMatchObject([MAX_MESSAGES_A_SECOND - 1, [{ code: 'too-many-calls' }]])
    wait(1_000)
    frame.say({ kind: 'height', px: 6 })
    expect(frame.drawn.height.value).toBe(6)
    for (let index = 0; index < FLOOD_MESSAGES_A_SECOND; index += 1) frame.say({ kind: 'nonsense' })
    expect(posted()).toEqual([{ type: 'plugin-frame', frameId: 's1/run-1', state: 'failed', message: 'It was stopped: it sent more than 1000 messages within a second.' }])
  })
})
