// Bosun without an editor: the same composition over plain Node. Events and results go to stdout as JSON lines, words to stderr.
import { readFile, rm, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { argumentsFrom } from './base/call-arguments.ts'
import { isErrorOf, isHarnessError } from './base/harness-error.ts'
import type { Json } from './base/json.ts'
import { messageOf } from './base/message-of.ts'
import { EventStoreError } from './capabilities/event-store.ts'
import { catalogueOf } from './catalogue.ts'
import { compose } from './compose.ts'
import type { Application, Capabilities } from './compose.ts'
import { typedLine } from './core/commands/command-line.ts'
import { english, pauseWords } from './core/cost/words.ts'
import type { PauseCause, TurnEndReason } from './core/log/event.ts'
import type { UserMessage } from './core/log/message.ts'
import { PresetError } from './core/presets/preset.ts'
import type { Agent } from './core/session/agent.ts'
import { MAX_ARCHIVE_BYTES } from './core/session/archive/import.ts'
import type { ToolResult } from './core/tools/definition.ts'
import { serverText } from './features/mcp/command.ts'
import { withoutAsking } from './features/mcp/remedies.ts'
import { START_TIMEOUT_MS } from './features/mcp/server-life.ts'
import type { McpReport, McpServerReport } from './features/mcp/service.ts'
import { UnresolvedReference } from './features/references/service.ts'
import { parseHeadlessArguments, USAGE, UsageError } from './headless-arguments.ts'
import type { ExportCommand, HeadlessCommand, ImportCommand, PermissionAnswer, RunCommand, ToolCommand } from './headless-arguments.ts'
import { callIdOf, CALLS_PROVIDER, createCallsAdapter } from './headless-calls.ts'
import { ReplayError, replayLog } from './headless-replay.ts'
import { createHeadlessWorld } from './headless-world.ts'
import { hasCode } from './platform/node/file-facts.ts'
import { readPlainFile } from './platform/node/read-plain-file.ts'
import { presentCall, presentResult } from './host/present-tool.ts'

const EXIT = { completed: 0, failed: 1, usage: 2, interrupted: 130 } as const
const HEADLESS_PROVIDER = 'headless'

async function main(argv: readonly string[]): Promise<number> {
  let command: HeadlessCommand
  try {
    command = parseHeadlessArguments(argv, startFolder('.'))
    if (command.command === 'help') return command.isAsked ? await write(USAGE).then(() => EXIT.completed) : say(USAGE, EXIT.usage)
    return await execute(command)
  } catch (error) {
    if (error instanceof UsageError) return say(`${error.message}\n\n${USAGE}`, EXIT.usage)
    if (error instanceof ReplayError || isHarnessError(error)) return say(`${error.message}\n`, EXIT.failed)
    return say(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`, EXIT.failed)
  }
}

/** Where it was started, which may be gone by now. */
function startFolder(whenGone: string): string {
  try {
    return process.cwd()
  } catch {
    return whenGone
  }
}

function execute(command: Exclude<HeadlessCommand, { readonly command: 'help' }>): Promise<number> {
  switch (command.command) {
    case 'run':
      return runTurn(command)
    case 'tool':
    case 'tools':
      return runCalls(command)
    case 'catalogue':
      return printCatalogue()
    case 'replay':
      return printReplay(command.log)
    case 'export':
      return exportSession(command)
    case 'import':
      return importSession(command)
  }
}

/** One turn through the real loop; every session event is one line. */
async function runTurn(command: RunCommand): Promise<number> {
  const world = await createHeadlessWorld({ ...command, settings: runSettings(command), providers: runProviders(command) })
  const application = compose(world, { isOneTurn: true })
  const { ctx } = application
  try {
    answerApprovals(application, command.permissions)
    // What agents that the model starts do stands in their own logs.
    ctx.on('session/event', ({ id, header }, event) => {
      if (header.origin !== 'subagent' || id === command.resume) print(event as unknown as Json)
    })
    const prompt = await promptOf(command)
    const agent = await (command.resume === undefined ? newAgent(application, world.cwd, command.preset) : ctx.agents.resume(command.resume).catch(flagRefusal))
    process.stderr.write(`Session ${agent.id}\n`)
    // A turn that waited for a person when its window closed is ended first, by the answers of this run.
    const resumed = agent.status === 'running' ? await turnEnd(application, agent) : null
    if (resumed !== null && prompt === null) return exitCodeOf(resumed, false)
    const typed = prompt === null ? null : typedLine(prompt)
    if (typed?.kind === 'command') return await runCommandLine(application, agent, typed.line)
    const content = typed === null ? null : await ctx.references.content(typed.text, { cwd: agent.session.header.cwd ?? world.cwd, sessionId: agent.id, signal: new AbortController().signal }).catch(refusalOf)
    if (content instanceof UnresolvedReference) return say(`${content.message}\n`, EXIT.usage)
    const end = turnEnd(application, agent)
    const wasInterrupted = stopOnSignal(agent)
    if (content === null) agent.continueTurn()
    else agent.followup({ ...userMessage(world, ''), content })
    const reason = await lastEnd(application, agent, { first: await end, wasInterrupted })
    sayGoal(application, agent)
    sayServers(application)
    return exitCodeOf(reason, wasInterrupted())
  } finally {
    await application.dispose()
    await world.dispose()
  }
}

const newAgent = ({ ctx }: Application, cwd: string, preset: string | undefined): Promise<Agent> => (preset === undefined ? ctx.agents.create({ cwd }) : ctx.agents.create({ cwd, preset }).catch(flagRefusal))

/** What a flag names and is not there is the caller's mistake. */
function flagRefusal(error: unknown): never {
  if (isErrorOf(PresetError, error, 'UNKNOWN_PRESET') || isErrorOf(EventStoreError, error, 'SESSION_NOT_FOUND')) throw new UsageError(error.message, { cause: error })
  throw error
}

/** Agents that the turn left at work are waited for, with the turns in which their news is heard. */
async function lastEnd({ ctx }: Application, agent: Agent, { first, wasInterrupted }: { readonly first: TurnEndReason; readonly wasInterrupted: () => boolean }): Promise<TurnEndReason> {
  let end = first
  ctx.on('session/event', (session, event) => {
    if (session.id === agent.id && event.type === 'turn/end') end = event.data.reason
  })
  const isBusy = () => agent.status === 'running' || ctx.subagents.known().some(({ parentId, endedAt }) => parentId === agent.id && endedAt === undefined)
  while (isBusy() && !wasInterrupted()) {
    await agent.whenIdle()
    await new Promise<void>((resolve) => {
      const timer = setTimeout(done, 100)
      const undo = ctx.subagents.onDidChange(done)
      function done(): void {
        clearTimeout(timer)
        undo()
        resolve()
      }
    })
  }
  await agent.session.flush()
  return end
}

/** What a prompt names and nobody knows here is the caller's mistake. */
function refusalOf(error: unknown): UnresolvedReference {
  if (error instanceof UnresolvedReference) return error
  throw error
}

/** A slash command in the place of a prompt, with the turn it begins, if it begins one. */
async function runCommandLine({ ctx }: Pick<Application, 'ctx'>, agent: Agent, line: string): Promise<number> {
  const refusal = await ctx.commands.lookUp(line, { scope: agent.scope, isIdle: true })
  if (refusal !== null) return say(`${refusal.message}\n`, EXIT.usage)
  const wasInterrupted = stopOnSignal(agent)
  let end: TurnEndReason | null = null
  ctx.on('session/event', (session, event) => {
    if (session.id === agent.id && event.type === 'turn/end') end = event.data.reason
  })
  const { kind, text } = await ctx.commands.run(agent, line)
  if (text !== undefined) process.stderr.write(`${text}\n`)
  await agent.whenIdle()
  await agent.session.flush()
  sayGoal({ ctx }, agent)
  if (kind === 'error') return wasInterrupted() ? EXIT.interrupted : EXIT.failed
  return exitCodeOf(end ?? { kind: 'completed' }, wasInterrupted())
}

/** `run` is one turn, so a goal begins no round behind it. */
function sayGoal({ ctx }: Pick<Application, 'ctx'>, agent: Agent): void {
  const { goal } = ctx.goals.read(agent.session) ?? {}
  if (goal?.phase !== 'active') return
  process.stderr.write(`The goal stands disarmed at round ${goal.roundsStarted} of ${goal.maxGoalRounds}: a run is one turn. Open session ${agent.id} in the editor and resume the goal there.\n`)
}

/** Calls of a list, one after the other in one session; one line each. */
async function runCalls(command: ToolCommand): Promise<number> {
  const world = await createHeadlessWorld({
    ...command,
    settings: { 'model.provider': CALLS_PROVIDER, 'model.name': 'list', 'agent.maxStepsPerTurn': 0 },
    hasEveryTool: true,
  })
  const application = compose(world, { adapters: [createCallsAdapter(command.calls)], isOneTurn: true })
  const { ctx } = application
  try {
    answerApprovals(application, command.permissions)
    const results = new Map<string, ToolResult>()
    ctx.on('tools/result', (exec, result) => {
      if (exec.parent === undefined) results.set(exec.callId, result)
    })
    const agent = await newAgent(application, world.cwd, command.preset)
    if (command.calls.some(({ name }) => name.startsWith('mcp__'))) await serversForCalls(application, world.machine.userFolder)
    const end = turnEnd(application, agent)
    const wasInterrupted = stopOnSignal(agent)
    agent.followup(userMessage(world, 'Make the calls of the list.'))
    const reason = await end
    command.calls.forEach((call, index) => print(callLine(application, agent, call, results.get(callIdOf(index)))))
    return exitCodeOf(reason, wasInterrupted())
  } finally {
    await application.dispose()
    await world.dispose()
  }
}

/** Calls of a list come at once, so servers that start are waited for here; those that did not start are said to the person. */
async function serversForCalls({ ctx }: Application, userFolder: string): Promise<void> {
  ctx.mcp.wake()
  await ctx.mcp.settledWithin(START_TIMEOUT_MS, new AbortController().signal)
  const { servers, skipped } = ctx.mcp.report()
  if (servers.length === 0) process.stderr.write(`There are no MCP servers here. Name them in ${userFolder}/mcp.json, or under "mcp.servers" in ${userFolder}/settings.json.\n`)
  for (const server of servers) if (server.state !== 'running' || server.problem !== null) process.stderr.write(`MCP server ${wordsOf(server)}\n`)
  saySkipped(skipped)
}

/** What the model had to go on without, so that nobody wonders why: a run asks for no consent. */
function sayServers({ ctx }: Application): void {
  const { servers, skipped } = ctx.mcp.report()
  for (const server of servers) if (['waits', 'needs-input', 'needs-sign-in', 'failed'].includes(server.state)) process.stderr.write(`MCP server ${wordsOf(server)}\n`)
  saySkipped(skipped)
}

function saySkipped(skipped: McpReport['skipped']): void {
  for (const { name, source, reason } of skipped) process.stderr.write(`${name === '' ? '' : `MCP server ${name}, `}${source}: ${reason}\n`)
}

/** How a server stands. Nobody can be asked for a value here. */
const wordsOf = (server: McpServerReport): string =>
  server.state === 'needs-input' ? `${server.name}: ${server.state}. ${server.reason} ${withoutAsking(server.missingInputs.map(({ id }) => id), server.source)}` : serverText({ ...server, tools: [] })

function callLine({ ctx }: Application, { scope }: Agent, call: { readonly name: string; readonly arguments: string }, result: ToolResult | undefined): Json {
  const find = (name: string) => ctx.tools.get(name, scope)
  const args = argumentsFrom(call.arguments)
  const shown = result && presentResult(find, { name: call.name, args }, result, { t: (text) => text })
  return {
    name: call.name,
    isError: result?.isError ?? true,
    value: result && !result.isError ? result.value : null,
    content: (result?.content ?? []) as unknown as Json,
    pending: presentCall(find, call.name, args) as unknown as Json,
    card: (shown ?? null) as unknown as Json,
    meta: result?.meta ?? null,
    error: result?.isError ? result.error : null,
    ...(result?.policy && { policy: { ...result.policy } }),
  }
}

/** Every tool there is, also those that cannot work here. */
async function printCatalogue(): Promise<number> {
  const world = await createHeadlessWorld({ cwd: startFolder(resolve('/')), storage: undefined, settings: {} })
  const application = compose(world)
  try {
    await write(`${JSON.stringify(await catalogueOf(application))}\n`)
    return EXIT.completed
  } finally {
    await application.dispose()
    await world.dispose()
  }
}

async function printReplay(log: string): Promise<number> {
  const world = await createHeadlessWorld({ cwd: startFolder(resolve('/')), storage: undefined, settings: { 'dynamicPlugins.enabled': true }, isOnlyRead: true, hasEveryTool: true })
  const application = compose(world)
  try {
    for (const line of await replayLog(application, resolve(log))) print(line)
    return EXIT.completed
  } finally {
    await application.dispose()
    await world.dispose()
  }
}

/** One session into a file that was not there. */
async function exportSession({ sessionId, storage, out, form, isRedacted }: ExportCommand): Promise<number> {
  const world = await createHeadlessWorld({ cwd: startFolder(resolve('/')), storage, settings: {} })
  const application = compose(world)
  const { sessionArchives } = application.ctx
  const path = resolve(out)
  try {
    const plan = await sessionArchives.plan(sessionId)
    const content = form === 'markdown' ? await sessionArchives.markdown(sessionId, { isRedacted }) : sessionArchives.export(plan, { isRedacted })
    await writeNew(path, content)
    print({ sessions: plan.sessionIds, file: path })
    return EXIT.completed
  } finally {
    await application.dispose()
    await world.dispose()
  }
}

/** Never over a file that is there, and never half. */
async function writeNew(path: string, content: string | AsyncIterable<Uint8Array>): Promise<void> {
  try {
    await writeFile(path, content, { flag: 'wx' })
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw new UsageError(`--out ${path} is there already. Name another file.`, { cause: error })
    await rm(path, { force: true })
    throw error
  }
}

async function importSession({ file, cwd, storage }: ImportCommand): Promise<number> {
  const content = await readPlainFile(resolve(file), MAX_ARCHIVE_BYTES).catch((error: unknown) => {
    throw new UsageError(`${file} cannot be read: ${messageOf(error)}`, { cause: error })
  })
  const world = await createHeadlessWorld({ cwd, storage, settings: {} })
  const application = compose(world)
  try {
    print({ sessions: await application.ctx.sessionArchives.import(content, { cwd: world.cwd }) })
    return EXIT.completed
  } finally {
    await application.dispose()
    await world.dispose()
  }
}

/** The settings that the flags mean; they win over the person's own. */
function runSettings({ model, provider, maxSteps }: RunCommand): Readonly<Record<string, Json>> {
  return {
    // One turn for a program: nobody reads a list of it, and the model is asked nothing that was not wanted.
    'titles.enabled': false,
    'model.provider': provider ?? HEADLESS_PROVIDER,
    ...(model !== undefined && { 'model.name': model }),
    ...(maxSteps !== undefined && { 'agent.maxStepsPerTurn': maxSteps }),
  }
}

/** The server that the flags name, beside the person's own: one of those may be the fallback. */
function runProviders({ provider, baseUrl, api, apiKeyEnv }: RunCommand): Readonly<Record<string, Json>> {
  return provider === undefined ? { [HEADLESS_PROVIDER]: providerSettings({ baseUrl, api, apiKeyEnv }) } : {}
}

/** A server that is named wants no key unless one is named too; a maker's own wants the one that bears its name. */
function providerSettings({ baseUrl, api, apiKeyEnv }: Pick<RunCommand, 'baseUrl' | 'api' | 'apiKeyEnv'>): Json {
  const keyName = apiKeyEnv ?? (baseUrl === undefined ? undefined : null)
  return { ...(baseUrl !== undefined && { baseUrl }), ...(api !== undefined && { api }), ...(keyName !== undefined && { keyName }) }
}

async function promptOf({ prompt }: RunCommand): Promise<string | null> {
  if (prompt === null) return null
  const text = 'text' in prompt ? prompt.text : await textOfFile(prompt.file)
  if (text.trim() === '') throw new UsageError(`${'text' in prompt ? '--prompt' : `--prompt-file ${prompt.file}`} has no words in it.`)
  return text
}

async function textOfFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new UsageError(`--prompt-file ${path} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

/** Without an answer from the flags nobody is there, and no answer means no. */
function answerApprovals({ ctx }: Application, permissions: PermissionAnswer | undefined): void {
  if (permissions === undefined) return
  ctx.on('approval/request', () =>
    permissions === 'allow' ? { outcome: 'allowed-once' } : { outcome: 'rejected', note: 'Permissions are set to deny for this run.' },
  )
}

/** How the next turn of the agent ends, once the agent rests and its log is on the disk. */
function turnEnd({ ctx }: Application, agent: Agent): Promise<TurnEndReason> {
  return new Promise((resolveEnd, reject) => {
    ctx.on('session/event', (session, event) => {
      if (session.id !== agent.id || event.type !== 'turn/end') return
      const { reason } = event.data
      agent.whenIdle().then(() => session.flush()).then(() => resolveEnd(reason), reject)
    })
  })
}

/** The first interrupt stops the turn as a person would; a second one ends the program at once. */
function stopOnSignal(agent: Agent): () => boolean {
  let wasInterrupted = false
  const stop = (): void => {
    if (wasInterrupted) process.exit(EXIT.interrupted)
    wasInterrupted = true
    agent.cancel({ kind: 'user' })
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  return () => wasInterrupted
}

function exitCodeOf(reason: TurnEndReason, wasInterrupted: boolean): number {
  if (wasInterrupted) return EXIT.interrupted
  if (reason.kind === 'completed') return EXIT.completed
  return say(`The turn ended with ${describeEnd(reason).replace(/\.$/, '')}.\n`, EXIT.failed)
}

function describeEnd(reason: TurnEndReason): string {
  switch (reason.kind) {
    case 'error':
      return `${reason.failure.code}: ${reason.failure.message}`
    case 'paused':
      return pauseText(reason)
    default:
      return reason.kind
  }
}

/** A typed refusal: which limit it was, and the setting that raises it. */
function pauseText(cause: PauseCause): string {
  const { cap, per = 'session' } = cause
  if (cap === 'steps') return `a pause at the cap of ${cause.limit} steps; continue with --resume`
  if (cap === 'minutes') return `a pause at the cap of ${cause.limit} min; continue with --resume`
  const keys = cap === 'cost' ? { turn: 'turnCostLimit', session: 'costLimit', day: 'dayCostLimit' } : { turn: 'turnTokenLimit', session: 'tokenLimit', day: 'dayTokenLimit' }
  return `${cap === 'cost' ? 'COST_LIMIT' : 'TOKEN_LIMIT'}: ${pauseWords(cause, english)} Raise bosun.agent.${keys[per]} to go on`
}

const userMessage = ({ machine }: Capabilities, text: string): UserMessage => ({
  id: machine.randomId(),
  role: 'user',
  content: [{ type: 'text', text }],
  source: { kind: 'user' },
})

const print = (value: Json): void => void process.stdout.write(`${JSON.stringify(value)}\n`)

const write = (text: string): Promise<void> =>
  new Promise((done, reject) => process.stdout.write(text, (error) => (!error || (error as NodeJS.ErrnoException).code === 'EPIPE' ? done() : reject(error))))

function say(text: string, code: number): number {
  process.stderr.write(text)
  return code
}

// Who reads has gone, as `head` does when it has enough: what runs is interrupted, and anything else is done.
let hasReader = true
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  if (!hasReader) return
  hasReader = false
  if (!process.emit('SIGINT')) process.exit(0)
})

process.exitCode = await main(process.argv.slice(2))
