import type { RequestHeader } from '../log/event.ts'
import type { Message } from '../log/message.ts'
import type { ModelRequest, ToolDeclaration } from '../model/contract.ts'
import { SUMMARY_PLUGIN } from '../projections/context-fold.ts'
import type { CacheMissReason } from './events.ts'

/** What a prefix is made of, as it was sent. */
export type SentPrefix = RequestHeader & {
  /** Absent: unknown, as after a restart; then they count as unchanged. */
  readonly messages?: readonly Message[]
}

export const prefixOf = ({ config, system, tools, messages }: ModelRequest): SentPrefix => ({ config, ...(system !== undefined && { system }), tools, messages })

/**
 * The first part of the prefix that is not as it was in the request before, in the order in which providers read it.
 *
 * Parts that are the same object cost a comparison of references; the talk is walked only here, when a miss was reported.
 */
export function firstChange(before: SentPrefix, now: SentPrefix): CacheMissReason {
  const route = ({ config }: SentPrefix) => `${config.provider}/${config.model}`
  if (route(before) !== route(now)) return { kind: 'model', from: route(before), to: route(now) }
  return toolChange(before.tools ?? [], now.tools ?? []) ?? systemChange(before, now) ?? configChange(before, now) ?? messageChange(before.messages, now.messages) ?? { kind: 'dropped' }
}

const MAX_NAMED = 8

function toolChange(before: readonly ToolDeclaration[], now: readonly ToolDeclaration[]): CacheMissReason | undefined {
  if (before === now) return undefined
  const old = new Map(before.map((tool) => [tool.name, tool]))
  const fresh = new Map(now.map((tool) => [tool.name, tool]))
  const changes = [
    ['removed', before.filter(({ name }) => !fresh.has(name))],
    ['added', now.filter(({ name }) => !old.has(name))],
    ['changed', now.filter((tool) => old.has(tool.name) && !isSame(old.get(tool.name), tool))],
    ['moved', now.filter((tool, index) => before[index]?.name !== tool.name)],
  ] as const
  const found = changes.find(([, tools]) => tools.length > 0)
  if (!found) return undefined
  return { kind: 'tools', change: found[0], tools: found[1].slice(0, MAX_NAMED).map(({ name }) => name), total: found[1].length }
}

const systemChange = (before: SentPrefix, now: SentPrefix): CacheMissReason | undefined => (before.system === now.system ? undefined : { kind: 'system' })

function configChange({ config: before }: SentPrefix, { config: now }: SentPrefix): CacheMissReason | undefined {
  if (before === now) return undefined
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].filter((key) => key !== 'provider' && key !== 'model')
  const fields = names.filter((key) => !isSame(before[key as keyof typeof before], now[key as keyof typeof now]))
  return fields.length > 0 ? { kind: 'config', fields } : undefined
}

function messageChange(before: readonly Message[] | undefined, now: readonly Message[] | undefined): CacheMissReason | undefined {
  if (before === undefined || now === undefined) return undefined
  const position = before.findIndex((message, index) => message !== now[index])
  if (position === -1) return undefined
  return { kind: 'messages', position, what: kindOf(now[position]) }
}

function kindOf(message: Message | undefined): 'summary' | 'result' | 'message' | 'removed' {
  if (message === undefined) return 'removed'
  if (message.role === 'tool') return 'result'
  return message.role === 'user' && message.source.kind === 'plugin' && message.source.plugin === SUMMARY_PLUGIN ? 'summary' : 'message'
}

const isSame = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b)
