import { clipped, fitTailBytes } from '../../base/text.ts'
import type { SessionEvent } from '../../core/log/event.ts'

/** What was said in a session, newest last, as much as fits from its end. The work between is told by the names of its tools. */
export function sessionTalk(events: readonly SessionEvent[], maxBytes: number): { readonly text: string; readonly omittedBytes: number } {
  const parts = events.flatMap((event): readonly string[] => {
    switch (event.type) {
      case 'user/message':
        return event.data.source.kind === 'user' ? [`Person: ${textOf(event.data.content)}`] : []
      case 'assistant/message': {
        const { content } = event.data.message
        const said = textOf(content)
        const calls = content.flatMap((block) => (block.type === 'tool-call' ? [`${block.name}(${oneLine(block.arguments)})`] : []))
        return [...(said === '' ? [] : [`Assistant: ${said}`]), ...(calls.length === 0 ? [] : [`[used ${calls.join(', ')}]`])]
      }
      default:
        return []
    }
  })
  return fitTailBytes(parts.join('\n\n'), maxBytes)
}

const textOf = (content: readonly { readonly type: string; readonly text?: string }[]): string =>
  content.flatMap((block) => (block.type === 'text' && block.text !== undefined ? [block.text] : [])).join('\n').trim()

const MAX_ARGUMENTS = 120
const oneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ')
  return clipped(line, MAX_ARGUMENTS)
}
