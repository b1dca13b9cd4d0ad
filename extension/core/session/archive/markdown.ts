import { stringifyJson } from '../../../base/json.ts'
import { clipped, fitEnds } from '../../../base/text.ts'
import type { SessionEvent } from '../../log/event.ts'
import type { ToolCallBlock } from '../../log/message.ts'
import type {} from '../../tools/code-dispatch.ts'
import { promptText } from '../titles.ts'

/** UTF-8 bytes of one output, or of one call's arguments. */
const outputCaps = { headBytes: 1_500, tailBytes: 500 }

/** The talk as a document: the words of both sides whole, what was done in short. What compaction hid from the model is there. */
export function markdownOf(facts: { readonly title: string; readonly id: string; readonly cwd: string | undefined; readonly createdAt: number }, events: readonly SessionEvent[]): string {
  const known: Known = { calls: new Map(), inside: new Map() }
  const parts = events.flatMap((event) => partOf(event, known) ?? [])
  const about = [`Session ${facts.id}`, new Date(facts.createdAt).toISOString().slice(0, 16).replace('T', ' '), ...(facts.cwd === undefined ? [] : [`in \`${facts.cwd}\``])]
  return `${[`# ${facts.title}`, `*${about.join(', ')}*`, ...parts].join('\n\n')}\n`
}

interface Known {
  readonly calls: Map<string, ToolCallBlock>
  /** What the program of a call called, in order, by that call. */
  readonly inside: Map<string, string[]>
}

function partOf(event: SessionEvent, { calls, inside }: Known): string | null {
  if (event.surfaceOp !== undefined && event.surfaceOp !== 'append') return null
  switch (event.type) {
    case 'user/message': {
      if (event.data.source.kind !== 'user') return null
      const images = event.data.content.filter(({ type }) => type === 'image').length
      return `## You\n\n${promptText(event.data).trim()}${images === 0 ? '' : `\n\n*${images} image${images === 1 ? '' : 's'}*`}`
    }
    case 'assistant/message': {
      for (const block of event.data.message.content) if (block.type === 'tool-call') calls.set(block.id, block)
      const text = event.data.message.content.flatMap((block) => (block.type === 'text' && block.text.trim() !== '' ? [block.text.trim()] : [])).join('\n\n')
      return text === '' ? null : `## Bosun\n\n${text}`
    }
    case 'tool/code-dispatch': {
      const { parentCallId, name, arguments: args, isError } = event.data
      inside.set(parentCallId, [...(inside.get(parentCallId) ?? []), `- **${name}**${isError ? ' failed' : ''} ${inline(stringifyJson(args))}`])
      return null
    }
    case 'tool/result': {
      const [{ callId, content, isError }] = event.data.message.content
      const call = calls.get(callId)
      const output = content.map((block) => (block.type === 'text' ? block.text : '[image]')).join('\n').trim()
      const head = `**${call?.name ?? 'A tool'}**${isError ? ' failed' : ''}`
      const called = inside.get(callId)
      return [head, ...(call === undefined ? [] : [fenced(call.arguments, 'json')]), ...(called === undefined ? [] : [`It called:\n\n${called.join('\n')}`]), ...(output === '' ? [] : [fenced(output, '')])].join('\n\n')
    }
    case 'turn/end':
      return event.data.reason.kind === 'completed' ? null : `*The turn ended: ${event.data.reason.kind}.*`
    default:
      return null
  }
}

/** On one line, between more backticks than stand beside each other in it. */
function inline(text: string): string {
  const shown = clipped(text, 200)
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `${fence}${shown}${fence}` : `${fence} ${shown} ${fence}`
}

/** A fence that is longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const { head, tail, omittedBytes } = fitEnds(text, outputCaps)
  return `${fence}${language}\n${omittedBytes === 0 ? head : `${head}\n… ${omittedBytes} bytes more …\n${tail}`}\n${fence}`
}
