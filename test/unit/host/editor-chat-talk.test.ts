import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { TalkRequest, TalkResult } from '../../../extension/capabilities/editor-chat.ts'
import type { AgentOptions } from '../../../extension/core/loop/points.ts'
import { editorCallsPlugin } from '../../../extension/features/editor-calls/plugin.ts'
import { editorChatPlugin, type EditorChat } from '../../../extension/host/editor-chat-plugin.ts'
import { NodeBlobStore } from '../../../extension/platform/node/blob-store.ts'
import { createFolderWorkspace } from '../../../extension/platform/node/workspace.ts'
import { createFakeEditorModels } from '../../support/fake-editor-models.ts'
import type { SettingValues } from '../../support/memory-settings.ts'
import { callTools, createScriptedAdapter, failWith, reasoningParts, sayText, textParts, type ScriptedAdapter, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

interface Rig {
  readonly application: WholeApplication
  readonly model: ScriptedAdapter
  readonly chat: EditorChat
  /** Sessions that are looked at in the editor's chat now. */
  readonly watched: string[]
  /** What the person was told in notifications. */
  readonly told: string[]
  send(text: string, more?: Partial<TalkRequest>): Promise<TalkResult & { readonly shown: readonly string[] }>
}

const rigs: Rig[] = []
afterEach(async () => {
  for (const { application } of rigs.splice(0)) await application.dispose()
})

async function setUp({ answers = [], settings = {}, hasModel = true }: { readonly answers?: readonly ScriptedAnswer[]; readonly settings?: SettingValues; readonly hasModel?: boolean } = {}): Promise<Rig> {
  const model = createScriptedAdapter(answers)
  const editorModels = createFakeEditorModels()
  editorModels.play([{ type: 'text', text: 'I am the one of the chat.' }])
  const application = await wholeApplication({ adapters: [model], settings, alter: (world) => ({ ...world, editorModels }) })
  const { ctx, folder, logger } = application
  const workspace = createFolderWorkspace(folder)
  const machine = { randomId: () => crypto.randomUUID(), homeFolder: folder }
  const options: AgentOptions | undefined = hasModel ? { provider: 'scripted', model: 'm1' } : undefined
  const watched: string[] = []
  const told: string[] = []
  const watchElsewhere = (id: string) => {
    watched.push(id)
    return () => void watched.splice(watched.indexOf(id), 1)
  }
  ctx.plugin(editorCallsPlugin({ machine, workspace }))
  const chat = await new Promise<EditorChat>((onReady) => {
    ctx.plugin(editorChatPlugin({ capabilities: { blobs: new NodeBlobStore({ root: join(folder, '..', 'sessions') }), l10n: { t: fillIn }, logger, machine, workspace }, chat: { defaultModel: async () => options, watchElsewhere, tell: (words) => void told.push(words) }, onReady }))
  })
  const rig: Rig = {
    application,
    model,
    chat,
    watched,
    told,
    async send(text, more = {}) {
      const shown: string[] = []
      const result = await chat.talk.answer({ text, references: [], sessionId: null, model: null, signal: new AbortController().signal, ...more }, {
        text: (markdown) => void shown.push(markdown),
        progress: (words) => void shown.push(`… ${words}`),
        open: (sessionId, label) => void shown.push(`[${label} ${sessionId}]`),
      })
      return { ...result, shown: shown.map((line) => (result.sessionId === null ? line : line.replaceAll(result.sessionId, 'ID'))) }
    },
  }
  rigs.push(rig)
  await writeFile(join(folder, 'a.txt'), 'alpha\n')
  return rig
}
/** Bounded generously: what loads with the first use takes its time on a busy machine. */
const until = <T>(look: () => T) => expect.poll(look, { timeout: 20_000 })
const file = ({ application }: Rig) => join(application.folder, 'a.txt')
const textIn = (rig: Rig, at = -1) => JSON.stringify(rig.model.requests.at(at)?.messages)

describe('a message to @bosun', () => {
  it('is answered by the loop, as it comes, with a button that opens the session', async () => {
    const rig = await setUp({ answers: [[...reasoningParts('hm'), ...textParts('Good ', 1), ...textParts('day.', 2), { type: 'finish', reason: { kind: 'stop' } }]] })
    const { shown, problem } = await rig.send('hello')
    expect([shown, problem, rig.watched]).toEqual([['… Thinking', 'Good ', '\n\n', 'day.', '[Open in Bosun ID]'], null, []])
    expect(textIn(rig)).toContain('hello')
  })
  it('goes on in the session of its thread, and begins another one without', async () => {
    const rig = await setUp({ answers: [sayText('one'), sayText('two'), sayText('three')] })
    const { sessionId } = await rig.send('zebra')
    const again = await rig.send('second', { sessionId })
    expect([again.sessionId, textIn(rig).includes('zebra')]).toEqual([sessionId, true])
    const other = await rig.send('third', { sessionId: null })
    expect([other.sessionId === sessionId, textIn(rig).includes('zebra')]).toEqual([false, false])
  })
  it('opens the session of its thread again when nothing of it is live', async () => {
    const rig = await setUp({ answers: [sayText('one'), sayText('two')] })
    const { sessionId } = await rig.send('zebra')
    await rig.application.ctx.agents.live(sessionId!)?.dispose()
    expect([(await rig.send('second', { sessionId })).sessionId, textIn(rig).includes('zebra')]).toEqual([sessionId, true])
  })
  it('begins a new session where the one of its thread is gone', async () => {
    const rig = await setUp({ answers: [sayText('one')] })
    const { sessionId, problem } = await rig.send('first', { sessionId: '0197e9a0-0000-7000-8000-000000000000' })
    expect([sessionId === '0197e9a0-0000-7000-8000-000000000000', problem]).toEqual([false, null])
  })
  it('shows calls as lines, says which failed, and how many files wait', async () => {
    const rig = await setUp({ settings: { 'permissions.defaultPreset': 'danger-full-access' } })
    rig.model.play(
      callTools({ id: 'c1', name: 'read', args: { file_path: file(rig) } }),
      callTools({ id: 'c2', name: 'edit', args: { file_path: file(rig), old_string: 'alpha', new_string: 'beta' } }),
      callTools({ id: 'c3', name: 'read', args: { file_path: `${file(rig)}.none` } }),
      sayText('Done.'),
    )
    const { shown } = await rig.send('change it')
    expect(await readFile(file(rig), 'utf8')).toBe('beta\n')
    expect(shown).toEqual([
      `… Read ${file(rig)}`, `… Edit ${file(rig)}`, `… Read ${file(rig)}.none`, `… Read ${file(rig)}.none: failed`, 'Done.',
      '\n\n1 changed file waits for you to keep or undo it, in Bosun.\n', '[Open in Bosun ID]',
    ])
  })
  it('says how many files wait only after what changed one, and anew after what changed another', async () => {
    const rig = await setUp({ settings: { 'permissions.defaultPreset': 'danger-full-access' } })
    const write = (id: string, name: string) => callTools({ id, name: 'write', args: { file_path: join(rig.application.folder, name), content: 'new\n' } })
    rig.model.play(write('c1', 'one.txt'), sayText('Done.'), sayText('Nothing to do.'), callTools({ id: 'c2', name: 'glob', args: { pattern: '*.txt' } }), sayText('Looked.'), write('c3', 'two.txt'), sayText('Done.'))
    const waits = ({ shown }: { readonly shown: readonly string[] }) => shown.filter((line) => /changed files? waits?/.test(line)).map((line) => line.trim())
    const first = await rig.send('make one')
    const told = [waits(first)]
    for (const text of ['and?', 'look', 'make two', '/cost']) told.push(waits(await rig.send(text, { sessionId: first.sessionId })))
    expect(told).toEqual([['1 changed file waits for you to keep or undo it, in Bosun.'], [], [], ['2 changed files wait for you to keep or undo them, in Bosun.'], []])
  })
  it('takes along what it points at', async () => {
    const rig = await setUp({ answers: [sayText('ok')] })
    await rig.send('see #file now', { references: [{ kind: 'file', path: file(rig), lines: null, range: [4, 9] }] })
    expect(textIn(rig)).toContain('see @a.txt now')
  })
  it('says what waits for the person, and goes on with their answer', async () => {
    const rig = await setUp({ answers: [callTools({ id: 'c1', name: 'bash', args: { command: 'node -e "1"', description: 'Try' } }), sayText('Then not.')] })
    const { approvals } = rig.application.ctx
    approvals.attach()
    const sent = rig.send('run it')
    await until(() => approvals.pending().length).toBe(1)
    approvals.answer(approvals.pending()[0]!.id, { outcome: 'rejected' })
    const { shown } = await sent
    expect(shown).toEqual(['… node -e "1"', '… Bosun waits for you to allow: Run node -e "1". Answer in its notification or its view.', '… node -e "1": failed', 'Then not.', '[Open in Bosun ID]'])
  })
  it('says what Bosun asks', async () => {
    const question = { id: 'q', question: 'Which one?', options: [{ label: 'A' }, { label: 'B' }] }
    const rig = await setUp({ answers: [callTools({ id: 'c1', name: 'ask_user_question', args: { questions: [question] } }), sayText('A then.')] })
    const { questions } = rig.application.ctx
    questions.attach()
    const sent = rig.send('ask me')
    await until(() => questions.pending().length).toBe(1)
    rig.application.ctx.agents.list()[0]!.cancel({ kind: 'user' })
    expect((await sent).shown).toEqual(['… Ask: Which one?', '… Bosun asks you: Which one? Answer in its notification or its view.', '… Ask: Which one?: failed', '[Open in Bosun ID]'])
  })
  it('runs a command that is typed', async () => {
    const rig = await setUp({ answers: [sayText('one')] })
    const { sessionId } = await rig.send('first')
    const { shown, problem } = await rig.send('/cost', { sessionId })
    expect([problem, shown[0]]).toEqual([null, expect.stringContaining('tokens')])
    expect((await rig.send('/no-such-command', { sessionId })).problem).toMatch(/no-such-command/)
  })
})

describe('the model', () => {
  it('is the one of the chat where the setting says so', async () => {
    const rig = await setUp({ settings: { 'editorChat.model': 'chat' }, answers: [] })
    expect((await rig.send('who are you', { model: 'acme/one' })).shown).toEqual(['I am the one of the chat.', '[Open in Bosun ID]'])
  })
  it('is Bosun’s own else', async () => {
    const rig = await setUp({ answers: [sayText('mine')] })
    expect((await rig.send('who are you', { model: 'acme/one' })).shown).toEqual(['mine', '[Open in Bosun ID]'])
  })
  it('is asked for where there is none', async () => expect(await (await setUp({ hasModel: false })).send('hi')).toEqual({ sessionId: null, problem: 'No model is set up. Open Bosun and choose one, or set an API key, then send again.', shown: [] }))
  it('that fails says why', async () => {
    const rig = await setUp({ answers: [failWith({ code: 'AUTH', message: 'The key is wrong.' })] })
    expect((await rig.send('hi')).problem).toBe('The key is wrong.')
  })
})

describe('a stop in the editor’s chat', () => {
  it('stops the turn', async () => {
    const rig = await setUp({ answers: [[...textParts('half'), { type: 'hang' }]] })
    const stop = new AbortController()
    const sent = rig.send('go', { signal: stop.signal })
    await until(() => rig.model.requests.length).toBe(1)
    stop.abort()
    const { sessionId, problem } = await sent
    const agent = rig.application.ctx.agents.live(sessionId!)!
    await agent.whenIdle()
    expect([problem, agent.session.milestones().findLast(({ type }) => type === 'turn/end')?.data]).toEqual([null, { turn: 1, reason: { kind: 'aborted', reason: { kind: 'user' } } }])
  })
  it('takes a message back that waits behind another turn, which goes on', async () => {
    const held = Promise.withResolvers<void>()
    const rig = await setUp({ answers: [[{ type: 'wait', until: held.promise }, ...sayText('first is done')]] })
    const first = rig.send('first')
    await until(() => rig.model.requests.length).toBe(1)
    const { id } = rig.application.ctx.agents.list()[0]!
    const stop = new AbortController()
    const second = rig.send('second', { sessionId: id, signal: stop.signal })
    await until(() => rig.application.ctx.agents.live(id)!.inbox.nextTurn.length).toBe(1)
    stop.abort()
    expect((await second).shown).toEqual(['[Open in Bosun ID]'])
    held.resolve()
    expect((await first).shown).toContain('first is done')
    expect(rig.model.requests).toHaveLength(1)
  })
  it('stops a command, and no turn that is not its own', async () => {
    const held = Promise.withResolvers<void>()
    const rig = await setUp({ answers: [[{ type: 'wait', until: held.promise }, ...textParts('first is done'), { type: 'finish', reason: { kind: 'stop' } }]] })
    let begun = false
    rig.application.ctx.commands.register({
      name: 'slow',
      description: 'Wait.',
      needsSession: true,
      run: async ({ signal }) => {
        begun = true
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
        return { text: 'stopped' }
      },
    })
    const first = rig.send('first')
    await until(() => rig.model.requests.length).toBe(1)
    const { id } = rig.application.ctx.agents.list()[0]!
    const stop = new AbortController()
    const second = rig.send('/slow', { sessionId: id, signal: stop.signal })
    await until(() => begun).toBe(true)
    stop.abort()
    await second
    held.resolve()
    expect((await first).shown).toContain('first is done')
  })
  it.each([
    ['waits for a turn of its own', 'next-turn', 'nextTurn'],
    ['waits for the next step', 'next-step', 'nextStep'],
  ] as const)('takes back what a command asked for that %s, and says so; the turn before it goes on', async (_, target, list) => {
    const held = Promise.withResolvers<void>()
    const rig = await setUp({ answers: [[{ type: 'wait', until: held.promise }, ...sayText('first is done')], sayText('never')] })
    rig.application.ctx.commands.register({ name: 'ask', description: 'Ask.', input: { hint: 'what' }, run: ({ args, send }) => (send([{ type: 'text', text: args }], target), { text: 'Asked.' }) })
    const first = rig.send('first')
    await until(() => rig.model.requests.length).toBe(1)
    const { id, inbox } = rig.application.ctx.agents.list()[0]!
    const agent = rig.application.ctx.agents.live(id)!
    const stop = new AbortController()
    const second = rig.send('/ask zebra', { sessionId: id, signal: stop.signal })
    await until(() => agent.inbox[list].length).toBe(1)
    stop.abort()
    expect((await second).shown).toEqual(['Asked.', '[Open in Bosun ID]'])
    expect([agent.inbox, rig.told]).toEqual([inbox, ['/ask was stopped: what it had asked for is taken back before it began.']])
    held.resolve()
    expect((await first).shown).toContain('first is done')
    await agent.whenIdle()
    expect([rig.model.requests.length, JSON.stringify(agent.session.messages()).includes('zebra')]).toEqual([1, false])
  })
  it('lets a command queue nothing more', async () => {
    const rig = await setUp({ answers: [sayText('first is done'), sayText('never')] })
    const { sessionId } = await rig.send('first')
    const agent = rig.application.ctx.agents.live(sessionId!)!
    const late = Promise.withResolvers<unknown>()
    const going = Promise.withResolvers<void>()
    rig.application.ctx.commands.register({
      name: 'late',
      description: 'Ask late.',
      async run({ send }) {
        await going.promise
        try {
          send([{ type: 'text', text: 'zebra' }], 'next-turn')
          late.resolve('sent')
        } catch (error) {
          late.resolve(error)
        }
        return {}
      },
    })
    const stop = new AbortController()
    const second = rig.send('/late', { sessionId, signal: stop.signal })
    await until(() => agent.session.milestones().some(({ type }) => type === 'command/run')).toBe(true)
    stop.abort()
    await second
    going.resolve()
    expect(await late.promise).toMatchObject({ name: 'AbortError' })
    expect([agent.inbox, rig.told]).toEqual([{ nextTurn: [], nextStep: [] }, []])
  })
  it.each([false, true])('follows the turn that a command’s words joined to its end, and leaves it alone (stopped: %s)', async (isStopped) => {
    const [held, later] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const rig = await setUp()
    rig.model.play([{ type: 'wait', until: held.promise }, ...callTools({ id: 'c1', name: 'read', args: { file_path: file(rig) } })], [{ type: 'wait', until: later.promise }, ...sayText('joined')])
    const first = rig.send('first')
    await until(() => rig.model.requests.length).toBe(1)
    const agent = rig.application.ctx.agents.list()[0]!
    const stop = new AbortController()
    const plan = rig.send('/plan zebra', { sessionId: agent.id, signal: stop.signal })
    await until(() => agent.inbox.nextStep.length).toBe(1)
    held.resolve()
    await until(() => rig.model.requests.length).toBe(2)
    if (isStopped) {
      stop.abort()
      await plan
    }
    later.resolve()
    await plan
    expect([(await first).shown.includes('joined'), textIn(rig).includes('zebra'), rig.told]).toEqual([true, true, []])
  })
  it('comes with the end of the application too', async () => {
    const rig = await setUp({ answers: [[{ type: 'hang' }]] })
    const sent = rig.send('go')
    await until(() => rig.model.requests.length).toBe(1)
    await rigs.pop()!.application.dispose()
    expect((await sent).sessionId).not.toBe(null)
  })
})

it('nothing to send, and too much, is said', async () => {
  const rig = await setUp()
  expect([(await rig.send(' ')).problem, (await rig.send('x'.repeat(1_000_001))).problem]).toEqual(['There is nothing to send yet.', expect.stringContaining('too long')])
  expect(rig.application.ctx.agents.list()).toEqual([])
})
