import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { ModelRequest } from '../../../extension/core/model/contract.ts'
import { chatPlugin } from '../../../extension/host/chat-plugin.ts'
import type { ChatController } from '../../../extension/host/chat-controller.ts'
import type { ChatCapabilities } from '../../../extension/host/chat-services.ts'
import { PROTOCOL_VERSION } from '../../../extension/protocol/messages.ts'
import type { ViewState } from '../../../extension/protocol/view-state.ts'
import { createFakeAttention } from '../../support/fake-attention.ts'
import { createFakeEditor } from '../../support/fake-editor.ts'
import { createFakeLogs, createFakeMarks, createFakeTerminalViews, createFakeTree } from '../../support/fake-job-views.ts'
import { createFakePlanSurface } from '../../support/fake-plan-surface.ts'
import { createFakeReviewSurface } from '../../support/fake-review-surface.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { memoryMemento } from '../../support/memory-memento.ts'
import { memorySecrets } from '../../support/memory-secrets.ts'
import { realClock } from '../../support/real-clock.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'
import { fakeChannel } from '../../unit/host/fake-channel.ts'

/* Chapters 6, 12.8 and 12.11 from the person's side: the chat over the composed application, with agents that really run. */

let whole: WholeApplication | undefined
afterEach(async () => {
  await whole?.dispose()
  whole = undefined
})

/** Answers by the last `@name` that was said to an agent, each once. */
type Minds = Readonly<Record<string, readonly ScriptedAnswer[]>>

async function start(minds: Minds) {
  const served = new Map<string, number>()
  const base = createScriptedAdapter()
  const stream = (request: ModelRequest) => {
    const name = [...JSON.stringify(request.messages.filter(({ role }) => role === 'user')).matchAll(/@(\w+)/g)].at(-1)?.[1] ?? ''
    const count = served.get(name) ?? 0
    served.set(name, count + 1)
    return createScriptedAdapter([minds[name]?.[count] ?? sayText('I see.')]).stream(request)
  }
  const application = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'permissions.defaultPreset': 'danger-full-access' } })
  whole = application
  application.ctx.models.register({ ...base, stream })
  const [editor, agentTree] = [createFakeEditor(), createFakeTree()]
  const capabilities: ChatCapabilities = {
    attention: createFakeAttention(), blobs: createMemoryBlobStore(), clock: realClock, editor, agentTree, jobTree: createFakeTree(), mcpTree: createFakeTree(), logViews: createFakeLogs(), l10n: { t: fillIn },
    pages: { open() {} }, fileMarks: { set() {} },
    languageServers: { list: () => [], restart: async () => {}, onDidChange: () => () => {} },
    logger: application.logger, machine: createFakeMachine(), memento: memoryMemento(), planSurface: createFakePlanSurface(), problemMarks: createFakeMarks(), reviewSurface: createFakeReviewSurface(),
    secrets: memorySecrets(), settings: application.settings, terminalViews: createFakeTerminalViews(),
    workspace: { folders: () => [{ name: 'work', path: application.folder }], isTrusted: () => true, onDidChangeTrust: () => () => {}, onDidChangeFolders: () => () => {}, snapshot: async () => ({ openEditors: [], unsavedFiles: [] }) },
  }
  const chat = await new Promise<ChatController>((resolve, reject) => {
    application.ctx.plugin(chatPlugin({ capabilities, onReady: resolve })).ready.catch(reject)
  })
  const page = fakeChannel()
  chat.attach(page.channel)
  let sends = 0
  /** As a page that was just opened gets it. */
  const state = (): ViewState => {
    page.take()
    page.say({ type: 'need-snapshot' })
    return page.take().flatMap((message) => (message.type === 'snapshot' ? [message.state] : []))[0]!
  }
  page.say({ type: 'ready', version: PROTOCOL_VERSION })
  const send = (text: string, target: 'next-turn' | 'next-step' = 'next-turn') => page.say({ type: 'send', id: `m${(sends += 1)}`, text, target })
  const idle = () => expect.poll(() => application.ctx.agents.list().every(({ status }) => status === 'idle') && application.ctx.subagents.governor.running === 0, { timeout: 5_000 }).toBe(true)
  return { ...application, chat, page, editor, agentTree, state, send, idle, childOf: (label: string) => application.ctx.subagents.known().find((one) => one.label === label)! }
}

const delegate = (name: string, more: object = {}) => callTools({ id: `c-${name}`, name: 'subagent', args: { description: `work of ${name}`, prompt: `@${name} go`, ...more } })

describe('12.11 the person and a child', () => {
  it('is read while it works, gets words for its next turn that show in its queue, and is interrupted', async () => {
    const rig = await start({ root: [delegate('one'), sayText('It works.')], one: [[{ type: 'hang' }]], more: [sayText('More is done.')] })
    rig.send('@root begin')
    await expect.poll(() => rig.ctx.subagents.known().map(({ status }) => status), { timeout: 5_000 }).toEqual(['running'])
    const { id } = rig.childOf('work of one')
    rig.page.say({ type: 'session-open', id })
    await expect.poll(() => rig.state().session?.child?.canWrite, { timeout: 5_000 }).toBe(true)
    expect(rig.state().session).toMatchObject({ id, title: 'work of one', status: 'running', child: { parentTitle: '@root begin' } })
    rig.send('@more please')
    await expect.poll(() => rig.state().queue.map(({ text, target }) => [text, target])).toEqual([['@more please', 'next-turn']])
    rig.page.say({ type: 'stop' })
    // Parked, until somebody speaks again.
    await expect.poll(() => rig.state().session?.status).toBe('idle')
    await rig.idle()
  })

  it('can be read after its end, which makes it live for nobody', async () => {
    const rig = await start({ root: [delegate('one', { run_in_background: false }), sayText('Over.')], one: [sayText('The answer is four.')] })
    rig.send('@root begin')
    await expect.poll(() => rig.ctx.subagents.known().map(({ status }) => status), { timeout: 5_000 }).toEqual(['completed'])
    await rig.idle()
    const { id } = rig.childOf('work of one')
    rig.page.say({ type: 'session-open', id })
    await expect.poll(() => rig.state().session?.id, { timeout: 5_000 }).toBe(id)
    expect(rig.state().session?.child).toMatchObject({ canWrite: false, canTakeOver: true })
    expect(rig.state().transcript.rows.flatMap((row) => (row.kind === 'text' ? [row.text] : []))).toEqual(['The answer is four.'])
    // Reading makes nobody live, and the session is put away with the next one.
    expect(rig.ctx.agents.live(id)).toBeUndefined()
    rig.page.say({ type: 'session-new' })
    await expect.poll(() => rig.ctx.sessions.live(id)).toBeUndefined()
  })

  it.each([
    ['that stays', {}],
    ['that gave its one answer', { run_in_background: false }],
  ])('becomes theirs, one %s', async (_which, more) => {
    const rig = await start({ root: [delegate('one', more), sayText('Over.')], one: [sayText('Four.')], mine: [sayText('Yours now.')] })
    rig.send('@root begin')
    await expect.poll(() => rig.ctx.subagents.known().map(({ endedAt }) => endedAt !== undefined), { timeout: 5_000 }).toEqual([true])
    await rig.idle()
    const { id } = rig.childOf('work of one')
    rig.editor.answers.push(true)
    await rig.chat.runAgent('take-over', `agent:${id}`)
    await expect.poll(() => rig.state().session).toMatchObject({ id, access: 'write' })
    expect(rig.state().session).not.toHaveProperty('child')
    rig.send('@mine go on')
    await expect.poll(() => rig.state().transcript.rows.flatMap((row) => (row.kind === 'text' ? [row.text] : [])), { timeout: 5_000 }).toEqual(['Four.', 'Yours now.'])
    expect(rig.state().sessions.some((item) => item.id === id)).toBe(true)
  })
})

describe('12.8 what a child changed', () => {
  it('is taken back to before it, while what the person typed since stays, and its parent is told', async () => {
    const rig = await start({
      root: [delegate('one', { run_in_background: false }), sayText('Over.')],
      one: [callTools({ id: 'r', name: 'read', args: { file_path: 'a.txt' } }), callTools({ id: 'e', name: 'edit', args: { file_path: 'a.txt', old_string: 'two', new_string: 'TWO' } }), callTools({ id: 'w', name: 'write', args: { file_path: 'b.txt', content: 'new\n' } }), sayText('Done.')],
    })
    const [a, b] = [join(rig.folder, 'a.txt'), join(rig.folder, 'b.txt')]
    await writeFile(a, 'one\ntwo\nthree\nfour\nfive\n')
    rig.send('@root begin')
    await expect.poll(() => rig.ctx.subagents.known().map(({ status }) => status)).toEqual(['completed'])
    await rig.idle()
    expect([await readFile(a, 'utf8'), await readFile(b, 'utf8')]).toEqual(['one\nTWO\nthree\nfour\nfive\n', 'new\n'])
    await writeFile(a, 'one\nTWO\nthree\nfour\nfive, by me\n')
    const child = rig.childOf('work of one')
    await rig.chat.runAgent('changes', `agent:${child.id}`)
    expect(rig.editor.shown.findLast(({ kind }) => kind === 'diffs')?.value).toMatchObject({ files: [{ path: a, before: { text: 'one\ntwo\nthree\nfour\nfive\n' } }, { path: b, before: null }] })
    rig.editor.answers.push(true)
    await rig.chat.runAgent('restore', `agent:${child.id}`)
    expect(await readFile(a, 'utf8')).toBe('one\ntwo\nthree\nfour\nfive, by me\n')
    await expect(readFile(b, 'utf8')).rejects.toThrow('ENOENT')
    const parent = rig.ctx.agents.live(child.parentId)!
    expect(JSON.stringify(parent.inbox.nextStep)).toContain('a.txt: what agents that you started changed is taken back')
  })
})
