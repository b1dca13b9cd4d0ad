import * as z from 'zod'
import type { Undo } from '../base/undo.ts'
import type { Clock } from '../capabilities/clock.ts'
import type { PageHostMessage, PageMessage, PageView } from '../protocol/editor-page.ts'
import { PROTOCOL_VERSION } from '../protocol/messages.ts'
import type { ViewChannel } from './view-channel.ts'

/** Between two views of one page. */
export const PAGE_MS = 100

/** What stands behind one page of the editor area. */
export interface PageSource {
  view(): PageView
  onDidChange(listener: () => void): Undo
  /** What the person wants of it. Errors: told to the person. */
  handle(message: Exclude<PageMessage, { type: 'ready' | 'reload-view' | 'view-error' }>): Promise<void>
}

export interface PageFeedOptions {
  readonly channel: ViewChannel<PageHostMessage>
  readonly source: PageSource
  readonly clock: Pick<Clock, 'schedule'>
  readonly onError: (error: unknown) => void
  readonly onRefused: (detail: string) => void
}

const pageMessage: z.ZodType<PageMessage> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready'), version: z.number() }),
  z.strictObject({ type: z.literal('reload-view') }),
  z.strictObject({ type: z.literal('view-error'), text: z.string().max(20_000) }),
  z.strictObject({ type: z.literal('open-session') }),
  z.strictObject({ type: z.literal('workflow'), action: z.enum(['cancel', 'resume', 'show-script']) }),
  z.strictObject({ type: z.literal('workflow-member'), seq: z.int().min(1), open: z.enum(['result', 'transcript', 'changes']) }),
  z.strictObject({ type: z.literal('workflow-restore'), seq: z.int().min(1) }),
  z.strictObject({ type: z.literal('team-move'), taskId: z.string().max(40), revision: z.int().min(1), to: z.enum(['pending', 'in_progress', 'completed']) }),
  z.strictObject({ type: z.literal('team-task'), taskId: z.string().max(40), revision: z.int().min(1), action: z.enum(['assign', 'delete']) }),
  z.strictObject({ type: z.literal('team-add-task') }),
  z.strictObject({ type: z.literal('team-member'), memberId: z.string().max(200), action: z.enum(['transcript', 'message', 'interrupt']) }),
  z.strictObject({ type: z.literal('team-dismiss') }),
])

/** Feed one page: its view when it is ready, and again when it changed, while it can be seen. */
export function createPageFeed({ channel, source, clock, onError, onRefused }: PageFeedOptions): Undo {
  let isReady = false
  let sent = ''
  let timer: Undo | null = null
  const send = () => {
    timer = null
    // The editor throws a hidden page away; it says that it is ready when it is there again.
    if (!channel.isVisible()) isReady = false
    if (!isReady) return
    const view = source.view()
    const text = JSON.stringify(view)
    if (text === sent) return
    sent = text
    channel.post({ type: 'page', version: PROTOCOL_VERSION, view })
  }
  const undos = [
    source.onDidChange(() => (timer ??= clock.schedule(PAGE_MS, send))),
    channel.onMessage((raw) => {
      const parsed = pageMessage.safeParse(raw)
      if (!parsed.success) {
        onRefused(parsed.error.message)
        return
      }
      const message = parsed.data
      if (message.type === 'ready') {
        isReady = true
        sent = ''
        send()
      } else if (message.type === 'reload-view') channel.reload()
      else if (message.type === 'view-error') onError(new Error(message.text))
      else source.handle(message).catch(onError)
    }),
  ]
  return () => {
    isReady = false
    timer?.()
    for (const undo of undos) undo()
  }
}
