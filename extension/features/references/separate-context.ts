import type { ContentBlock, UserMessage } from '../../core/log/message.ts'

/**
 * A message and what goes with it, each with its own source: the words first, then what they name.
 *
 * The same message where there is nothing to separate.
 */
export function separateContext(message: UserMessage, newId: () => string): readonly UserMessage[] {
  const isContext = (block: ContentBlock) => block.type === 'text' && block.source !== undefined
  if (!message.content.some(isContext)) return [message]
  const words = message.content.filter((block) => !isContext(block))
  return [
    ...(words.length === 0 ? [] : [{ ...message, content: words }]),
    ...message.content.flatMap((block): readonly UserMessage[] =>
      block.type === 'text' && block.source !== undefined ? [{ id: newId(), role: 'user', content: [{ type: 'text', text: block.text }], source: block.source }] : [],
    ),
  ]
}
