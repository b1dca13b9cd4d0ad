import type { CommandDefinition } from '../../core/commands/command.ts'
import type { Agents } from '../../core/loop/points.ts'
import { presetIdOf } from '../../core/presets/shipped.ts'
import type { Presets, PresetSummary } from '../../core/presets/preset.ts'

export interface PresetCommandParts {
  readonly agents: Pick<Agents, 'presetLock' | 'presetOf' | 'selectPreset'>
  readonly presets: Pick<Presets, 'discover' | 'list'>
}

/** `/preset`: which preset the session has and which there are, or another one while nothing has been said. */
export function presetCommand({ agents, presets }: PresetCommandParts): CommandDefinition {
  return {
    name: 'preset',
    description: 'Say which preset this session has, or choose another one before the first message.',
    input: { hint: 'preset' },
    async run({ agent, args }) {
      await presets.discover()
      const all = presets.list()
      const lock = agents.presetLock(agent.id)
      if (args === '') return { text: [`${nameOf(agents.presetOf(agent.id), all)} is the preset of this session.`, ...(lock === null ? ['There are:', ...all.map(lineOf)] : [lock])].join('\n') }
      if (lock !== null) throw new Error(lock)
      const { id, problem } = chosen(args, all)
      if (problem !== undefined) throw new Error(problem)
      agents.selectPreset(agent.id, id)
      return { text: `${nameOf(id, all)} is the preset of this session.` }
    },
  }
}

const nameOf = (id: string, all: readonly PresetSummary[]): string => all.find((preset) => preset.id === id)?.name ?? id

const lineOf = ({ id, name, description, problem }: PresetSummary): string =>
  `${id}${name.toLowerCase() === id ? '' : ` (${name})`}${problem !== undefined ? ` · cannot be used: ${problem}` : description === '' ? '' : ` · ${description}`}`

/** By id, alias or name. Of two files that claim one name the one that works. Errors: `Error` that lists what there is. */
function chosen(args: string, all: readonly PresetSummary[]): PresetSummary {
  const wanted = args.toLowerCase()
  const fitting = all.filter(({ id, name }) => id === presetIdOf(wanted) || name.toLowerCase() === wanted)
  const found = fitting.find(({ problem }) => problem === undefined) ?? fitting[0]
  if (found === undefined) throw new Error(`No preset is called “${args}”. There are: ${[...new Set(all.map(({ id }) => id))].join(', ')}.`)
  return found
}
