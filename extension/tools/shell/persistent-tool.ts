import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { TerminalHost } from '../../capabilities/terminal.ts'
import type { TerminalViews } from '../../capabilities/terminal-view.ts'
import type { ScopeKey } from '../../core/kernel/plugin.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import type { Agent } from '../../core/session/agent.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import { denialLines, type Confinement } from '../../core/tools/confinement.ts'
import { sessionFolder } from '../session-folder.ts'
import { withoutEscalation } from '../without-escalation.ts'
import type { CommandEnvironment } from '../../features/command-environment/service.ts'
import type { PersistentDialect } from './persistent-dialect.ts'
import { MAX_OUTPUT_CHARS, MAX_SPILL_BYTES } from './persistent-output.ts'
import { PERSISTENT_DEADLINE_MS, PersistentShell, type EndMeanwhile, type PersistentEnd, type PersonDeeds, type ShellConfinement } from './persistent-shell.ts'

export interface PersistentShellNeeds {
  readonly terminals: TerminalHost
  readonly blobs: Pick<BlobStore, 'openSpill'>
  readonly clock: Clock
  readonly dialect: PersistentDialect
  readonly machine: Pick<Machine, 'randomId'>
  /** Read when a shell starts. */
  readonly program: () => string
  readonly environment: CommandEnvironment
  /** Absent where nobody looks. */
  readonly views?: TerminalViews
  /** Asked when a shell starts; undefined: shells run as they are. */
  readonly confinement?: () => Pick<Confinement, 'confine' | 'modeOf'> | undefined
  /** Default: 300 000. */
  readonly timeoutMs?: number
}

/** The shells of agents, and the tool that runs commands in them. */
export interface PersistentShells {
  readonly tool: ToolDefinition
  /** Where the shell of the agent with this layer stands, and whether the next command goes to a program that waits. Undefined before its first call. */
  stateOf(scope: ScopeKey | null): { readonly folder: string; readonly isWaiting: boolean } | undefined
  disposeOwner(agentId: string): Promise<void>
  dispose(): Promise<void>
}

/** `bash` or `pwsh` of the minimal preset: one shell an agent that stays from call to call. Source: capability specification 3. */
export function createPersistentShells({ terminals, blobs, clock, dialect, machine, program, environment, views, confinement, timeoutMs = PERSISTENT_DEADLINE_MS }: PersistentShellNeeds): PersistentShells {
  const shells = new Map<string, PersistentShell>()
  const byScope = new WeakMap<ScopeKey, PersistentShell>()
  const confinementOf = (agent: Agent): { readonly confinement?: ShellConfinement } => {
    const service = confinement?.()
    // The shell outlives its calls, so no grant of one of them is its own.
    const call = { agent, token: { id: 'shell' } }
    return service === undefined ? {} : { confinement: { mode: () => service.modeOf(call), confine: (plain) => service.confine(call, plain) } }
  }
  const shellOf = (agent: Agent, cwd: string) => {
    const { id: agentId, scope } = agent
    const found = shells.get(agentId)
    if (found) return found
    const made = new PersistentShell({
      terminals, clock, dialect, program, cwd,
      env: () => environment(agent, { ...dialect.env, HISTFILE: null }),
      ...(views && { views }),
      ...confinementOf(agent),
      newNonce: () => machine.randomId(),
      openSpill: () => blobs.openSpill(agentId, `${dialect.name}-output.log`),
    })
    shells.set(agentId, made)
    byScope.set(scope, made)
    return made
  }
  const disposeOwner = async (agentId: string) => {
    const shell = shells.get(agentId)
    shells.delete(agentId)
    await shell?.dispose()
  }
  return {
    stateOf: (scope) => (scope === null ? undefined : byScope.get(scope)),
    disposeOwner,
    dispose: () => Promise.all([...shells.keys()].map(disposeOwner)).then(() => {}),
    tool: withoutEscalation(defineTool({
      name: dialect.name,
      description: dialect.description,
      parameters: { command: { type: 'string', required: true } },
      output: { schema: { type: 'string' }, render: (_args, text) => [{ type: 'text', text }] },
      async execute({ command }, exec) {
        if (command.trim() === '') throw new ToolError('INVALID_ARGS', 'command is blank. Give the command to run.')
        if (command.includes('\0')) throw new ToolError('INVALID_ARGS', 'command holds a NUL character, which no shell can take. Leave it out.')
        const cwd = sessionFolder(exec)
        if (exec.agent === undefined) throw new ToolError('INVALID_ARGS', `${dialect.name} keeps a shell for a session, and this call has none.`)
        return render(await shellOf(exec.agent, cwd).run(command, { timeoutMs, signal: exec.signal, onText: (text) => exec.progress(text) }))
      },
      limits: [
        { of: 'time', max: timeoutMs, unit: 'ms' },
        { of: 'output', max: MAX_OUTPUT_CHARS, unit: 'characters' },
        { of: 'the file with all of it', max: MAX_SPILL_BYTES, unit: 'bytes' },
      ],
      presentCall: ({ command }) => ({ card: 'terminal', title: command }),
    })),
  }
}

const FRESH = 'The next call starts a fresh shell.'

function render({ meanwhile, ...end }: PersistentEnd & PersonDeeds & EndMeanwhile): string {
  const before = meanwhile === undefined ? '' : `${withNotices(meanwhile.text, [`[the command before this one ended meanwhile, exit code: ${meanwhile.exitCode}]`])}\n`
  const text = end.text === '' && before === '' ? '(no output)' : end.text
  const notice = noticeOf(end)
  const notices = [...deedsOf(end), ...(end.kind === 'completed' && end.deniedIn !== undefined ? denialLines({ mode: end.deniedIn }, 'command') : []), ...(notice === null ? [] : [notice])]
  return `${before}${withNotices(text, notices)}`
}

const withNotices = (text: string, notices: readonly string[]): string => (notices.length === 0 ? text : `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${notices.join('\n')}`)

const deedsOf = ({ hasTyped, hasClosedBefore, hasClosed, hasOtherRights }: PersonDeeds): readonly string[] => [
  ...(hasOtherRights ? ['[what the session may do has changed, so this command ran in a fresh shell]'] : []),
  ...(hasClosedBefore ? ['[the person closed your shell before this command, so it ran in a fresh one]'] : []),
  ...(hasTyped ? ['[the person typed while it ran]'] : []),
  ...(hasClosed ? ['[the person closed the shell]'] : []),
]

function noticeOf(end: PersistentEnd): string | null {
  switch (end.kind) {
    case 'completed':
      return end.exitCode === 0 ? null : `[exit code: ${end.exitCode}]`
    case 'waiting':
      return '[waits for input: the next command is typed to it]'
    case 'deadline':
      return `[timed out after ${end.timeoutMs / 1000} s, or out of memory; the shell was ended. ${FRESH}]`
    case 'ended':
      return `[the shell ended${end.signal !== null ? ` by ${end.signal}` : end.exitCode === null ? '' : ` with exit code ${end.exitCode}`}. ${FRESH}]`
  }
}
