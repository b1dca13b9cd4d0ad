import { argumentsFrom } from '../../base/call-arguments.ts'
import type { SessionEvent } from '../../core/log/event.ts'
import type { Tools } from '../../core/tools/service.ts'
import type { Child } from './child-book.ts'
import { grownTail, lastLineOf } from './last-line.ts'

/** What an event says of what a child does now; undefined when it says nothing new. */
export function lineFrom(tools: Pick<Tools, 'get'>, child: Child, event: SessionEvent): string | undefined {
  switch (event.type) {
    case 'step/start':
      child.tail = ''
      return undefined
    case 'assistant/chunk':
      if (event.data.chunk.type !== 'text-delta') return undefined
      child.tail = grownTail(child.tail, event.data.chunk.delta)
      return lastLineOf(child.tail)
    case 'assistant/message':
      return lastLineOf(event.data.message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'))
    case 'tool/call':
      return callTitle(tools, child, event.data)
    default:
      return undefined
  }
}

/** As the card of the call is titled. */
function callTitle(tools: Pick<Tools, 'get'>, { agent }: Child, { name, arguments: raw }: SessionEvent<'tool/call'>['data']): string {
  const args = argumentsFrom(raw)
  return lastLineOf(tools.get(name, agent?.scope ?? null)?.presentCall?.(args)?.title ?? name) ?? name
}
