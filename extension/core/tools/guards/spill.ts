import { fitEnds, utf8Length } from '../../../base/text.ts'
import type { BlobStore } from '../../../capabilities/blob-store.ts'
import type { Logger } from '../../../capabilities/logger.ts'
import type { Plugin } from '../../kernel/plugin.ts'
import type { ToolContent } from '../../log/message.ts'
import type { Agent } from '../../session/agent.ts'
import type { Execution, PostExecuteDecision, ToolResult } from '../definition.ts'
import type {} from '../service.ts'

export interface SpillGuardOptions {
  readonly blobs: Pick<BlobStore, 'putSpill'>
  readonly logger: Logger
  /** UTF-8 bytes of text that a result may put before the model; read at each call. 0: no cap. */
  readonly maxInlineBytes: () => number
}

/** Pages its own output, so that a saved page would only be read again. */
const UNCAPPED_TOOL = 'read'

/** UTF-8 bytes of a text result of this tool that stay before the model, of what results may have; null: as many as there are. */
export const inlineCapOf = (tool: string, maxInlineBytes: number): number | null => (tool === UNCAPPED_TOOL || maxInlineBytes === 0 ? null : maxInlineBytes)

/**
 * Saves oversize text results whole and leaves head, tail and a notice in their place.
 *
 * The replacement, notice included, is at most the cap and never splits a character. Best effort: without an owner, or when
 * saving fails, the original stays. The canonical value never changes.
 * Source: runtime specification 19, capability specification 0.4.
 */
export function spillGuard({ blobs, logger, maxInlineBytes }: SpillGuardOptions): Plugin {
  return {
    name: 'spill',
    inject: ['tools'],
    apply(ctx) {
      ctx.on(
        'tools/post-execute',
        (exec, result, next) => (exec.agent === undefined || exec.parent !== undefined || exec.name === UNCAPPED_TOOL ? next() : capped(exec, exec.agent, result, next)),
        { prepend: true },
      )
      // What the log keeps of the calls of a program, also of those that read.
      ctx.on('tools/code-dispatch-log', async (news, next) => {
        const content = await next()
        const cap = maxInlineBytes()
        const text = cap === 0 ? undefined : plainText(content, cap)
        const preview = text === undefined ? undefined : await spilled(news, news.agent.id, text, cap)
        return preview === undefined ? content : [{ type: 'text', text: preview }]
      })
    },
  }

  async function capped(exec: Execution, agent: Agent, result: ToolResult, next: () => Promise<PostExecuteDecision>): Promise<PostExecuteDecision> {
    const decision = await next()
    const cap = maxInlineBytes()
    if (cap === 0 || decision.kind !== 'accept' || decision.value !== undefined) return decision
    const text = plainText(decision.content ?? result.content, cap)
    const preview = text === undefined ? undefined : await spilled(exec, agent.id, text, cap)
    return preview === undefined ? decision : { ...decision, content: [{ type: 'text', text: preview }] }
  }

  async function spilled(exec: Pick<Execution, 'name'>, sessionId: string, text: string, cap: number): Promise<string | undefined> {
    try {
      const { path } = await blobs.putSpill(sessionId, `${exec.name}-result.txt`, text)
      return previewOf(text, path, cap)
    } catch (error) {
      logger.warn('An oversize result could not be saved; the model gets all of it.', { tool: exec.name, error: String(error) })
      return undefined
    }
  }
}

/** The text of a result that is nothing but text, and more than the cap. */
function plainText(content: readonly ToolContent[], cap: number): string | undefined {
  const texts: string[] = []
  for (const block of content) {
    if (block.type !== 'text') return undefined
    texts.push(block.text)
  }
  const text = texts.join('\n')
  return utf8Length(text) > cap ? text : undefined
}

/** Head, gap, tail, blank line, notice. Undefined when not even the notice fits. */
function previewOf(text: string, path: string, cap: number): string | undefined {
  const total = utf8Length(text)
  // The number of omitted bytes has at most as many digits as the total, so the notice with the total sets the room.
  const room = cap - utf8Length(GAP) - utf8Length(BLANK_LINE) - utf8Length(notice(total, path))
  if (room < 0) return undefined
  const { head, tail, omittedBytes } = fitEnds(text, { headBytes: Math.ceil(room / 2), tailBytes: Math.floor(room / 2) })
  return head + GAP + tail + BLANK_LINE + notice(omittedBytes, path)
}

const GAP = '\n[…]\n'
const BLANK_LINE = '\n\n'
const notice = (omittedBytes: number, path: string) =>
  `[${omittedBytes} bytes in the middle are left out. All of this result is in ${path}: use read with offset and limit, or grep, on that file.]`
