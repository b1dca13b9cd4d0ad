import type { CommandDefinition, Commands } from '../core/commands/command.ts'
import type { ScopeKey } from '../core/kernel/plugin.ts'
import type { Agent } from '../core/session/agent.ts'
import { PathIndex } from '../features/references/path-index.ts'
import type { CompletionItem } from '../protocol/messages.ts'
import type { CompletionSource } from './completions.ts'

interface Needs {
  readonly commands: Pick<Commands, 'list'>
  /** The layer whose commands are offered; for no agent that of the preset which the next session begins with. */
  readonly scopeOf: (agent: Agent | null) => ScopeKey | null
}

const MAX_INDEX_BYTES = 4_000_000

/** The menu behind a `/`: every command by name, or those whose name fits, the best first. */
export function commandCompletions({ commands, scopeOf }: Needs): CompletionSource {
  // oxlint-disable-next-line require-await -- other sources have to look for what they offer
  return async (query, { agent }) => {
    const byName = new Map(commands.list(scopeOf(agent)).map((command) => [command.name, command]))
    const index = new PathIndex({ maxBytes: MAX_INDEX_BYTES })
    for (const name of byName.keys()) index.add(name)
    return index.best(query, byName.size).flatMap(({ path }) => itemOf(byName.get(path)))
  }
}

function itemOf(command: CommandDefinition | undefined): readonly CompletionItem[] {
  if (command === undefined) return []
  const { name, description, input } = command
  const detail = input === undefined ? description : `${description} (${input.hint})`
  return [{ kind: 'command', label: `/${name}`, detail, icon: 'terminal', insert: `/${name} ` }]
}
