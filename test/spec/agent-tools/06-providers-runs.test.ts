import { execFileSync } from 'node:child_process'
import { chmod, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { JsonObject } from '../../../extension/base/json.ts'
import { utf8Length } from '../../../extension/base/text.ts'
import type { Clock } from '../../../extension/capabilities/clock.ts'
import type { SandboxMode } from '../../../extension/core/log/event.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { settings as specs } from '../../../extension/core/settings/specs.ts'
import { claudeCode } from '../../../extension/features/subagents/clis/claude-code.ts'
import type { AgentCli } from '../../../extension/features/subagents/clis/cli.ts'
import { codex } from '../../../extension/features/subagents/clis/codex.ts'
import { createCliProvider, isInstalled } from '../../../extension/features/subagents/clis/provider.ts'
import { GRACE_MS, HANDSHAKE_MS, SILENCE_MS } from '../../../extension/features/subagents/clis/run-cli.ts'
import type { ChildOutcome, ChildRequest } from '../../../extension/features/subagents/service.ts'
import { createDirectRunner } from '../../../extension/platform/node/direct-runner.ts'
import { ownSeconds, programsWith } from '../../support/programs-with.ts'
import { realClock } from '../../support/real-clock.ts'

const both = [codex, claudeCode]
const fake = new URL('../../fixtures/agent-clis/fake.mjs', import.meta.url).pathname
let processes = createDirectRunner()
let folder = ''
let program = ''
beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'agent-clis-')))
  program = join(folder, 'program')
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${fake}' "$@"\n`)
  await chmod(program, 0o755)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  // Whatever a run left would be ended here: that it left nothing is looked at before.
  await processes.dispose()
  processes = createDirectRunner()
})
afterAll(async () => {
  await processes.dispose()
  await rm(folder, { recursive: true, force: true })
})

interface Options {
  readonly behaviour?: string
  readonly mode?: string
  readonly session?: SandboxMode
  readonly isTrusted?: boolean
  readonly path?: string | null
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  readonly isolation?: 'worktree'
  readonly clock?: Clock
  readonly prompt?: string
  readonly graceMs?: number
}

interface Heard {
  readonly args?: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly pid?: number
  readonly heard?: JsonObject
  readonly closed?: true
  readonly interrupted?: true
  readonly term?: true
  readonly grandchildren?: readonly number[]
}

let runs = 0
function run(cli: AgentCli, options: Options = {}) {
  const { behaviour = 'answers', mode, session = 'workspace-write', isTrusted = true, path = program, env = {}, signal = new AbortController().signal, isolation, clock = realClock, prompt = 'Do it.', graceMs = 300 } = options
  const record = join(folder, `record-${++runs}`)
  const [p, e, m] = cli === codex ? (['subagentsCodexPath', 'subagentsCodexEnv', 'subagentsCodexPermissionMode'] as const) : (['subagentsClaudeCodePath', 'subagentsClaudeCodeEnv', 'subagentsClaudeCodePermissionMode'] as const)
  const values: Readonly<Record<string, unknown>> = { [`${cli.settingsPrefix}enabled`]: true, [specs[p].key]: path, [specs[e].key]: { BEHAVIOUR: behaviour, RECORD: record, ...env }, ...(mode !== undefined && { [specs[m].key]: mode }) }
  const settings = { get: <T>({ key, fallback }: { readonly key: string; readonly fallback: T }) => (values[key] ?? fallback) as T }
  const lines: string[] = []
  const needs = { processes, clock, graceMs, workspace: { isTrusted: () => isTrusted }, homeFolder: folder, settings, permissions: { modeOf: () => session } }
  const request: ChildRequest = { parent: { id: 'parent' } as Agent, provider: cli.name, label: 'a task', prompt, purpose: { kind: 'subagent' }, signal, ...(isolation && { isolation }) }
  const started = createCliProvider(cli, needs).start!({ ...request, runId: 'r1', cwd: folder, onText: (line) => lines.push(line) })
  const recorded = async () => (await readFile(record, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Heard)
  return {
    lines,
    needs,
    started,
    recorded,
    heard: async () => (await recorded()).flatMap(({ heard }) => (heard === undefined ? [] : [heard])),
    first: async () => (await recorded())[0]!,
    outcome: async (): Promise<ChildOutcome> => await (await started).outcome,
    async isAlive() {
      const pids = (await recorded()).flatMap(({ pid, grandchildren = [] }) => [...(pid === undefined ? [] : [pid]), ...grandchildren])
      return pids.filter((pid) => isRunning(pid)).length
    },
  }
}

/** What only waits to be reaped by nobody of ours does not run. */
function isRunning(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)]).toString().startsWith('Z')
  } catch {
    return false
  }
}

/** Long waits are over at once, by name; those between the tiers are short. */
const quick = (fires?: number): Clock => ({ ...realClock, schedule: (delayMs, fire) => realClock.schedule(delayMs === fires ? 300 : delayMs, fire) })

describe.each(both)('$name', (cli) => {
  it('gives the answer of one task, and leaves nothing running', async () => {
    const r = run(cli)
    expect(await r.outcome()).toEqual({ stopReason: 'completed', output: 'one line\nthe answer' })
    expect((await r.started).childId).toBe(`${cli.name}-r1`)
    expect(await r.isAlive()).toBe(0)
  })

  it('shows the newest line of what it says', async () => {
    const r = run(cli)
    await r.outcome()
    expect([r.lines.length > 0, r.lines.at(-1), r.lines.every((line) => !line.includes('\n'))]).toEqual([true, 'the answer', true])
  })

  it('gets the prompt alone, word for word, in the folder of the parent', async () => {
    const prompt = 'Say "ä€🙂"\n$(rm -rf /) `x` \\n'
    const r = run(cli, { prompt })
    await r.outcome()
    expect(JSON.stringify(await r.heard())).toContain(JSON.stringify(prompt).slice(1, -1))
    expect((await r.first()).args?.join(' ')).not.toContain('rm -rf')
    expect((await r.first()).cwd).toBe(folder)
  })

  it('does not get what looks like a secret in the environment, but what the settings name', async () => {
    vi.stubEnv('OPENAI_API_KEY', 'a')
    vi.stubEnv('GITHUB_TOKEN', 'b')
    vi.stubEnv('DB_PASSWORD', 'c')
    vi.stubEnv('CLIENT_SECRET', 'd')
    vi.stubEnv('PLAIN', 'e')
    const r = run(cli, { env: { OPENAI_API_KEY: 'mine' } })
    await r.outcome()
    const { env = {} } = await r.first()
    expect([env['OPENAI_API_KEY'], env['GITHUB_TOKEN'], env['DB_PASSWORD'], env['CLIENT_SECRET'], env['PLAIN']]).toEqual(['mine', undefined, undefined, undefined, 'e'])
  })

  it('is not started in a folder that is not trusted', async () => await expect(run(cli, { isTrusted: false }).started).rejects.toMatchObject({ code: 'NO_PROVIDER' }))

  it('that is not there is told with what to do', async () => {
    const r = run(cli, { path: '/nowhere/program' })
    await expect(r.started).rejects.toMatchObject({ code: 'NO_PROVIDER', message: expect.stringContaining('set its path in the settings') })
    expect(await isInstalled(cli, r.needs)).toBe(false)
  })

  it('that does not run is not installed', async () => {
    expect(await isInstalled(cli, run(cli).needs)).toBe(true)
    expect(await isInstalled(cli, run(cli, { behaviour: 'broken' }).needs)).toBe(false)
  })

  it('is not started once the caller has stopped', async () => {
    const r = run(cli, { signal: AbortSignal.abort(new Error('stopped')) })
    await expect(r.started).rejects.toThrow('stopped')
    expect(await r.recorded()).toEqual([])
  })

  it.each<readonly [string, ChildOutcome['stopReason'], string, string | null]>([
    ['blank', 'error', '', 'It ended without an answer.'],
    ['garbage', 'completed', 'the answer', null],
    ['much-garbage', 'error', '', 'is not the protocol'],
    ['half-json', 'error', '', 'cannot be read'],
    ['cut-json', 'error', '', '(process). It ended with exit code 0 before it had answered.'],
    ['giant', 'error', '', 'too long to be one'],
    ['exit-1', 'error', 'half of it', '(process). It ended with exit code 1'],
    ['exit-0', 'error', '', '(process). It ended with exit code 0'],
    ['killed', 'error', '', 'the signal SIGKILL'],
    ['dies', 'error', '', '(process). It ended with exit code 7'],
    ['asks-unknown', 'error', '', 'asked for something that Bosun does not know'],
    ['floods', 'completed', 'the answer', null],
    ['two-texts', 'completed', 'the answer', null],
    ['no-phase', 'completed', 'second', null],
    ['answers-then-1', 'completed', 'the answer', '(teardown). It answered, then ended with exit code 1.'],
  ])('%s: ends as %s', async (behaviour, stopReason, output, diagnostic) => {
    const r = run(cli, { behaviour })
    const outcome = await r.outcome()
    expect([outcome.stopReason, outcome.output]).toEqual([stopReason, output])
    if (diagnostic === null) expect(outcome.diagnostic).toBeUndefined()
    else expect(outcome.diagnostic).toContain(diagnostic)
    expect(await r.isAlive()).toBe(0)
  })

  it('names where it stood when it failed to begin', async () => {
    const { stopReason, diagnostic } = await run(cli, { behaviour: 'refuses' }).outcome()
    expect([stopReason, diagnostic]).toEqual(['error', `${cli.title} failed (${cli === codex ? 'thread-start' : 'query-start'}). ${cli === codex ? 'It refused.' : 'Its query failed.'}\nIt said: Not logged in.`])
  })

  it('tells no secret and no message of the protocol in a diagnostic', async () => {
    const failed = (await run(cli, { behaviour: 'fails', env: { MY_KEY: 'very-own-value' } }).outcome()).diagnostic ?? ''
    expect(failed).toContain('The key [API key left out] and [MY_KEY left out] were refused.')
    const ended = (await run(cli, { behaviour: 'exit-1' }).outcome()).diagnostic ?? ''
    expect([ended.includes('raw'), ended.includes('\u001b'), ended.endsWith('Its last words: no login'), utf8Length(ended) <= 4_096]).toEqual([false, false, true, true])
  })

  it('that does not take its task in time is ended', async () => {
    const r = run(cli, { behaviour: 'silent', clock: quick(HANDSHAKE_MS) })
    const { stopReason, diagnostic } = await r.outcome()
    expect([stopReason, diagnostic]).toEqual(['error', `${cli.title} failed (${cli === codex ? 'initialize' : 'query-start'}). It did not take the task within 60 s.`])
    expect(await r.isAlive()).toBe(0)
  })

  it('that falls silent at work is ended, and what it said so far is kept', async () => {
    const r = run(cli, { behaviour: 'hangs', clock: quick(SILENCE_MS) })
    const { stopReason, output, diagnostic } = await r.outcome()
    expect([stopReason, output, diagnostic]).toEqual(['error', 'half of it', `${cli.title} failed (${cli === codex ? 'turn' : 'query-run'}). It said nothing for 20 minutes.`])
    expect(await r.isAlive()).toBe(0)
  })

  it.each(['hangs', 'stubborn', 'deaf'])('%s: ends with its caller, with everything it started', async (behaviour) => {
    const stop = new AbortController()
    const r = run(cli, { behaviour, signal: stop.signal })
    await vi.waitFor(() => expect(r.lines).toContain('half of it'), 10_000)
    stop.abort(new Error('stopped'))
    const { stopReason, output } = await r.outcome()
    expect([stopReason, output]).toEqual(['aborted', 'half of it'])
    expect(await r.isAlive()).toBe(0)
  })

  it('that has answered stays completed, however stubborn its end', async () => {
    const r = run(cli, { behaviour: 'stubborn-after' })
    expect(await r.outcome()).toEqual({ stopReason: 'completed', output: 'the answer' })
    expect(await r.isAlive()).toBe(0)
  })

  it('takes along what it started, also what left its group', async () => {
    const seconds = ownSeconds()
    const r = run(cli, { behaviour: 'grandchild', env: { SECONDS: seconds } })
    expect((await r.outcome()).output).toBe('the answer')
    expect([await r.isAlive(), await programsWith(seconds)]).toEqual([0, 0])
  })

  it('is told no when it asks, and goes on', async () => {
    const { stopReason, output } = await run(cli, { behaviour: 'asks' }).outcome()
    expect([stopReason, output.includes(cli === codex ? '"decision":"decline"' : '"behavior":"deny"')]).toEqual(['completed', true])
  })
})

const rightsOf = async (options: Options) => {
  const r = run(codex, options)
  await r.outcome()
  return (await r.heard()).find(({ method }) => method === 'thread/start')?.['params']
}
describe('the rights of codex', () => {
  it.each<readonly [string, SandboxMode, object]>([
    ['never', 'workspace-write', { approvalPolicy: 'never', sandbox: 'workspace-write' }],
    ['approve-for-me', 'workspace-write', { approvalPolicy: 'on-request', approvalsReviewer: 'auto_review', sandbox: 'workspace-write' }],
    ['dangerously-bypass-approvals-and-sandbox', 'danger-full-access', { approvalPolicy: 'never', sandbox: 'danger-full-access' }],
    ['dangerously-bypass-approvals-and-sandbox', 'read-only', { approvalPolicy: 'never', sandbox: 'read-only' }],
    ['approve-for-me', 'read-only', { approvalPolicy: 'never', sandbox: 'read-only' }],
  ])('in the mode %s, from a session that is %s', async (mode, session, rights) => expect(await rightsOf({ mode, session })).toEqual({ ephemeral: true, ...rights }))

  it('a full context window ends as max-tokens', async () => {
    const { stopReason, output, diagnostic } = await run(codex, { behaviour: 'full' }).outcome()
    expect([stopReason, output, diagnostic?.includes('context window is full')]).toEqual(['max-tokens', 'half of it', true])
  })

  it('a stop is told to it before its program is ended', async () => {
    const stop = new AbortController()
    const r = run(codex, { behaviour: 'hangs', signal: stop.signal })
    await vi.waitFor(() => expect(r.lines).toContain('half of it'), 10_000)
    stop.abort()
    await r.outcome()
    expect((await r.recorded()).some(({ interrupted }) => interrupted)).toBe(true)
  })
})

describe('the arguments of claude-code', () => {
  const argsOf = async (options: Options) => {
    const r = run(claudeCode, options)
    await r.outcome()
    return (await r.first()).args?.join(' ') ?? ''
  }
  const common = '-p --output-format stream-json --input-format stream-json --verbose --include-partial-messages --no-session-persistence --permission-prompt-tool stdio --disallowedTools'
  it.each<readonly [string, SandboxMode, string]>([
    ['dontAsk', 'workspace-write', `${common} AskUserQuestion --permission-mode dontAsk`],
    ['acceptEdits', 'workspace-write', `${common} AskUserQuestion --permission-mode acceptEdits`],
    ['auto', 'workspace-write', `${common} AskUserQuestion --permission-mode auto`],
    ['plan', 'workspace-write', `${common} AskUserQuestion,ExitPlanMode --permission-mode plan`],
    ['bypassPermissions', 'workspace-write', `${common} AskUserQuestion --permission-mode bypassPermissions --allow-dangerously-skip-permissions`],
    ['bypassPermissions', 'read-only', `${common} AskUserQuestion,ExitPlanMode --permission-mode plan`],
  ])('in the mode %s, from a session that is %s', async (mode, session, args) => expect(await argsOf({ mode, session })).toBe(args))
})

describe('a mode that nothing holds', () => {
  it.each([
    [codex, 'dangerously-bypass-approvals-and-sandbox'],
    [claudeCode, 'bypassPermissions'],
  ] as const)('is refused for a child that is to stay in a worktree: $0.name', async (cli, mode) => {
    await expect(run(cli, { mode, isolation: 'worktree' }).started).rejects.toMatchObject({ code: 'PROVIDER_UNWALLED' })
  })
})

describe('the pause between the tiers of an end', () => {
  it('is 3000 ms: its input is closed, then TERM, then KILL', async () => {
    expect(GRACE_MS).toBe(3_000)
    const stop = new AbortController()
    const r = run(codex, { behaviour: 'stubborn', signal: stop.signal, graceMs: GRACE_MS })
    await vi.waitFor(() => expect(r.lines).toContain('half of it'), 10_000)
    const from = performance.now()
    stop.abort()
    await r.outcome()
    // Twice; a busy machine only adds to it.
    expect(performance.now() - from).toBeGreaterThan(2 * GRACE_MS - 50)
    expect((await r.recorded()).flatMap(({ closed, term }) => (closed ? ['closed'] : term ? ['term'] : []))).toEqual(['closed', 'term'])
  })
})

describe('the settings', () => {
  it.each(both)('have $name off by itself, in the mode that forbids most', (cli) => {
    const settings = { get: <T>({ fallback }: { readonly fallback: T }) => fallback }
    expect(cli.configuration(settings)).toEqual({ isEnabled: false, path: null, env: {}, isUnbounded: false })
  })
})
