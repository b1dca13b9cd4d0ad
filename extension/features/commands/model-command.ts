import type { Clock } from '../../capabilities/clock.ts'
import type { Secrets } from '../../capabilities/secrets.ts'
import type { CommandDefinition } from '../../core/commands/command.ts'
import type { AgentOptions, Agents } from '../../core/loop/points.ts'
import type { ModelInfo, ModelRegistry } from '../../core/model/contract.ts'
import { listChoices } from '../../core/model/model-choices.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { settings as specs } from '../../core/settings/specs.ts'

export interface ModelCommandParts {
  readonly models: ModelRegistry
  readonly agents: Pick<Agents, 'configure' | 'optionsOf'>
  readonly settings: Pick<Settings, 'get'>
  readonly secrets: Pick<Secrets, 'get'>
  readonly clock: Pick<Clock, 'schedule'>
}

/** Models named in one error or report. */
const MAX_NAMED = 40

/** `/model`: which model answers, or another one by any part of its name, with how hard it thinks after it. */
export function modelCommand(parts: ModelCommandParts): CommandDefinition {
  return {
    name: 'model',
    description: 'Say which model answers, or choose another one.',
    input: { hint: 'model [effort]' },
    async run({ agent, args }) {
      const current = inUse(parts, agent.id)
      if (args === '') return { text: `${describe(current)} answers.` }
      const offered = await offeredModels(parts)
      const { found, effort } = chosen(args, offered)
      const next: AgentOptions = { ...parts.agents.optionsOf(agent.id), provider: found.provider, model: found.info.id }
      const { reasoningEffort: _, ...without } = next
      parts.agents.configure(agent.id, effort === null ? without : { ...without, reasoningEffort: effort })
      return { text: `${describe({ provider: found.provider, model: found.info.id, ...(effort !== null && { reasoningEffort: effort }) })} answers from the next step on.` }
    },
  }
}

/** `/effort`: how hard the model thinks, or another effort that it knows. */
export function effortCommand(parts: ModelCommandParts): CommandDefinition {
  return {
    name: 'effort',
    description: 'Say how hard the model thinks, or choose another effort.',
    input: { hint: 'effort' },
    async run({ agent, args }) {
      const current = inUse(parts, agent.id)
      const info = await parts.models.get(current.provider ?? '')?.resolveModel(current.model ?? '')
      const known = info?.reasoningEfforts ?? []
      if (known.length === 0) throw new Error(`${current.model ?? 'This model'} knows no efforts. Choose another model with /model.`)
      const list = `It knows ${known.join(', ')}.`
      if (args === '') return { text: `${current.model} thinks ${current.reasoningEffort ?? 'as its provider decides'}. ${list}` }
      const effort = known.find((candidate) => candidate.toLowerCase() === args.toLowerCase())
      if (effort === undefined) throw new Error(`${current.model} knows no effort “${args}”. ${list}`)
      parts.agents.configure(agent.id, { ...parts.agents.optionsOf(agent.id), reasoningEffort: effort })
      return { text: `${current.model} thinks ${effort} from the next step on.` }
    },
  }
}

interface OfferedModel {
  readonly provider: string
  readonly info: ModelInfo
}

async function offeredModels(parts: ModelCommandParts): Promise<readonly OfferedModel[]> {
  const choices = await listChoices(parts)
  return choices.flatMap(({ adapter, models }) => models.map((info) => ({ provider: adapter.provider.id, info })))
}

/** Errors: `Error` that lists what there is, when none or several are meant. */
function chosen(args: string, offered: readonly OfferedModel[]): { readonly found: OfferedModel; readonly effort: string | null } {
  const whole = best(args, offered)
  if (whole.length === 1) return { found: whole[0]!, effort: null }
  const [, name = '', last = ''] = /^(.*\S)\s+(\S+)$/.exec(args) ?? []
  const named = name === '' ? [] : best(name, offered)
  const [found] = named
  if (named.length === 1 && found !== undefined) {
    const { reasoningEfforts } = found.info
    const effort = reasoningEfforts.find((candidate) => candidate.toLowerCase() === last.toLowerCase())
    if (effort !== undefined) return { found, effort }
    const known = reasoningEfforts.length === 0 ? 'It knows none.' : `It knows ${reasoningEfforts.join(', ')}.`
    throw new Error(`${found.info.id} knows no effort “${last}”. ${known}`)
  }
  if (whole.length > 1) throw new Error(`“${args}” may mean several models: ${listed(whole)}. Say more of the name.`)
  throw new Error(offered.length === 0 ? 'No provider offers a model. Set one up in the model picker first.' : `No model is called “${args}”. There are: ${listed(offered)}.`)
}

/** Those that fit best: the very name before its start, before a part of it, before its letters in order. */
function best(typed: string, offered: readonly OfferedModel[]): readonly OfferedModel[] {
  const wanted = typed.toLowerCase()
  const scored = offered.map((model) => ({ model, rank: Math.min(...spellings(model).map((spelling) => rankOf(wanted, spelling.toLowerCase()))) }))
  const rank = Math.min(...scored.map((entry) => entry.rank))
  return rank === Number.POSITIVE_INFINITY ? [] : scored.filter((entry) => entry.rank === rank).map(({ model }) => model)
}

const spellings = ({ provider, info: { id, name } }: OfferedModel) => [`${provider}/${id}`, id, name]

function rankOf(wanted: string, spelling: string): number {
  if (spelling === wanted) return 0
  if (spelling.startsWith(wanted)) return 1
  if (spelling.includes(wanted)) return 2
  let at = 0
  for (const letter of wanted.replace(/\s+/g, '')) {
    at = spelling.indexOf(letter, at) + 1
    if (at === 0) return Number.POSITIVE_INFINITY
  }
  return 3
}

function listed(models: readonly OfferedModel[]): string {
  const names = models.map(({ provider, info }) => `${provider}/${info.id}`)
  return names.length <= MAX_NAMED ? names.join(', ') : `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`
}

function inUse({ agents, settings }: ModelCommandParts, sessionId: string): AgentOptions {
  const options = agents.optionsOf(sessionId)
  const provider = options.provider ?? settings.get(specs.modelProvider)
  const model = options.model ?? (provider === settings.get(specs.modelProvider) ? settings.get(specs.modelName) : undefined)
  const effort = options.reasoningEffort ?? settings.get(specs.modelReasoningEffort)
  return { provider, ...(model !== undefined && { model }), ...(effort !== null && { reasoningEffort: effort }) }
}

const describe = ({ provider, model, reasoningEffort }: AgentOptions) => `${provider ?? 'nobody'}/${model ?? 'no model'}${reasoningEffort === undefined ? '' : ` · ${reasoningEffort}`}`
