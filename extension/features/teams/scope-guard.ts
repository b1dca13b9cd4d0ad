import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { ShellSyntax } from '../../capabilities/shell-syntax.ts'
import { absolutePath, isWithin, relativeTo, styleOf } from '../../core/policy/paths.ts'
import type { Permissions } from '../../core/policy/permissions.ts'
import { judgeScript } from '../../core/policy/shell/judge-script.ts'
import { openScript } from '../../core/policy/shell/open-script.ts'
import type { ShellCommand } from '../../core/policy/shell/shell-parts.ts'
import type { ToolEffect } from '../../core/policy/tool-effects.ts'
import type { Execution, PreExecuteDecision } from '../../core/tools/definition.ts'
import type { ActiveScopes, Teams } from './service.ts'
import { isInScopes } from './write-scopes.ts'

/** What may write. */
type Written = ToolEffect & { readonly kind: 'edit' | 'shell' }

interface ScopeGuardParts {
  readonly teams: Pick<Teams, 'activeScopes'>
  readonly permissions: Pick<Permissions, 'effectOf'>
  readonly files: Pick<FileSystem, 'resolve'>
  readonly shellSyntax: ShellSyntax
  readonly machine: Pick<Machine, 'platform' | 'homeFolder'>
  readonly logger: Logger
  readonly isEnforced: () => boolean
}

/**
 * Holds members of a team, and who they start, to the write scopes of tasks in progress. Null: they say nothing of this call.
 *
 * Who works on tasks that all have scopes changes files only inside of those; what another member's task claims nobody else changes,
 * unless their own task claims it too. Files outside of the folder are for the policy. Of a command only what its words name is known.
 */
export function createScopeGuard({ teams, permissions, files, shellSyntax, machine, logger, isEnforced }: ScopeGuardParts): (exec: Execution) => Promise<PreExecuteDecision | null> | null {
  const style = styleOf(machine)

  return (exec) => {
    const { agent } = exec
    if (agent === undefined || !isEnforced()) return null
    const known = teams.activeScopes(agent)
    if (known === null || known.active.every(({ scopes }) => scopes.length === 0)) return null
    const effect = permissions.effectOf(exec.name, exec.arguments, agent.scope)
    return effect.kind === 'edit' || effect.kind === 'shell' ? decided(exec, effect, { cwd: agent.session.header.cwd ?? '', known }) : null
  }

  async function decided(exec: Execution, effect: Written, { cwd, known }: { readonly cwd: string; readonly known: NonNullable<ReturnType<Teams['activeScopes']>> }): Promise<PreExecuteDecision | null> {
    const root = await realPath(cwd, cwd)
    for (const path of await written(effect, exec, cwd)) {
      const real = await realPath(path, cwd)
      if (!isWithin(real, root, style)) continue
      const refusal = refusalFor(relativeTo(real, root, style), known)
      if (refusal !== null) return { kind: 'deny', reason: refusal, grounds: { by: 'guard', why: refusal } }
    }
    return null
  }

  async function written(effect: Written, exec: Execution, cwd: string): Promise<readonly string[]> {
    if (effect.kind === 'edit') return effect.plan === undefined ? effect.paths : (await effect.plan(exec)).changes.map(({ target }) => target)
    if (effect.shell !== 'bash') return []
    const workdir = effect.workdir === null ? cwd : absolutePath(effect.workdir, cwd, style)
    try {
      const script = await openScript(effect.command, (text) => shellSyntax.parseBash(text), machine.homeFolder)
      if (script === null) return []
      const { writes, folders } = judgeScript(script)
      // Where it goes to another folder, its relative paths are seen from there.
      const moved = folders.length === 1 && folders[0]?.path != null ? absolutePath(folders[0].path, workdir, style) : workdir
      const named = [...writes.flatMap(({ path }) => (path === null ? [] : [path])), ...[...script.commands, ...script.hidden].flatMap(changedBy)]
      return folders.length > 1 ? [] : named.map((path) => absolutePath(path, moved, style))
    } catch (error) {
      logger.warn('The grammar of the shell could not be loaded; write scopes do not hold for commands.', { error: String(error) })
      return []
    }
  }

  async function realPath(path: string, cwd: string): Promise<string> {
    const absolute = absolutePath(path, cwd, style)
    try {
      return (await files.resolve(absolute, cwd)).path
    } catch {
      // A path that no file system can hold; the tool itself says what is wrong with it.
      return absolute
    }
  }
}

function refusalFor(path: string, { memberId, active }: { readonly memberId: string; readonly active: readonly ActiveScopes[] }): string | null {
  const own = active.filter(({ ownerId }) => ownerId === memberId)
  const mine = own.flatMap(({ scopes }) => scopes)
  if (isInScopes(path, mine)) return null
  if (own.length > 0 && own.every(({ scopes }) => scopes.length > 0))
    return `${path} lies outside of the write scopes of ${own.map(({ taskId }) => taskId).join(', ')} (${mine.join(', ')}). Change files inside of them, or widen the scopes with team_task_update edit first.`
  const other = active.find(({ ownerId, scopes }) => ownerId !== memberId && isInScopes(path, scopes))
  if (other === undefined) return null
  return `${path} belongs to ${other.taskId}, which ${other.ownerName} works on. Leave it to ${other.ownerName}, or ask by a message.`
}

/** The files that well-known commands would make, change or take away, as far as their words say. */
function changedBy({ words: [program, ...args] }: ShellCommand): readonly string[] {
  const operands = args.flatMap(({ text, isPattern }) => (text === null || isPattern || (text.startsWith('-') && text !== '-') ? [] : [text]))
  switch (program?.text?.split('/').at(-1)) {
    case 'rm':
    case 'rmdir':
    case 'unlink':
    case 'touch':
    case 'mv':
    case 'tee':
    case 'truncate':
    case 'shred':
      return operands
    case 'cp':
    case 'ln':
    case 'install':
    case 'rsync':
      return operands.slice(-1)
    case 'sed':
    case 'perl':
      return args.some(({ text }) => text !== null && /^(?:-[a-zA-Z]*i|--in-place)/.test(text)) ? operands.slice(1) : []
    default:
      return []
  }
}
