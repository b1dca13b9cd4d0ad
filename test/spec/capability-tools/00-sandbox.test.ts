import { mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { Emitter } from '../../../extension/base/emitter.ts'
import type { Json } from '../../../extension/base/json.ts'
import type { Capabilities } from '../../../extension/compose.ts'
import type { SandboxMode, SessionEvent } from '../../../extension/core/log/event.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../../extension/core/policy/approval.ts'
import type {} from '../../../extension/features/plan/service.ts'
import type {} from '../../../extension/features/terminals/service.ts'
import { terminalProblem } from '../../../extension/platform/node/direct-terminals.ts'
import { folderOutside } from '../../support/folder-outside.ts'
import { createFakeSandbox } from '../../support/fake-sandbox.ts'
import type { SettingValues } from '../../support/memory-settings.ts'
import { echoTool } from '../../support/pipeline-bench.ts'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import { createToolBench } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 0.7 and the line "Sandbox/trust" of chapter 19, through the application as it is shipped, over a sandbox by agreement. */

let application: WholeApplication | undefined
afterEach(async () => {
  await application?.dispose()
  application = undefined
})

type Call = readonly [name: string, args: Record<string, Json>]

async function start({ settings = {}, mode, sandbox = createFakeSandbox(), alter = (world) => world, answer = () => ({ outcome: 'allowed-once' }) }: {
  readonly settings?: SettingValues
  readonly mode?: SandboxMode
  readonly sandbox?: ReturnType<typeof createFakeSandbox> | null
  readonly alter?: (world: Capabilities) => Capabilities
  readonly answer?: ((request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>) | null
} = {}) {
  const whole = await wholeApplication({
    settings: { 'model.provider': 'scripted', 'model.name': 'm1', ...(mode && { 'permissions.defaultPreset': mode }), ...settings },
    alter: (world) => alter({ ...world, ...(sandbox && { sandbox }) }),
  })
  application = whole
  const adapter = createScriptedAdapter()
  whole.ctx.models.register(adapter)
  const agent = await whole.ctx.agents.create({ cwd: whole.folder })
  const asked: ApprovalRequest[] = []
  if (answer !== null) {
    whole.ctx.on('approval/request', (request) => {
      asked.push(request)
      return Promise.resolve(answer(request))
    })
  }
  let prompts = 0
  const turn = async (...[name, args]: Call): Promise<readonly SessionEvent[]> => {
    const before = agent.session.length
    prompts += 1
    adapter.play(callTools({ id: `c${prompts}`, name, args }), sayText('Done.'))
    agent.followup({ id: `p${prompts}`, role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await agent.whenIdle()
    return agent.session.events(before)
  }
  const call = async (...[name, args]: Call) => {
    const result = (await turn(name, args)).find((event) => event.type === 'tool/result')
    if (result?.type !== 'tool/result') throw new Error('there is no result')
    const [block] = result.data.message.content
    return { isError: block.isError, code: result.data.error?.code, meta: result.data.meta, policy: result.data.policy, text: block.content.map((part) => (part.type === 'text' ? part.text : '')).join('') }
  }
  const declared = (name: string) => Object.keys((whole.ctx.tools.schemas(agent.scope).find((one) => one.name === name)?.parameters['properties'] ?? {}) as object)
  return { ...whole, sandbox, adapter, agent, asked, turn, call, declared, isThere: (path: string) => readFile(join(whole.folder, path)).then(() => true, () => false) }
}

const bash = (command: string, more: Record<string, Json> = {}): Call => ['bash', { command, description: 'x', ...more }]
const write = (file_path: string, more: Record<string, Json> = {}): Call => ['write', { file_path, content: 'x', ...more }]
const wider = (mode: string = 'danger-full-access', justification: Json = 'It is needed') => ({ sandbox_permissions: mode, justification })
const denied = 'echo "sandbox says no" >&2; exit 1'

describe('modes', () => {
  it('workspace-write lets a command write in the session’s workspace and the folders for temporary files, nowhere else', async () => {
    const { call, folder } = await start()
    const { text } = await call(...bash('echo "$SANDBOX"; true > /dev/null; : $$'))
    expect(text.trim().split(':')).toEqual([folder, expect.stringMatching(/temp$/), '/tmp'])
  })
  it('read-only lets a command write nowhere', async () => {
    const { sandbox, call } = await start({ mode: 'read-only' })
    await call(...bash('ls'))
    expect(sandbox?.wraps.map(({ writable }) => writable)).toEqual([[]])
  })
  it('danger-full-access is not confined, and its result says so', async () => {
    const { sandbox, call } = await start({ mode: 'danger-full-access' })
    expect((await call(...bash('echo "[$SANDBOX]"'))).meta).toMatchObject({ output: '[]\n', sandbox: { mode: 'danger-full-access', denied: false } })
    expect(sandbox?.wraps).toEqual([])
  })
  it('the last sandbox/mode event of the session wins over the default', async () => {
    const { sandbox, call, agent } = await start()
    agent.session.append({ type: 'sandbox/mode', data: { mode: 'read-only' } })
    await call(...bash('ls'))
    expect(sandbox?.wraps[0]?.writable).toEqual([])
  })
  it('a second workspace folder is writable', async () => {
    const { sandbox, call, folder } = await start({
      alter: (world) => ({ ...world, workspace: { ...world.workspace, folders: () => [...world.workspace.folders(), { name: 'second', path: '/second-folder' }] } }),
    })
    await call(...bash('ls'))
    expect(sandbox?.wraps[0]?.writable).toEqual(expect.arrayContaining([folder, '/second-folder']))
  })
  it('folders that the person chose are writable beside the workspace, in no session that may only read', async () => {
    const { sandbox, call, ctx, agent } = await start({ settings: { 'sandbox.writableFolders': ['~/.npm', '/var/cache/tool'] }, alter: (world) => ({ ...world, machine: { ...world.machine, homeFolder: '/home/me' } }) })
    await call(...bash('ls'))
    ctx.permissions.select(agent.id, 'read-only')
    await call(...bash('ls'))
    expect(sandbox?.wraps.map(({ writable }) => writable.slice(3))).toEqual([['/home/me/.npm', '/var/cache/tool'], []])
  })
  it('secret-looking paths are closed to confined commands', async () => {
    const { sandbox, call, folder } = await start()
    await call(...bash('ls'))
    const limits = sandbox?.wraps[0]
    expect([limits?.searched[0]?.folder, limits?.secretNames, limits?.isSecret(`${folder}/.env`), limits?.isSecret(`${folder}/a.txt`)]).toEqual([folder, expect.arrayContaining(['.aws/credentials']), true, false])
  })
  it('a command that goes on in the background is confined too', async () => {
    const { sandbox, call } = await start()
    expect((await call(...bash('echo hi', { run_in_background: true }))).text).toContain('Started background job')
    expect(sandbox?.wraps.length).toBe(1)
  })
})

describe('the setting', () => {
  it('off confines nothing, looks for nothing and offers nothing', async () => {
    const { sandbox, call, declared } = await start({ settings: { 'sandbox.use': 'off' } })
    expect((await call(...bash('echo "[$SANDBOX]"'))).text).toBe('[]\n')
    expect([sandbox?.looks, declared('bash').includes('justification')]).toEqual([0, false])
  })
  it('auto runs a command as it is where no runner is', async () => {
    const { call, declared } = await start({ sandbox: createFakeSandbox({ problem: 'Nothing here.' }) })
    expect((await call(...bash('echo "[$SANDBOX]"'))).text).toBe('[]\n')
    expect(declared('bash')).not.toContain('justification')
  })
  it.each([
    ['where no runner is usable', createFakeSandbox({ problem: 'Nothing here.' })],
    ['where the host has no provider', null],
  ])('require fails closed with SANDBOX_UNAVAILABLE %s', async (_name, sandbox) => {
    const { call, isThere } = await start({ settings: { 'sandbox.use': 'require' }, sandbox })
    expect(await call(...bash('touch made'))).toMatchObject({ isError: true, code: 'SANDBOX_UNAVAILABLE' })
    expect(await isThere('made')).toBe(false)
  })
  it('the runner is looked for once, at the first turn, never at the start', async () => {
    const { sandbox, call } = await start()
    expect(sandbox?.looks).toBe(0)
    await call(...bash('ls'))
    await call(...bash('ls'))
    expect(sandbox?.looks).toBe(1)
  })
})

describe.skipIf(process.platform === 'win32' || terminalProblem(import.meta.url) !== null)('at a terminal', () => {
  const minimal = { 'agent.defaultPreset': 'minimal' }
  const command = (text: string): Call => ['bash', { command: text }]

  it('the shell that stays is confined, and starts anew when what the session may do changes', async () => {
    const { sandbox, call, ctx, agent, folder } = await start({ settings: minimal })
    expect((await call(...command('A=1; echo "$SANDBOX"'))).text).toContain(folder)
    expect((await call(...command('echo "[$A]"'))).text).toBe('[1]\n')
    ctx.permissions.select(agent.id, 'danger-full-access')
    expect((await call(...command('echo "[$A$SANDBOX]"'))).text).toBe('[]\n[what the session may do has changed, so this command ran in a fresh shell]')
    expect(sandbox?.wraps.length).toBe(1)
  })
  it('the shell that stays tells of a denial, and offers no fields', async () => {
    const { call, declared } = await start({ settings: minimal })
    expect((await call(...command('echo "sandbox says no"; false'))).text).toBe('sandbox says no\n[sandbox: denied in workspace-write mode]\n[exit code: 1]')
    expect(declared('bash')).toEqual(['command'])
    expect((await call('bash', { command: 'ls', ...wider() })).code).toBe('INVALID_ARGS')
  })
  it('nothing runs where it must be confined and cannot', async () => {
    const { call, isThere, ctx, agent } = await start({ settings: { ...minimal, 'sandbox.use': 'require' }, sandbox: createFakeSandbox({ problem: 'Nothing here.' }) })
    expect((await call(...command('touch made'))).code).toBe('SANDBOX_UNAVAILABLE')
    expect(await isThere('made')).toBe(false)
    await expect(ctx.terminals.open(agent, { type: 'bash', cwd: '/' })).rejects.toThrow('A terminal cannot be confined.')
  })
})

describe('the two arguments', () => {
  it('are gained by bash, write and edit, and by nothing else, once a confining provider is there', async () => {
    const { adapter, turn } = await start()
    await turn(...bash('ls'))
    const offering = adapter.requests[0]?.tools?.filter(({ parameters }) => JSON.stringify(parameters).includes('sandbox_permissions')).map(({ name }) => name)
    expect(offering?.toSorted()).toEqual(['bash', 'edit', 'write'])
  })
  it('are the same in each request of a session, so that its prefix stays', async () => {
    const { adapter, turn } = await start()
    await turn(...bash('ls'))
    await turn(...bash('ls'))
    expect(new Set(adapter.requests.map(({ tools }) => JSON.stringify(tools))).size).toBe(1)
  })
  it('cost few bytes of a declaration', async () => {
    const { turn, ctx, settings } = await start()
    await turn(...bash('ls'))
    const bytes = () => JSON.stringify(ctx.tools.schemas().find(({ name }) => name === 'write')).length
    const offered = bytes()
    await settings.set('sandbox.use', 'off', 'user')
    expect(offered - bytes()).toBeLessThanOrEqual(240)
  })
  it.each([
    ['without justification', { sandbox_permissions: 'danger-full-access' }, 'together'],
    ['without sandbox_permissions', { justification: 'x' }, 'together'],
    ['with a blank justification', wider('danger-full-access', ' '), 'blank'],
    ['with a justification that is no text', wider('danger-full-access', 5), 'justification'],
    ['with a mode that does not exist', wider('everything'), 'must be'],
    ['for read-only', wider('read-only'), 'must be'],
    ['for the mode the session has', wider('workspace-write'), 'not wider'],
  ])('escalation %s is refused without a question', async (_name, fields, words) => {
    for (const one of [bash('touch made', fields), write('made', fields)]) {
      const { call, asked, isThere } = await start()
      expect(await call(...one)).toMatchObject({ isError: true, code: 'INVALID_ARGS', text: expect.stringContaining(words) })
      expect([asked, await isThere('made')]).toEqual([[], false])
      await application?.dispose()
    }
  })
  it('not-wider request refused without prompt under full access', async () => {
    const { call, asked } = await start({ mode: 'danger-full-access' })
    expect((await call(...bash('ls', wider()))).code).toBe('INVALID_ARGS')
    expect(asked).toEqual([])
  })
  it('sent where they are not advertised, the call is refused without a question', async () => {
    const { call, asked, isThere } = await start({ sandbox: null })
    for (const one of [bash('touch made', wider()), write('made', wider())]) expect((await call(...one)).code).toBe('INVALID_ARGS')
    expect([asked, await isThere('made')]).toEqual([[], false])
  })
})

describe('a grant', () => {
  it('runs that one call in the wider mode and is not reused by the next call', async () => {
    const { sandbox, call, asked } = await start()
    const granted = await call(...bash('echo "[$SANDBOX]"', wider()))
    expect(granted.meta).toMatchObject({ output: '[]\n', sandbox: { mode: 'danger-full-access' } })
    expect([sandbox?.wraps.length, asked.length]).toEqual([0, 1])
    expect((await call(...bash('echo "[$SANDBOX]"'))).text).not.toBe('[]\n')
    expect(sandbox?.wraps.length).toBe(1)
  })
  it('from read-only to workspace-write confines the call to the workspace', async () => {
    const { sandbox, call, folder } = await start({ mode: 'read-only' })
    await call(...bash('touch made', wider('workspace-write')))
    expect(sandbox?.wraps[0]?.writable).toContain(folder)
  })
  it('lets write change one file in a session that may only read', async () => {
    const { call, asked, isThere } = await start({ mode: 'read-only' })
    expect((await call(...write('made', wider('workspace-write')))).isError).toBe(false)
    expect((await call(...write('other'))).code).toBe('FS_SANDBOX_DENIED')
    expect([asked.length, await isThere('made'), await isThere('other')]).toEqual([1, true, false])
  })
  it('is asked for with the effect first and the model’s own words marked as such', async () => {
    const { call, asked } = await start()
    await call(...bash('make install', wider('danger-full-access', 'It copies\nto `/usr`')))
    expect([asked[0]?.details?.effect, asked[0]?.details?.why, asked[0]?.details?.always]).toEqual([
      'Run `make install` outside the sandbox: may write anywhere',
      'The model says why: “It copies to `/usr`”',
      undefined,
    ])
  })
  it('never opens what a hard rule closes, and asks nobody about it', async () => {
    const { call, asked } = await start({ settings: { 'permissions.rules': [{ tool: 'bash', match: 'rm *', decision: 'deny' }] } })
    expect((await call(...bash('cat .env', wider()))).policy?.by).toBe('secret')
    expect((await call(...bash('rm -rf a', wider()))).policy?.by).toBe('rule')
    expect((await call(...write('.env', wider()))).policy?.by).toBe('secret')
    expect(asked).toEqual([])
  })
  it('is not to be had in plan mode', async () => {
    const { call, asked, ctx, agent, isThere } = await start()
    await ctx.commands.run(agent, '/plan on')
    expect((await call(...bash('touch made', wider()))).isError).toBe(true)
    expect([asked, await isThere('made')]).toEqual([[], false])
  })
})

describe('no grant: five errors, and nothing runs', () => {
  it.each<readonly [string, NonNullable<Parameters<typeof start>[0]>['answer'], string]>([
    ['no channel', null, 'ESCALATION_NO_CHANNEL'],
    ['rejected', () => ({ outcome: 'rejected' }), 'ESCALATION_REJECTED'],
    ['cancelled', () => ({ outcome: 'cancelled' }), 'ESCALATION_CANCELLED'],
  ])('reject/cancel runs nothing: %s', async (_name, answer, code) => {
    const { call, isThere } = await start({ answer: answer ?? null })
    expect((await call(...bash('touch made', wider()))).code).toBe(code)
    expect((await call(...write('made', wider()))).code).toBe(code)
    expect(await isThere('made')).toBe(false)
  })
  it('no approval service', async () => {
    const bench = createToolBench()
    let runs = 0
    await bench.mount({ name: 'one', inject: ['tools'], apply: (ctx) => void ctx.tools.register({ ...echoTool(), name: 'bash', execute: () => void (runs += 1) }) })
    bench.ctx.on('tools/pre-execute', async () => ({ kind: 'ask', details: { effect: 'x', why: 'y', escalatesTo: 'danger-full-access' } }))
    const result = await bench.run('bash', { word: 'x' })
    expect([result.isError && result.error.info?.code, runs]).toEqual(['ESCALATION_NO_APPROVALS', 0])
  })
  it('no agent', async () => {
    const { ctx, turn, isThere } = await start()
    await turn(...bash('ls'))
    const [name, args] = bash('touch made', wider())
    const result = await ctx.tools.execute({ callId: 'c', name, arguments: args, signal: new AbortController().signal })
    expect([result.isError && result.error.info?.code, await isThere('made')]).toEqual(['ESCALATION_NO_AGENT', false])
  })
})

describe('a denial', () => {
  it('names the mode in a line, then says that the very same command may be tried once more', async () => {
    const { call } = await start()
    const { text, isError, meta } = await call(...bash(denied))
    expect([isError, text]).toEqual([
      false,
      '[stderr]\nsandbox says no\n[sandbox: denied in workspace-write mode]\n[You may repeat the very same command once with sandbox_permissions "danger-full-access" and a justification; the person is asked.]\n[exit code: 1]',
    ])
    expect(meta).toMatchObject({ sandbox: { mode: 'workspace-write', denied: true } })
  })
  it('gives no hint where nobody may be asked', async () => {
    const { call, agent } = await start({ settings: { 'permissions.rules': [{ tool: 'bash', decision: 'allow' }] } })
    agent.session.append({ type: 'approval/policy', data: { policy: 'never' } })
    const { text } = await call(...bash(denied))
    expect(text).toContain('denied in workspace-write mode')
    expect(text).not.toContain('sandbox_permissions')
  })
  it.each([
    ['exit 0', 'echo "sandbox says no" >&2', false],
    ['a failure for another reason', 'echo "no such thing" >&2; exit 1', false],
    ['a signal', 'echo "sandbox says no" >&2; kill -9 $$', false],
    ['a failure with the sandbox’s words', denied, true],
  ])('is inferred from a failing end and the errors: %s', async (_name, command, isDenied) => {
    const { call } = await start()
    expect((await call(...bash(command))).meta).toMatchObject({ sandbox: { denied: isDenied } })
  })
  it('of a write in a session that may only read has its own code, the mode and the hint', async () => {
    const { call } = await start({ mode: 'read-only' })
    const { code, text } = await call(...write('made'))
    expect(code).toBe('FS_SANDBOX_DENIED')
    expect(text).toContain('[sandbox: denied in read-only mode]\n[You may repeat the very same call once with sandbox_permissions "workspace-write" and a justification; the person is asked.]')
  })
  it('of a command in a session that may only read has the mode and the hint', async () => {
    const { call } = await start({ mode: 'read-only' })
    expect((await call(...bash('touch made'))).text).toContain('[sandbox: denied in read-only mode]\n[You may repeat the very same command once with sandbox_permissions "workspace-write"')
  })
  it('a runner that fails is told apart from a command that fails', async () => {
    const { call } = await start()
    const { text } = await call(...bash('runner-fails'))
    expect(text).toContain('[sandbox: it could not be started, so the command did not run]')
  })
  it('a background job whose runner fails says so', async () => {
    const { call, ctx, agent } = await start()
    await call(...bash('runner-fails', { run_in_background: true }))
    await expect.poll(() => ctx.jobs.list(agent)[0]?.detail).toBe('the sandbox could not start it')
  })
})

describe('commands that the sandbox holds', () => {
  it('are still asked for by the same rules', async () => {
    const { call, asked } = await start()
    await call(...bash('touch made'))
    expect(asked.length).toBe(1)
  })
  it.each<readonly [string, SandboxMode, Call, number]>([
    ['one that changes files of the workspace', 'workspace-write', bash('touch made'), 0],
    ['one that throws work away', 'workspace-write', bash('git reset --hard'), 1],
    ['one that a rule wants to be asked for', 'workspace-write', bash('npm publish'), 1],
    ['a file tool', 'workspace-write', write('made'), 1],
    ['one that asks for more', 'workspace-write', bash('touch made', wider()), 1],
  ])('run without a question where the person chose so, but %s is asked for %#', async (_name, mode, one, questions) => {
    const { call, asked } = await start({ mode, settings: { 'sandbox.allowConfined': true, 'permissions.rules': [{ tool: 'bash', match: 'npm publish', decision: 'ask' }] } })
    await call(...one)
    expect(asked.length).toBe(questions)
  })
  it('are asked for where nothing confines them, whatever the person chose', async () => {
    const { call, asked } = await start({ settings: { 'sandbox.allowConfined': true }, sandbox: createFakeSandbox({ problem: 'Nothing here.' }) })
    await call(...bash('touch made'))
    expect(asked.length).toBe(1)
  })
  it('stay refused in a session that may only read and in plan mode', async () => {
    const { call, ctx, agent, isThere } = await start({ settings: { 'sandbox.allowConfined': true } })
    await ctx.commands.run(agent, '/plan on')
    expect((await call(...bash('touch made'))).isError).toBe(true)
    await ctx.commands.run(agent, '/plan off')
    ctx.permissions.select(agent.id, 'read-only')
    expect((await call(...bash('touch made'))).isError).toBe(true)
    expect(await isThere('made')).toBe(false)
  })
})

describe('the fence of write and edit', () => {
  let there = ''
  beforeAll(async () => {
    there = await folderOutside('fence')
  })
  afterAll(() => rm(there, { recursive: true, force: true }))

  it.each<readonly [string, (folder: string) => string]>([
    ['symlink and .. escape denied: ..', (folder) => join(relative(folder, there), 'made')],
    ['symlink and .. escape denied: a link', () => 'link/made'],
    ['new file below a symlinked parent outside the roots denied', () => 'link/new/deep/made'],
  ])('%s', async (_name, path) => {
    const { call, folder, asked } = await start({ answer: () => ({ outcome: 'rejected' }) })
    await symlink(there, join(folder, 'link'))
    const result = await call(...write(path(folder)))
    expect([result.isError, asked[0]?.details?.why, await readdir(there)]).toEqual([true, 'It is outside of the workspace.', []])
  })
  it('a second workspace folder is inside', async () => {
    const { call, asked, folder } = await start({
      alter: (world) => ({ ...world, workspace: { ...world.workspace, folders: () => [...world.workspace.folders(), { name: 'second', path: join(world.workspace.folders()[0]?.path ?? '', '..', 'second') }] } }),
    })
    await mkdir(join(folder, '..', 'second'), { recursive: true })
    expect((await call(...write('../second/made'))).isError).toBe(false)
    expect(asked[0]?.details?.why).toBe('No rule of yours allows changing this file.')
  })
})

describe('trust', () => {
  it('untrusted: shell absent, write refused, granting trust re-registers', async () => {
    let isTrusted = false
    const changes = new Emitter<void>((error) => {
      throw error
    })
    const { call, asked, isThere, ctx, agent } = await start({
      alter: (world) => ({ ...world, workspace: { ...world.workspace, isTrusted: () => isTrusted, onDidChangeTrust: (listener) => changes.listen(listener) } }),
    })
    const has = (name: string) => ctx.tools.get(name, agent.scope) !== undefined
    expect([has('bash'), has('write')]).toEqual([false, false])
    for (const one of [bash('touch made'), bash('touch made', wider()), write('made'), write('made', wider())]) expect((await call(...one)).isError).toBe(true)
    expect([asked, await isThere('made')]).toEqual([[], false])
    isTrusted = true
    changes.emit()
    expect([has('bash'), has('write'), (await call(...bash('touch made'))).isError, await isThere('made')]).toEqual([true, true, false, true])
  })
})
