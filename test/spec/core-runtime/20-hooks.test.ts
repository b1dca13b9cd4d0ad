import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { WorkspaceFolder } from '../../../extension/capabilities/workspace.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type {} from '../../../extension/features/hooks/events.ts'
import { MAX_STOP_BLOCKS } from '../../../extension/features/hooks/plugin.ts'
import type {} from '../../../extension/features/hooks/service.ts'
import { linesOf, prompt, settled } from '../../support/loop-rig.ts'
import { callTools, createScriptedAdapter, sayText, type ScriptedAdapter, type ScriptedAnswer } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

let application: WholeApplication
let home: string
let adapter: ScriptedAdapter
let isTrusted: boolean
let others: readonly WorkspaceFolder[]
const folderListeners = new Set<() => void>()
const foldersChanged = () => folderListeners.forEach((listener) => listener())
beforeEach(async () => {
  isTrusted = true
  others = []
  application = await wholeApplication({
    settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'titles.enabled': false, 'hooks.sources': ['claude', 'codex', 'bosun'], 'permissions.rules': [{ tool: 'bash', match: 'echo *', decision: 'allow' }] },
    alter: (world) => {
      home = join(world.machine.tempFolder, 'home')
      return { ...world, machine: { ...world.machine, homeFolder: home, userFolder: join(home, 'own') }, workspace: { ...world.workspace, isTrusted: () => isTrusted, folders: () => [...others, ...world.workspace.folders()], onDidChangeFolders: (listener) => (folderListeners.add(listener), () => void folderListeners.delete(listener)) } }
    },
  })
  adapter = createScriptedAdapter()
  application.ctx.models.register(adapter)
})
afterEach(async () => {
  await application.dispose()
  folderListeners.clear()
})

type Config = Readonly<Record<string, readonly { readonly matcher?: string; readonly run: string; readonly timeout?: number }[]>>
const configText = (config: Config) =>
  JSON.stringify({
    hooks: Object.fromEntries(
      Object.entries(config).map(([point, entries]) => [
        point,
        entries.map(({ matcher, run, timeout }) => ({ ...(matcher !== undefined && { matcher }), hooks: [{ type: 'command', command: run, ...(timeout !== undefined && { timeout }) }] })),
      ]),
    ),
  })

async function keep(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
const inProject = (name: string) => join(application.folder, name)
/** Hooks of the project in the Claude dialect, which the person has let run. */
async function allowed(config: Config, name = '.claude/settings.json'): Promise<void> {
  await keep(inProject(name), configText(config))
  const { files } = await application.ctx.hooks.report(application.folder)
  await application.ctx.hooks.allow(files)
}

async function talk(answers: readonly ScriptedAnswer[], ...prompts: readonly string[]): Promise<Agent> {
  adapter.play(...answers)
  const agent = await application.ctx.agents.create({ cwd: application.folder, preset: 'standard' })
  for (const text of prompts) {
    agent.followup(prompt(text))
    await agent.whenIdle()
  }
  return agent
}
/** A program may take its time to start. */
const patient = { timeout: 30_000 }
const bash = (command: string, id = 'c1') => callTools({ id, name: 'bash', args: { command, description: 'say a word' } })
const resultOf = (agent: Agent) => agent.session.messages().findLast(({ role }) => role === 'tool')?.content[0]
const textOfResult = (agent: Agent): string => {
  const block = resultOf(agent)
  return block?.type === 'tool-result' ? block.content.map((part) => (part.type === 'text' ? part.text : '')).join('') : ''
}
const audit = (agent: Agent) => agent.session.events().flatMap((event) => (event.type === 'hook/result' ? [[event.data.point, event.data.decision]] : []))
const say = (json: object) => `printf %s '${JSON.stringify(json)}'`
const specific = (point: string, fields: object) => say({ hookSpecificOutput: { hookEventName: point, ...fields } })

describe('consent', () => {
  it('is asked before a command runs, for each file by its content, and again when it changes', async () => {
    await keep(inProject('.claude/settings.json'), configText({ UserPromptSubmit: [{ run: `touch ${inProject('ran')}` }] }))
    const waiting: string[][] = []
    application.ctx.hooks.onDidChange((_cwd, files) => waiting.push(files.map(({ path }) => path)))
    const agent = await talk([sayText('one'), sayText('two'), sayText('three')], 'go')
    await expect(readFile(inProject('ran'))).rejects.toThrow('ENOENT')
    expect([waiting.at(-1), audit(agent)]).toEqual([[inProject('.claude/settings.json')], []])

    await application.ctx.hooks.allow((await application.ctx.hooks.report(application.folder)).files)
    agent.followup(prompt('again', 'p2'))
    await agent.whenIdle()
    await readFile(inProject('ran'))

    await keep(inProject('.claude/settings.json'), configText({ UserPromptSubmit: [{ run: `touch ${inProject('other')}` }] }))
    agent.followup(prompt('and again', 'p3'))
    await agent.whenIdle()
    await expect(readFile(inProject('other'))).rejects.toThrow('ENOENT')
  })
  it('is of no use in a folder that is not trusted: only the person’s own files are read there', async () => {
    await keep(join(home, '.claude/settings.json'), configText({ Stop: [{ run: 'true' }] }))
    await keep(inProject('.claude/settings.json'), configText({ Stop: [{ run: 'true' }] }))
    isTrusted = false
    const report = await application.ctx.hooks.report(application.folder)
    expect([report.files.map(({ path }) => path), report.note]).toEqual([[join(home, '.claude/settings.json')], expect.stringContaining('not trusted')])
  })
  it('is kept from everything by hooks.enabled', async () => {
    await allowed({ PreToolUse: [{ run: 'exit 2' }] })
    await application.settings.set('hooks.enabled', false, 'user')
    expect(resultOf(await talk([bash('echo hi'), sayText('ok')], 'go'))).toMatchObject({ isError: false })
  })
})

describe('UserPromptSubmit', () => {
  it('blocks a prompt: the turn ends as blocked, no model is asked, and the log says why', async () => {
    await allowed({ UserPromptSubmit: [{ run: 'echo "no keys here" >&2; exit 2' }] })
    const agent = await talk([], 'my key is 123')
    expect([adapter.requests.length, linesOf(agent.session).at(-1)]).toEqual([0, 'end blocked'])
    expect(agent.session.events().find(({ type }) => type === 'hook/result')?.data).toMatchObject({ point: 'UserPromptSubmit', decision: 'deny', exitCode: 2, reason: 'no keys here', stderrSummary: 'no keys here' })
  })
  it('adds its plain output as context after the prompt', async () => {
    await allowed({ UserPromptSubmit: [{ run: 'echo "Today is Monday."' }] })
    await talk([sayText('ok')], 'go')
    expect(adapter.requests[0]?.messages.map(({ content }) => JSON.stringify(content)).join(' ')).toMatch(/"go".*Today is Monday\./)
  })
})

describe('what a hook says', () => {
  const most = 16_384
  const long = (bytes: number, end = '') => `head -c ${bytes} /dev/zero | tr '\\0' x${end}`
  it('reaches the model up to 16 KiB for all hooks of a moment; the beginning stays, and how much is missing is told', async () => {
    await allowed({ UserPromptSubmit: [{ run: long(900_000) }, { run: long(900_000) }] })
    await talk([sayText('ok')], 'go')
    const told = adapter.requests[0]?.messages.map(({ content }) => JSON.stringify(content)).find((text) => text.includes('xxxx')) ?? ''
    expect(told.length).toBeLessThan(most + 200)
    expect(told).toMatch(/x{1000,}.*\[1783618 bytes of what hooks said were left out\]/)
  })
  it.each([
    ['a denial', 'PreToolUse'],
    ['feedback', 'PostToolUse'],
  ] as const)('as %s is cut alike, in the result and in the log', async (_name, point) => {
    await allowed({ [point]: [{ run: long(400_000, ' >&2; exit 2') }] })
    const agent = await talk([bash('echo hi'), sayText('ok')], 'go')
    expect(textOfResult(agent)).toMatch(/^[^x]*x{1000,}\n\[383616 bytes/)
    for (const event of agent.session.events()) expect(JSON.stringify(event).length).toBeLessThan(2 * most + 2_000)
  })
  it('in JSON that is too long is no answer, and the log says so', async () => {
    await allowed({ PreToolUse: [{ run: `printf '{"decision":"block","reason":"'; ${long(2_000_000)}; printf '"}'` }] })
    const agent = await talk([bash('echo hi'), sayText('ok')], 'go')
    expect(agent.session.events().find(({ type }) => type === 'hook/result')?.data).toMatchObject({ decision: 'failed', reason: expect.stringContaining('printed more than is read') })
  })
  it('on its error output is in the log with at most 500 characters', async () => {
    await allowed({ PreToolUse: [{ run: long(2_000, ' >&2; exit 1') }] })
    const agent = await talk([bash('echo hi'), sayText('ok')], 'go')
    const { stderrSummary = '', decision } = agent.session.events().find((event) => event.type === 'hook/result')!.data
    expect([stderrSummary.length, decision]).toEqual([500, 'failed'])
  })
})

describe('PreToolUse', () => {
  const rows: readonly [name: string, run: string, matcher: string, text: RegExp][] = [
    ['exit 2 denies with its error output', 'echo "not today" >&2; exit 2', '', /not today/],
    ['a decision in JSON denies with its reason', specific('PreToolUse', { permissionDecision: 'deny', permissionDecisionReason: 'use npm' }), 'bash', /use npm/],
    ['the older block denies', say({ decision: 'block', reason: 'old way' }), 'Bash', /old way/],
    ['the newer decision wins over the older one', say({ decision: 'block', reason: 'old', hookSpecificOutput: { permissionDecision: 'allow' } }), '', /^hi/],
    ['another exit code holds nothing back', 'echo oops >&2; exit 1', '', /^hi/],
    ['allow lets nothing through that policy would not', specific('PreToolUse', { permissionDecision: 'allow' }), '', /^hi/],
    ['a matcher of other tools does not match', 'exit 2', 'Read|Write', /^hi/],
    ['a matcher that is an expression need not match the whole name', 'echo x >&2; exit 2', '^B.', /x/],
    ['a matcher that is a list of words means the very names', 'exit 2', 'Ba|as', /^hi/],
    ['a time-out holds nothing back', 'sleep 30', '', /^hi/],
  ]
  it.each(rows)('%s', async (_name, run, matcher, text) => {
    // Only the one that never ends by itself may run out of time, however busy the machine is.
    if (run.startsWith('sleep')) await application.settings.set('hooks.timeoutMs', 500, 'user')
    await allowed({ PreToolUse: [{ matcher, run }] })
    expect(textOfResult(await talk([bash('echo hi'), sayText('ok')], 'go'))).toMatch(text)
  })

  it('may ask: nobody answers here, so the call is refused; in the Codex dialect it cannot', async () => {
    const ask = specific('PreToolUse', { permissionDecision: 'ask', permissionDecisionReason: 'sure?' })
    await allowed({ PreToolUse: [{ run: ask }] })
    const asked = await talk([bash('echo hi'), sayText('ok')], 'go')
    expect(asked.session.events().filter(({ type }) => type === 'approval/asked')).toMatchObject([{ data: { reason: 'sure?' } }])
    await keep(inProject('.claude/settings.json'), '{}')
    await allowed({ PreToolUse: [{ run: ask }] }, '.codex/hooks.json')
    expect(textOfResult(await talk([bash('echo hi'), sayText('ok')], 'go'))).toMatch(/^hi/)
  })
  it('rewrites the arguments: judged anew, logged, and run', async () => {
    await allowed({ PreToolUse: [{ run: specific('PreToolUse', { updatedInput: { command: 'echo rewritten', description: 'say a word' } }) }] })
    const agent = await talk([bash('echo hi'), sayText('ok')], 'go')
    expect(textOfResult(agent)).toMatch(/^rewritten/)
    expect(agent.session.events().find(({ type }) => type === 'tool/rewritten')?.data).toMatchObject({ by: 'a hook', arguments: expect.stringContaining('echo rewritten') as string })
  })
  it('cannot rewrite into what policy does not allow', async () => {
    await allowed({ PreToolUse: [{ run: specific('PreToolUse', { updatedInput: { command: 'rm -rf src', description: 'remove' } }) }] })
    expect(resultOf(await talk([bash('echo hi'), sayText('ok')], 'go'))).toMatchObject({ isError: true })
  })
  it('cannot rewrite into arguments that break the schema', async () => {
    await allowed({ PreToolUse: [{ run: specific('PreToolUse', { updatedInput: { command: 7 } }) }] })
    expect(textOfResult(await talk([bash('echo hi'), sayText('ok')], 'go'))).toMatch(/as a hook changed them/)
  })
  it('judges a call again that the person changed, and its no stands', async () => {
    await allowed({ PreToolUse: [{ run: 'case "$(cat)" in *elsewhere*) echo "not there" >&2; exit 2;; esac' }] })
    application.ctx.on('approval/request', async ({ arguments: args }) => ({ outcome: 'allowed-once', arguments: { ...(args as object), command: `printf elsewhere > ${inProject('ran')}` } }))
    const agent = await talk([bash('touch here'), sayText('ok')], 'go')
    expect([textOfResult(agent), audit(agent)]).toEqual([expect.stringContaining('not there'), [['PreToolUse', 'none'], ['PreToolUse', 'deny']]])
    await expect(readFile(inProject('ran'))).rejects.toThrow('ENOENT')
  })
  it('judges a call that the person leaves as it is once', async () => {
    await allowed({ PreToolUse: [{ run: 'exit 0' }] })
    application.ctx.on('approval/request', async ({ arguments: args }) => ({ outcome: 'allowed-once', ...(args !== undefined && { arguments: args }) }))
    expect(audit(await talk([bash('touch here'), sayText('ok')], 'go'))).toEqual([['PreToolUse', 'none']])
  })
  it('of two sessions at once answers each for itself', async () => {
    // Each waits for the other, so that both run at the same time, and then refuses in its own session's name.
    const meet = `id=$(sed 's/.*"session_id":"\\([^"]*\\)".*/\\1/'); touch ${inProject('here-')}$id; until [ "$(ls ${inProject('')} | grep -c ^here-)" = 2 ]; do sleep 0.02; done; echo "no, $id" >&2; exit 2`
    await allowed({ PreToolUse: [{ run: meet, timeout: 60 }] })
    const agents = await Promise.all([1, 2].map(() => application.ctx.agents.create({ cwd: application.folder, preset: 'standard' })))
    adapter.play(bash('echo a'), bash('echo a'), sayText('ok'), sayText('ok'))
    for (const agent of agents) agent.followup(prompt('go'))
    await Promise.all(agents.map((agent) => agent.whenIdle()))
    expect(agents.map((agent) => [textOfResult(agent), audit(agent)])).toEqual(agents.map(({ id }) => [expect.stringContaining(`no, ${id}`), [['PreToolUse', 'deny']]]))
  })
  it('with continue false ends the turn', async () => {
    await allowed({ PreToolUse: [{ run: say({ continue: false, stopReason: 'enough' }) }] })
    const agent = await talk([bash('echo hi')], 'go')
    expect(agent.session.events().findLast(({ type }) => type === 'turn/end')?.data).toMatchObject({ reason: { kind: 'aborted', reason: { kind: 'hook', reason: 'enough' } } })
  })
  it('several run in order; deny wins over ask over allow, and equal reasons stand one under the other', async () => {
    await allowed({
      PreToolUse: [
        { run: specific('PreToolUse', { permissionDecision: 'allow' }) },
        { run: 'echo first >&2; exit 2' },
        { run: specific('PreToolUse', { permissionDecision: 'ask' }) },
        { run: 'echo second >&2; exit 2' },
      ],
    })
    const agent = await talk([bash('echo hi'), sayText('ok')], 'go')
    expect(textOfResult(agent)).toMatch(/first\n\nsecond/)
    expect(audit(agent)).toEqual(['allow', 'deny', 'ask', 'deny'].map((decision) => ['PreToolUse', decision]))
  })
})

describe('PostToolUse', () => {
  it('replaces the result by its feedback', async () => {
    await allowed({ PostToolUse: [{ run: 'echo "lint failed" >&2; exit 2' }] })
    expect(textOfResult(await talk([bash('echo hi'), sayText('ok')], 'go'))).toMatch(/lint failed/)
  })
  it('adds context after the result', async () => {
    await allowed({ PostToolUse: [{ run: specific('PostToolUse', { additionalContext: 'Mind the tests.' }) }] })
    await talk([bash('echo hi'), sayText('ok')], 'go')
    expect(JSON.stringify(adapter.requests[1]?.messages.at(-1))).toContain('Mind the tests.')
  })
})

describe('Stop', () => {
  it('steers its reason into another step, and knows that it is a continuation', async () => {
    const log = inProject('stdin.log')
    await allowed({ Stop: [{ run: `read line; echo "$line" >> ${log}; case "$line" in *'"stop_hook_active":true'*) exit 0;; *) echo "run the tests" >&2; exit 2;; esac` }] })
    const agent = await talk([sayText('done'), sayText('tested')], 'go')
    expect([adapter.requests.length, linesOf(agent.session).at(-1)]).toEqual([2, 'end completed'])
    expect(JSON.stringify(adapter.requests[1]?.messages.at(-1))).toContain('run the tests')
    expect(await readFile(log, 'utf8')).toMatch(/"stop_hook_active":false[\s\S]*"stop_hook_active":true/)
  })
  it('holds a turn back a few times in a row at most', async () => {
    await allowed({ Stop: [{ run: 'echo more >&2; exit 2' }] })
    const agent = await talk(Array.from({ length: MAX_STOP_BLOCKS + 1 }, (_, index) => sayText(`answer ${index}`)), 'go')
    expect([adapter.requests.length, linesOf(agent.session).at(-1)]).toEqual([MAX_STOP_BLOCKS + 1, 'end completed'])
  })
})

describe('outside turns', () => {
  it('SessionStart adds context without a turn, and leaves no record', async () => {
    await allowed({ SessionStart: [{ matcher: 'startup', run: 'echo "Remember the milk."' }, { matcher: 'resume', run: 'echo wrong' }] })
    const agent = await application.ctx.agents.create({ cwd: application.folder, preset: 'standard' })
    await expect.poll(() => agent.inbox.nextStep.length, patient).toBe(1)
    expect([JSON.stringify(agent.inbox.nextStep), audit(agent), agent.status]).toEqual([expect.stringContaining('Remember the milk.'), [], 'idle'])
  })
  it('SubagentStart and SubagentStop run for a child', async () => {
    await allowed({ SubagentStart: [{ run: 'echo "You are a child."' }], SubagentStop: [{ run: `touch ${inProject('stopped')}` }], Stop: [{ run: `touch ${inProject('wrong')}` }] })
    const owner = await application.ctx.agents.create({ cwd: application.folder, preset: 'standard' })
    const child = await application.ctx.agents.create({ cwd: application.folder, owner })
    await expect.poll(() => child.inbox.nextStep.length, patient).toBe(1)
    adapter.play(sayText('ok'))
    child.followup(prompt('go'))
    await child.whenIdle()
    await readFile(inProject('stopped'))
    await expect(readFile(inProject('wrong'))).rejects.toThrow('ENOENT')
  })
  it('SessionEnd runs when the agent goes', async () => {
    await allowed({ SessionEnd: [{ run: `touch ${inProject('ended')}` }] })
    const agent = await talk([sayText('ok')], 'go')
    await agent.dispose()
    await readFile(inProject('ended'))
  })
})

describe('a command', () => {
  it('reads JSON about the moment, runs in the session’s folder, and gets the environment without secrets', async () => {
    process.env['SAMPLE_API_KEY'] = 'secret'
    const log = inProject('seen.log')
    await allowed({ PreToolUse: [{ matcher: 'Bash', run: `cat > ${log}; pwd >> ${log}; echo "[$SAMPLE_API_KEY][$CLAUDE_PROJECT_DIR]" >> ${log}` }] })
    const agent = await talk([bash('echo hi'), sayText('ok')], 'go')
    delete process.env['SAMPLE_API_KEY']
    const [json = '', cwd, variables] = (await readFile(log, 'utf8')).trim().split('\n')
    const input = JSON.parse(json) as { readonly transcript_path: string }
    expect(input).toEqual({
      session_id: agent.id,
      transcript_path: expect.stringMatching(/events\.jsonl$/) as string,
      cwd: application.folder,
      permission_mode: 'default',
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'echo hi', description: 'say a word' },
      tool_use_id: 'c1',
    })
    expect([cwd, variables]).toEqual([application.folder, `[][${application.folder}]`])
    expect(await readFile(input.transcript_path, 'utf8')).toContain('"hook/invoked"')
  })
  it('is ended when the person stops the turn, and the log says so', async () => {
    await allowed({ PreToolUse: [{ run: `touch ${inProject('began')}; sleep 60` }] })
    adapter.play(bash('echo hi'))
    const agent = await application.ctx.agents.create({ cwd: application.folder, preset: 'standard' })
    agent.followup(prompt('go'))
    await expect.poll(() => readFile(inProject('began')).then(() => true, () => false), patient).toBe(true)
    agent.cancel({ kind: 'user' })
    await agent.whenIdle()
    await settled()
    expect([audit(agent), linesOf(agent.session).filter((line) => /^(result|end)/.test(line))]).toEqual([[['PreToolUse', 'cancelled']], ['result c1 ABORTED_BEFORE_DISPATCH', 'end aborted']])
  })
})

describe('a configuration', () => {
  const skipped = async () => (await application.ctx.hooks.report(application.folder)).skipped.map(({ at, reason }) => `${at}: ${reason}`).join('\n')
  it.each([
    ['that is no JSON', '{', /not JSON/],
    ['with a handler of another type', '{"hooks":{"Stop":[{"hooks":[{"type":"prompt","prompt":"x"}]}]}}', /Only commands run here/],
    ['with an event nobody knows', '{"hooks":{"Teatime":[]}}', /Teatime: Bosun has no such event/],
    ['with a command as a list', '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":["a"]}]}]}}', /as one line of text/],
    ['with a matcher that is no expression', configText({ PreToolUse: [{ matcher: '(', run: 'true' }, { run: 'true' }] }), /no regular expression/],
    ['that turns all hooks off', '{"disableAllHooks":true,"hooks":{"Stop":[]}}', /turns all hooks off/],
  ])('%s is listed with the reason, and nothing of that runs', async (_name, text, reason) => {
    await keep(inProject('.claude/settings.json'), text)
    expect(await skipped()).toMatch(reason)
    expect((await application.ctx.hooks.report(application.folder)).files).toEqual([])
  })
  it('in the Codex dialect has five events, and its matcher is always an expression', async () => {
    await keep(inProject('.codex/hooks.json'), configText({ SubagentStop: [{ run: 'true' }], PreToolUse: [{ matcher: 'ba', run: 'true' }] }))
    expect(await skipped()).toMatch(/SubagentStop: Bosun has no such event/)
    expect(await application.ctx.hooks.dryRun(application.folder, { point: 'PreToolUse', subject: 'bash' })).toMatchObject([{ dialect: 'codex', state: 'waits' }])
  })
  it('runs the person’s hooks before the project’s', async () => {
    await keep(join(home, 'own/hooks.json'), configText({ Stop: [{ run: 'echo mine' }] }))
    await keep(inProject('.claude/settings.local.json'), configText({ Stop: [{ run: 'echo local' }] }))
    const steps = await application.ctx.hooks.dryRun(application.folder, { point: 'Stop' })
    expect(steps.map(({ command }) => command)).toEqual(['echo mine', 'echo local'])
    expect(JSON.parse(steps[0]?.stdin ?? '')).toMatchObject({ hook_event_name: 'Stop', stop_hook_active: false })
  })
})

describe('a window of several folders', () => {
  /** Another root with a hook that says where it runs, by its own script. */
  const withOther = async (): Promise<string> => {
    const path = join(home, 'other')
    await keep(join(path, 'where.sh'), 'pwd > "$CLAUDE_PROJECT_DIR/ran"\n')
    await keep(join(path, '.claude/settings.json'), configText({ UserPromptSubmit: [{ run: '. "$CLAUDE_PROJECT_DIR/where.sh"' }] }))
    others = [{ name: 'other', path }]
    foldersChanged()
    return path
  }

  it('has the hooks of every root, the session’s own first, each by consent to its file; scripts are found by the root they belong to', async () => {
    const other = await withOther()
    await allowed({ UserPromptSubmit: [{ run: 'true' }] })
    const { files } = await application.ctx.hooks.report(application.folder)
    expect(files.map(({ path, root, state }) => [path, root?.label, state])).toEqual([
      [inProject('.claude/settings.json'), basename(application.folder), 'runs'],
      [join(other, '.claude/settings.json'), 'other', 'runs'],
    ])
    await talk([sayText('ok')], 'go')
    expect(await readFile(join(other, 'ran'), 'utf8')).toBe(`${application.folder}\n`)
  })
  it('waits for consent to a file of another root, and names the root', async () => {
    await withOther()
    const agent = await talk([sayText('ok')], 'go')
    expect(audit(agent)).toEqual([])
    expect((await application.ctx.commands.run(agent, '/hooks')).text).toContain('settings.json, folder other (waits')
    expect((await application.ctx.commands.run(agent, '/hooks UserPromptSubmit')).text).toContain('Waits for your consent (folder other): . "$CLAUDE')
    expect(await application.ctx.hooks.dryRun(application.folder, { point: 'UserPromptSubmit' })).toMatchObject([{ root: 'other', state: 'waits' }])
  })
  it('reads no root where the window is not trusted', async () => {
    await withOther()
    isTrusted = false
    expect((await application.ctx.hooks.report(application.folder)).files).toEqual([])
  })
  it('forgets a root that leaves', async () => {
    await withOther()
    await application.ctx.hooks.dryRun(application.folder, { point: 'Stop' })
    others = []
    foldersChanged()
    expect(await application.ctx.hooks.dryRun(application.folder, { point: 'UserPromptSubmit' })).toEqual([])
  })
})

describe('/hooks', () => {
  it('lists what waits with the digest that lets it run, for where no page asks, and what would run at a moment', async () => {
    await keep(inProject('.claude/settings.json'), configText({ PreToolUse: [{ matcher: 'Bash', run: 'true' }] }))
    const agent = await talk([])
    const [file] = (await application.ctx.hooks.report(application.folder)).files
    const waits = (await application.ctx.commands.run(agent, '/hooks')).text ?? ''
    expect(waits).toContain(`waits for your consent: “Bosun: Review Hooks…”, or ${file?.digest} in bosun.hooks.allowed`)
    await application.settings.set('hooks.allowed', [file?.digest ?? ''], 'user')
    expect((await application.ctx.commands.run(agent, '/hooks')).text).toContain('settings.json (runs)')
    expect((await application.ctx.commands.run(agent, '/hooks PreToolUse bash')).text).toMatch(/^Would run: true\n  reads \{/)
  })
})
