import { Emitter } from '../../base/emitter.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import { sandboxUnavailable, type Sandbox, type SandboxLimits, type SandboxRunner, type SandboxVerdict } from '../../capabilities/sandbox.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { SandboxMode } from '../log/event.ts'
import type { Session } from '../session/session.ts'
import type { Settings } from '../settings/settings.ts'
import { settings as specs } from '../settings/specs.ts'
import type { Confinement } from '../tools/confinement.ts'
import type { Execution, ExecutionToken, ToolDefinition } from '../tools/definition.ts'
import { escalationProperties, widerThan, withoutEscalationFields } from './escalation.ts'
import { isWithin, pathMatcher, styleOf } from './paths.ts'
import type { PermissionBook } from './permissions-service.ts'

interface Parts {
  readonly book: Pick<PermissionBook, 'modeIn' | 'capIn' | 'policyIn'>
  readonly settings: Pick<Settings, 'get' | 'onDidChange'>
  readonly workspace: Pick<Workspace, 'folders'>
  readonly files: Pick<FileSystem, 'resolve'>
  readonly machine: Pick<Machine, 'platform' | 'homeFolder' | 'tempFolder'>
  readonly logger: Logger
  /** Absent where nothing can be confined. */
  readonly sandbox?: Sandbox
  /** The folder that a session may not leave by writing. Absent: there are none. */
  readonly wallOf?: (session: Session | undefined) => string | null
}

/** What the judge asks beyond the public service. */
export interface ConfinementBook extends Confinement {
  /** Undefined: the call goes on with what the session may do. */
  grant(token: ExecutionToken, mode: SandboxMode | undefined): void
  /** The next wider mode that a call of this tool may ask for, or null. */
  wayOn(exec: Pick<Execution, 'agent'>, mode: SandboxMode): SandboxMode | null
  dispose(): void
}

/** Levels of each folder of the workspace in which secrets are closed; of the person's home only what stands in it. */
const WORKSPACE_LEVELS = 3

const noSandbox: SandboxVerdict = { runner: null, problem: 'There is no sandbox in this host.' }

export function createConfinement({ book, settings, workspace, files, machine, logger, sandbox, wallOf = () => null }: Parts): ConfinementBook {
  const style = styleOf(machine)
  const grants = new WeakMap<ExecutionToken, SandboxMode>()
  const offering = new WeakSet<ToolDefinition>()
  const changes = new Emitter<void>((error) => logger.error('A listener for the sandbox failed.', { error: String(error) }))
  let verdict: SandboxVerdict | undefined
  let isOffered = false
  let secrets: { readonly patterns: readonly string[]; readonly match: (path: string) => string | null } | undefined
  const use = () => settings.get(specs.sandboxUse)
  const find = async (): Promise<SandboxVerdict> => (verdict ??= sandbox === undefined ? noSandbox : await sandbox.find())

  function update(): void {
    const isNow = use() !== 'off' && verdict !== undefined && verdict.runner !== null
    if (isNow === isOffered) return
    isOffered = isNow
    changes.emit()
  }
  const undo = settings.onDidChange((key) => {
    if (key === specs.sandboxUse.key) update()
  })

  const modeOf = ({ agent, token }: Pick<Execution, 'agent' | 'token'>): SandboxMode => {
    const session = agent?.session
    return grants.get(token) ?? (book.capIn(session, { ...(agent && { agent }), token }) === null ? book.modeIn(session) : 'read-only')
  }

  /** The runner for what runs in a mode; null where it runs as it is. */
  async function runnerFor(mode: SandboxMode): Promise<SandboxRunner | null> {
    if (use() === 'off' || mode === 'danger-full-access') return null
    const found = await find()
    if (found.runner === null && use() === 'require') throw sandboxUnavailable(found.problem)
    return found.runner
  }

  function wayOn({ agent }: Pick<Execution, 'agent'>, mode: SandboxMode): SandboxMode | null {
    const isPossible = isOffered && agent !== undefined && wallOf(agent.session) === null && book.capIn(agent.session) === null && book.policyIn(agent.session) === 'ask'
    return isPossible ? widerThan(mode) : null
  }

  async function limitsFor({ agent }: Pick<Execution, 'agent'>, mode: SandboxMode): Promise<SandboxLimits> {
    const wall = wallOf(agent?.session)
    const cwd = agent?.session.header.cwd
    const paths = workspace.folders().map(({ path }) => path)
    const own = wall !== null ? [wall, ...paths] : cwd !== undefined && !paths.some((path) => isWithin(cwd, path, style)) ? [cwd, ...paths] : paths
    const folders = await Promise.all(own.filter((path) => !isUri(path)).map(realPath))
    // Where the workspace itself lies in a folder for temporary files, a wall around another folder closes that too.
    const temporary = [machine.tempFolder, ...(style.isWindows ? [] : [await realPath('/tmp')])].filter((path) => wall === null || !folders.some((folder) => isWithin(folder, path, style)))
    const chosen = await Promise.all(settings.get(specs.sandboxWritableFolders).map((path) => realPath(path.startsWith('~/') ? `${machine.homeFolder}${path.slice(1)}` : path)))
    const patterns = settings.get(specs.permissionsSensitivePaths)
    if (secrets?.patterns !== patterns) secrets = { patterns, match: pathMatcher(patterns, style) }
    const { match } = secrets
    return {
      writable: mode === 'read-only' ? [] : [...new Set([...(wall === null ? folders : folders.slice(0, 1)), ...temporary, ...chosen])],
      searched: [...folders.map((folder) => ({ folder, levels: WORKSPACE_LEVELS })), { folder: machine.homeFolder, levels: 1 }],
      secretNames: patterns.flatMap((pattern) => /^\*\*\/([^*?[\]{}!]+\/[^*?[\]{}!]+)$/.exec(pattern)?.[1] ?? []),
      isSecret: (path) => match(path) !== null,
    }
  }

  async function realPath(path: string): Promise<string> {
    try {
      return (await files.resolve(path, path)).path
    } catch {
      // What cannot be looked at is left as it is written; the runner leaves out what is not there.
      return path
    }
  }

  return {
    async settle() {
      if (use() === 'off') return
      const before = verdict
      const found = await find()
      if (before === undefined && found.runner === null) logger.info('Commands are not confined.', { problem: found.problem })
      update()
    },
    offering(definition) {
      const widened = widenedParameters(definition)
      const one: ToolDefinition = {
        ...definition,
        get parameters() {
          return isOffered ? widened : definition.parameters
        },
        // Elsewhere a tool refuses the two; what they say is judged with the call.
        validateArguments: (args) => definition.validateArguments?.(isOffered ? withoutEscalationFields(args) : args) ?? [],
      }
      offering.add(one)
      return one
    },
    isOfferedBy: (definition) => isOffered && definition !== undefined && offering.has(definition),
    onDidChange: (listener) => changes.listen(listener),
    grant(token, mode) {
      if (mode === undefined) grants.delete(token)
      else grants.set(token, mode)
    },
    modeOf,
    wayOn,
    willConfine: async (mode) => use() !== 'off' && mode !== 'danger-full-access' && (await find()).runner !== null,
    checkUnconfined(call, what) {
      if (use() === 'require' && modeOf(call) !== 'danger-full-access') throw sandboxUnavailable(`${what} cannot be confined.`)
    },
    async confine(call, program) {
      const mode = modeOf(call)
      const runner = await runnerFor(mode)
      const wider = wayOn(call, mode)
      if (runner === null) return { program, sandbox: mode === 'danger-full-access' && isOffered ? { mode, wider } : null }
      const wrapped = await runner.wrap(program, await limitsFor(call, mode))
      return { program: wrapped, sandbox: { mode, wider, read: (end) => runner.read(end) } }
    },
    dispose: () => undo(),
  }
}

/** The declaration with the two arguments at its end. */
function widenedParameters({ parameters }: ToolDefinition): ToolDefinition['parameters'] {
  const { properties } = parameters
  // A declaration of an object has its properties as an object; the type of JSON does not say so.
  return { ...parameters, properties: { ...(properties as object), ...escalationProperties } }
}

const isUri = (path: string) => /^[a-z][a-z0-9+.-]+:\/\//i.test(path)
