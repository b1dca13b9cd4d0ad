import { describe, expect, it } from 'vitest'
import { Emitter } from '../../../extension/base/emitter.ts'
import { ClientCallError } from '../../../extension/features/dynamic-plugins/error.ts'
import type { ClientCall, ClientEvent, ClientFrame, DynamicPlugins, FrameReport } from '../../../extension/features/dynamic-plugins/service.ts'
import { FRAME_START_MS } from '../../../extension/host/plugin-room.ts'
import { MAX_PLUGIN_PAYLOAD_BYTES, type PluginPart } from '../../../extension/protocol/plugin-frame.ts'
import { chatRig } from './chat-rig.ts'
import { fakeChannel } from './fake-channel.ts'

const frame = (more: Partial<ClientFrame> = {}): ClientFrame => ({ sessionId: 's1', pluginId: 'note-1', packageId: 'pkg-1', runId: 'run-1', name: 'Note', slots: ['panel'], code: 'return 1', ...more })

/** The chat with a session on screen, and plugins that a test plays. */
async function setUp(frames: readonly ClientFrame[] = [frame()], answer: (call: ClientCall) => unknown = () => null) {
  const onError = (error: unknown) => {
    throw error
  }
  const changed = new Emitter<string>(onError)
  const events = new Emitter<ClientEvent>(onError)
  const did: unknown[] = []
  let drawn = frames
  const plugins: Partial<DynamicPlugins> = {
    frames: (sessionId) => drawn.filter((each) => each.sessionId === sessionId),
    onFramesChanged: changed.listen,
    onClientEvent: events.listen,
    // What a handler gives is whatever a test wants to see refused.
    callFromClient: async (call) => (did.push(['call', call]), (await answer(call)) as never),
    frameReported: (report: FrameReport) => void did.push(['report', report]),
  }
  const rig = await chatRig({ plugins })
  await rig.send('begin')
  await rig.settle()
  const part = async (message: Parameters<typeof rig.say>[0]): Promise<PluginPart | undefined> => {
    rig.replies.splice(0)
    await rig.say(message)
    const reply = rig.replies.find(({ type }) => type === 'plugin')
    return reply?.type === 'plugin' ? reply.part : undefined
  }
  return {
    rig,
    did: () => did.splice(0),
    shown: () => rig.state().plugins,
    part,
    code: async (frameId = 's1/run-1') => await part({ type: 'plugin-code', frameId }),
    report: async (state: 'ready' | 'failed', message?: string, frameId = 's1/run-1') => await rig.say({ type: 'plugin-frame', frameId, state, ...(message !== undefined && { message }) }),
    async framesAre(next: readonly ClientFrame[]) {
      drawn = next
      changed.emit('s1')
      await rig.settle()
    },
    async emit(event: Partial<ClientEvent>) {
      rig.replies.splice(0)
      events.emit({ sessionId: 's1', runId: 'run-1', name: 'tick', payload: 1, ...event })
      await rig.settle()
      return rig.replies.filter(({ type }) => type === 'plugin')
    },
  }
}

describe('the room of plugins', () => {
  it('shows nothing where none runs', async () => {
    const rig = await chatRig()
    expect(rig.state().plugins).toEqual([])
    await rig.controller.dispose()
  })

  it('shows those of the session on screen, without their code', async () => {
    const { shown, framesAre, rig } = await setUp([frame(), frame({ sessionId: 's9', runId: 'run-1' })])
    expect(shown()).toEqual([{ id: 's1/run-1', pluginId: 'note-1', name: 'Note', slots: ['panel'], problem: null }])
    await framesAre([frame({ runId: 'run-2', packageId: 'pkg-2', name: 'Note 2' })])
    expect(shown().map(({ id, name }) => [id, name])).toEqual([['s1/run-2', 'Note 2']])
    await framesAre([])
    expect(shown()).toEqual([])
    await framesAre([frame()])
    await rig.say({ type: 'session-new' })
    expect(shown()).toEqual([])
  })

  it('gives the code of what runs, and none of what does not', async () => {
    const { code } = await setUp()
    expect([await code(), await code('s1/run-9'), await code('s9/run-1'), await code('nonsense')]).toEqual(['return 1', null, null, null].map((text) => ({ kind: 'code', code: text })))
  })

  it('reports once that a frame is drawn, and then that it is not', async () => {
    const { code, report, did, shown } = await setUp()
    await report('ready')
    expect(did()).toEqual([])
    await code()
    await report('ready')
    await report('ready')
    await report('failed', 'words is not defined')
    await report('failed', 'again')
    await report('ready')
    expect(did()).toEqual([
      ['report', { sessionId: 's1', runId: 'run-1', state: 'ready' }],
      ['report', { sessionId: 's1', runId: 'run-1', state: 'failed', message: 'words is not defined' }],
    ])
    expect([shown()[0]?.problem, await code()]).toEqual(['words is not defined', { kind: 'code', code: null }])
  })

  it('does not wait for a frame for ever, and starts it in no page again', async () => {
    const { code, rig, did, shown } = await setUp()
    await code()
    rig.clock.advance(FRAME_START_MS - 1_000)
    await rig.settle()
    expect(shown()[0]?.problem).toBe(null)
    rig.clock.advance(1_000)
    await rig.settle()
    const message = 'It did not say within 15 s that it is drawn.'
    expect([did(), shown()[0]?.problem, await code()]).toEqual([[['report', { sessionId: 's1', runId: 'run-1', state: 'failed', message }]], message, { kind: 'code', code: null }])
  })

  it('lets a frame that stands stand, and forgets one that is stopped before', async () => {
    const { code, report, rig, did, framesAre } = await setUp()
    await code()
    await report('ready')
    did()
    rig.clock.advance(FRAME_START_MS)
    await framesAre([frame({ runId: 'run-2' })])
    await code('s1/run-2')
    await framesAre([])
    rig.clock.advance(FRAME_START_MS)
    await report('ready', undefined, 's1/run-2')
    expect(did()).toEqual([])
  })

  it('says of one that never came to run why, until it runs anew or the person has seen it', async () => {
    const { rig, code, report, framesAre, shown } = await setUp()
    const failed = { id: 's1/run-1', pluginId: 'note-1', name: 'Note', slots: ['panel'], problem: 'no ink' }
    await code()
    await report('failed', 'no ink')
    expect(shown()).toEqual([failed])
    await framesAre([])
    expect(shown()).toEqual([failed])
    await framesAre([frame({ runId: 'run-2' })])
    expect(shown().map(({ id, problem }) => [id, problem])).toEqual([['s1/run-2', null]])
    await code('s1/run-2')
    await report('failed', 'no paper', 's1/run-2')
    await framesAre([])
    expect(shown().map(({ problem }) => problem)).toEqual(['no paper'])
    await rig.say({ type: 'plugin-stop', pluginId: 'note-1' })
    expect([shown(), rig.calls.filter((call) => Array.isArray(call) && call[0] === 'command')]).toEqual([[], []])
  })

  it('says of a new version that it could not be drawn, and leaves the old one', async () => {
    const { rig, code, report, framesAre, shown } = await setUp()
    await code()
    await report('ready')
    await framesAre([frame(), frame({ runId: 'run-2', packageId: 'pkg-2' })])
    await code('s1/run-2')
    await report('failed', 'no ink', 's1/run-2')
    await framesAre([frame()])
    expect([shown().map(({ id, problem }) => [id, problem]), rig.state().notices.map(({ text }) => text)]).toEqual([[['s1/run-1', null]], ['The new version of Note could not be drawn, so the one before goes on. no ink']])
  })

  it('leaves nothing of one that stops after it was drawn', async () => {
    const { code, report, framesAre, shown } = await setUp()
    await code()
    await report('ready')
    await report('failed', 'no more ink')
    expect(shown().map(({ problem }) => problem)).toEqual(['no more ink'])
    await framesAre([])
    expect(shown()).toEqual([])
  })

  it('shows again, at the word of the person, what failed after it was drawn, and nothing else', async () => {
    const { rig, code, report, shown, did } = await setUp()
    const drawAgain = async (frameId = 's1/run-1') => await rig.say({ type: 'plugin-draw', frameId })
    await code()
    await drawAgain('s1/run-9')
    await report('ready')
    await report('failed', 'It did not answer.')
    expect([shown(), await code()]).toMatchObject([[{ problem: 'It did not answer.', canDrawAgain: true }], { code: null }])
    await drawAgain()
    expect([shown()[0], await code()]).toEqual([{ id: 's1/run-1', pluginId: 'note-1', name: 'Note', slots: ['panel'], problem: null }, { kind: 'code', code: 'return 1' }])
    did()
    await report('failed', 'Again.')
    expect([did(), shown()]).toMatchObject([[['report', { state: 'failed', message: 'Again.' }]], [{ problem: 'Again.', canDrawAgain: true }]])
  })

  it('stops one at the word of the person, as its command does', async () => {
    const { rig } = await setUp()
    await rig.say({ type: 'plugin-stop', pluginId: 'note-1' })
    expect(rig.calls).toContainEqual(['command', 's1', '/plugins stop note-1'])
  })
})

describe('calls of a frame', () => {
  const call = { type: 'plugin-call', frameId: 's1/run-1', id: 4, method: 'count', payload: { text: 'a b' } } as const

  it('reach the host half and bring its answer', async () => {
    const { part, did } = await setUp(undefined, () => ({ words: 2 }))
    expect([await part(call), did()]).toEqual([{ kind: 'reply', id: 4, value: { words: 2 } }, [['call', { sessionId: 's1', runId: 'run-1', method: 'count', payload: { text: 'a b' } }]]])
  })

  it.each(['plugin-not-running', 'stale-run', 'method-not-found', 'handler-error'] as const)('are refused with %s as the service says', async (code) => {
    const { part } = await setUp(undefined, () => Promise.reject(new ClientCallError(code, 'Why.')))
    expect(await part(call)).toEqual({ kind: 'refusal', id: 4, code, message: 'Why.' })
  })

  it('are refused where a handler throws what it likes', async () => {
    const { part } = await setUp(undefined, () => Promise.reject(new Error('broke')))
    expect(await part(call)).toEqual({ kind: 'refusal', id: 4, code: 'handler-error', message: 'broke' })
  })

  it('are refused over their caps, there and back', async () => {
    const big = 'x'.repeat(MAX_PLUGIN_PAYLOAD_BYTES)
    const { part, did } = await setUp(undefined, () => big)
    expect([await part({ ...call, payload: big }), did()]).toMatchObject([{ kind: 'refusal', id: 4, code: 'payload-too-large' }, []])
    expect(await part(call)).toMatchObject({ kind: 'refusal', id: 4, code: 'payload-too-large', message: expect.stringContaining('The answer of count has 262146 bytes') as string })
  })

  it('are refused where their payload is no JSON', async () => {
    const { part, did } = await setUp()
    // As a page that is not ours could send it.
    expect([await part({ ...call, payload: { a: undefined } as never }), did()]).toMatchObject([{ kind: 'refusal', id: 4, code: 'not-json' }, []])
  })
})

describe('events of a host half', () => {
  it('reach the pages that draw it, until they are closed', async () => {
    const { emit, code, rig } = await setUp()
    expect(await emit({})).toEqual([])
    await code()
    const other = fakeChannel()
    const detach = rig.controller.attach(other.channel)
    other.say({ type: 'plugin-code', frameId: 's1/run-1' })
    await rig.settle()
    other.take()
    const event = { type: 'plugin', frameId: 's1/run-1', part: { kind: 'event', name: 'tick', payload: 1 } }
    expect([await emit({}), other.take().filter(({ type }) => type === 'plugin')]).toEqual([[event], [event]])
    detach()
    expect([(await emit({})).length, other.take()]).toEqual([1, []])
    expect([await emit({ runId: 'run-2' }), await emit({ sessionId: 's9' })]).toEqual([[], []])
  })

  it('that are too large are left out, and the log says so', async () => {
    const { emit, code, rig } = await setUp()
    await code()
    expect(await emit({ payload: 'x'.repeat(MAX_PLUGIN_PAYLOAD_BYTES) })).toEqual([])
    expect(rig.logger.lines.some(({ message }) => message.startsWith('An event of a plugin is too large'))).toBe(true)
  })
})
