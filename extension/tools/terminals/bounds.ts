import { fitEnds, utf8Length } from '../../base/text.ts'
import type { ToolContent } from '../../core/log/message.ts'
import type { Execution, ToolLimit, ToolResult } from '../../core/tools/definition.ts'

/** UTF-8 bytes of a complete result, a failed one too. */
export const MAX_RESULT_BYTES = 262_144
/** Of every tool whose result `boundResult` bounds. */
export const resultLimit: ToolLimit = { of: 'a complete result', max: MAX_RESULT_BYTES, unit: 'bytes' }

/** The last word on a result: both ends of a text that is too long. */
export function boundResult(_exec: Execution, { content }: ToolResult): readonly ToolContent[] | undefined {
  if (content.every((block) => block.type !== 'text' || block.text.length * 3 <= MAX_RESULT_BYTES)) return undefined
  return content.map((block) => (block.type === 'text' ? { ...block, text: bounded(block.text) } : block))
}

function bounded(text: string): string {
  if (utf8Length(text) <= MAX_RESULT_BYTES) return text
  const notice = (bytes: number) => `\n[${bytes} bytes are left out here]\n`
  const room = MAX_RESULT_BYTES - utf8Length(notice(Number.MAX_SAFE_INTEGER))
  const { head, tail, omittedBytes } = fitEnds(text, { headBytes: Math.floor(room / 2), tailBytes: Math.floor(room / 2) })
  return `${head}${notice(omittedBytes)}${tail}`
}
