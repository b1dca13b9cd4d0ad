import type { Message, ModelRequest } from '../../core/model/contract.ts'

/** The stops of the tour, by the tool call that makes each. The name stands in the id of the call. */
export type Stop = 'plan' | 'list' | 'own' | 'read' | 'search' | 'write' | 'tick' | 'edit' | 'run' | 'done'

export interface StopOutcome {
  readonly isError: boolean
  readonly text: string
  /** What the call was made with. */
  readonly args: Readonly<Record<string, unknown>>
}

/** What the tour has done since the person last spoke, and what it may use. */
export interface TourFacts {
  readonly outcomes: ReadonlyMap<Stop, StopOutcome>
  readonly tools: ReadonlySet<string>
  /** Makes an id that no call in the talk has had. */
  readonly callId: (stop: Stop) => string
}

/** Read the facts off a request. */
export function tourFacts({ messages, tools }: ModelRequest): TourFacts {
  const lastWords = messages.findLastIndex((message) => message.role === 'user' && message.source.kind === 'user')
  const since = messages.slice(lastWords + 1)
  const outcomes = new Map<Stop, StopOutcome>()
  for (const message of since) {
    if (message.role !== 'assistant') continue
    for (const block of message.content) {
      const stop = block.type === 'tool-call' ? stopOf(block.id) : undefined
      if (block.type !== 'tool-call' || stop === undefined) continue
      const result = resultOf(block.id, since)
      if (result !== undefined) outcomes.set(stop, { ...result, args: argsOf(block.arguments) })
    }
  }
  return {
    outcomes,
    tools: new Set(tools.map(({ name }) => name)),
    callId: (stop) => `tour-${messages.length}-${stop}`,
  }
}

const stopOf = (id: string) => /^tour-\d+-(\w+)$/.exec(id)?.[1] as Stop | undefined

function resultOf(callId: string, messages: readonly Message[]): Omit<StopOutcome, 'args'> | undefined {
  for (const message of messages) {
    if (message.role !== 'tool') continue
    const [result] = message.content
    if (result.callId !== callId) continue
    return { isError: result.isError, text: result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n') }
  }
  return undefined
}

function argsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    // The script writes JSON; another text is another's, and says nothing here.
    return {}
  }
}

/** Lines of a listing that are paths. */
export function listedPaths(outcome: StopOutcome | undefined): readonly string[] {
  if (outcome === undefined || outcome.isError) return []
  return outcome.text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^[(<[]|^no (files|matches)|:$/i.test(line))
}

const readable = [/(^|\/)readme(\.\w+)?$/i, /\.(md|txt|rst)$/i, /\.(ts|tsx|js|mjs|py|go|rs|java|rb|c|h|cpp|cs|php|sh)$/i, /\.(json|ya?ml|toml|html|css)$/i]

/** The file of the workspace that a visitor would want to see first. */
export function fileToRead(paths: readonly string[]): string | undefined {
  const own = paths.filter((path) => !/(^|\/)(bosun-tour|package-lock|\.)/.test(path))
  const byDepth = own.toSorted((a, b) => a.split('/').length - b.split('/').length || a.localeCompare(b))
  for (const kind of readable) {
    const found = byDepth.find((path) => kind.test(path))
    if (found !== undefined) return found
  }
  return undefined
}

/** A word of the file that was read, for the search. */
export function wordToFind(outcome: StopOutcome | undefined): string {
  if (outcome === undefined || outcome.isError) return 'the'
  const lines = outcome.text.split('\n').flatMap((line) => /^\s*\d+[:\t|]\s?(.*)$/.exec(line)?.[1] ?? [])
  const words = lines.join(' ').match(/\p{L}{4,24}/gu) ?? []
  return words.toSorted((a, b) => b.length - a.length)[0] ?? 'the'
}

/** A name for the tour's file that nobody has. */
export function freeName(taken: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? 'bosun-tour.md' : `bosun-tour-${number}.md`
    if (!taken.some((path) => path === name || path.endsWith(`/${name}`))) return name
  }
}
