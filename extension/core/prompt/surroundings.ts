import type { Clock } from '../../capabilities/clock.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace, WorkspaceSnapshot } from '../../capabilities/workspace.ts'
import type { Plugin } from '../kernel/plugin.ts'
import { relativeTo, styleOf } from '../policy/paths.ts'
import type { Agent } from '../session/agent.ts'
import type { PromptContext } from './system-prompt.ts'

/** What the surroundings can tell. Trust and permissions are told always. */
export type ContextPart = 'workspace' | 'activeEditor' | 'openEditors' | 'problems' | 'git' | 'time'

interface Needs {
  readonly clock: Pick<Clock, 'now'>
  readonly machine: Pick<Machine, 'platform'>
  readonly workspace: Workspace
  readonly include: () => readonly ContextPart[]
  /** Absent: that of this machine. */
  readonly timeZone?: string
}

/**
 * Facts that change, as named sections of the snapshot that follows the prompt.
 *
 * The editor is asked once a turn: what it shows changes with every edit, and each new snapshot stays in the talk for good. The
 * cursor is never told.
 * Source: runtime specification 14.3 with its VS Code mapping.
 */
export function createSurroundingsPlugin(needs: Needs): Plugin {
  return {
    name: 'surroundings',
    inject: ['systemPrompt'],
    apply({ systemPrompt }) {
      const { workspace, machine, include } = needs
      const facts = onceATurn(async () => ({ folders: workspace.folders(), now: needs.clock.now(), ...(await workspace.snapshot()) }))
      const section = (part: ContextPart, order: number, text: (facts: Facts, shown: (path: string) => string) => string | undefined) =>
        systemPrompt.runtimeContext({
          name: part === 'activeEditor' ? 'editor' : part === 'openEditors' ? 'open editors' : part,
          order,
          async text(context) {
            if (!include().includes(part)) return undefined
            return text(await facts(context), (path) => oneLine(relativeTo(path, context.cwd, styleOf(machine))))
          },
        })
      systemPrompt.runtimeContext({ name: 'trust', order: 5, text: () => (workspace.isTrusted() ? undefined : untrusted) })
      section('workspace', 10, ({ folders, cwd }) => {
        const others = folders.filter(({ path }) => path !== cwd)
        return others.length === 0 ? undefined : `Further workspace folders: ${listed(others.map(({ name, path }) => oneLine(`${name} (${path})`)))}`
      })
      section('git', 15, branchText)
      section('activeEditor', 20, ({ activeEditor }, shown) => activeEditor && `In front of the person: ${shown(activeEditor.path)} (${activeEditor.languageId})`)
      section('openEditors', 25, ({ openEditors, unsavedFiles }, shown) => {
        const lines = [openEditors.length > 0 && `Open editors: ${listed(openEditors.map(shown))}`, unsavedFiles.length > 0 && `Unsaved: ${listed(unsavedFiles.map(shown))}`]
        return lines.filter((line) => line !== false).join('\n')
      })
      section('problems', 30, ({ problems }) =>
        problems && problems.errors + problems.warnings > 0 ? `Problems shown by the editor: errors ${problems.errors}, warnings ${problems.warnings}` : undefined,
      )
      section('time', 90, ({ now }) => `Local time: ${localTime(now, needs.timeZone)}`)
    },
  }
}

type Facts = WorkspaceSnapshot & { readonly folders: ReturnType<Workspace['folders']>; readonly now: number; readonly cwd: string }

function onceATurn(read: () => Promise<Omit<Facts, 'cwd'>>): (context: PromptContext) => Promise<Facts> {
  const known = new WeakMap<Agent, { readonly turn: PromptContext | null; readonly facts: Promise<Facts> }>()
  return async (context) => {
    const { agent, step, cwd } = context
    const last = known.get(agent)
    // The sections of one assembly share one look; so do the later steps of the turn.
    if (last !== undefined && (step > 1 || last.turn === context)) return await last.facts
    const facts = read().then((now) => ({ ...now, cwd }))
    known.set(agent, { turn: context, facts })
    return await facts
  }
}

function branchText({ folders, gitBranches = [] }: Facts): string | undefined {
  const named = gitBranches.map(({ folder, branch }) => ({ name: folders.find(({ path }) => path === folder)?.name ?? folder, branch }))
  const [first] = named
  if (first === undefined) return undefined
  const isOne = named.every(({ branch }) => branch === first.branch) && named.length === Math.max(1, folders.length)
  return isOne ? `Git branch: ${oneLine(first.branch)}` : `Git branches: ${listed(named.map(({ name, branch }) => oneLine(`${name} ${branch}`)))}`
}

/** Such as `2026-11-30 06:05 Monday, Europe/Berlin (GMT+1)`. */
function localTime(now: number, timeZone: string | undefined): string {
  const format = new Intl.DateTimeFormat('en', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    weekday: 'long',
    timeZoneName: 'shortOffset',
  })
  const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]))
  const { year, month, day, hour, minute, weekday, timeZoneName } = parts
  return `${year}-${month}-${day} ${hour}:${minute} ${weekday}, ${format.resolvedOptions().timeZone} (${timeZoneName})`
}

const untrusted =
  'The person has not trusted this workspace: nothing may be changed or run. Only reading tools work; calls to others are refused. Suggest trusting the workspace when the task needs more.'

const maxListed = 20

const listed = (names: readonly string[]) =>
  names.length <= maxListed ? names.join(', ') : `${names.slice(0, maxListed).join(', ')} and ${names.length - maxListed} more`

/** Names of files and branches are anybody's: they must not pose as lines of their own or end the frame. */
const oneLine = (text: string) => text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ').replace(/<(?=\s*\/)/g, '&lt;').toWellFormed()
