import { fitBytes, utf8Length } from '../../base/text.ts'
import type { UserMessage } from '../../core/log/message.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { Job } from './service.ts'

const MAX_NOTICE_BYTES = 2_000

/** Tells the model that a job ended. The id and how to get the output survive any cap; the label gives way. */
export function endNotice(messageId: string, job: Job, limitBytes = MAX_NOTICE_BYTES): UserMessage {
  const outcome = `${job.status}${job.detail === undefined ? '' : `, ${job.detail}`}`
  const text = (label: string) => `Background job ${job.id} [${job.kind}] ended (${outcome})${label}. Fetch its output with job_output, job_id "${job.id}".`
  const room = Math.max(0, limitBytes - utf8Length(text(': ')))
  const label = fitBytes(job.label, room).text
  return notice(messageId, text(label === '' ? '' : `: ${label}`), `Job ${job.id} ended (${outcome})`)
}

/** Tells the model of a resumed session that jobs did not outlive the last host. */
export function orphanNotice(messageId: string, jobs: readonly { readonly id: string; readonly label: string }[]): UserMessage {
  const list = jobs.map(({ id, label }) => `- ${id}: ${fitBytes(label, 200).text}`).join('\n')
  return notice(
    messageId,
    `These background jobs were killed when the window closed or reloaded; their output is gone. Start them again if they are still needed.\n${list}`,
    `${jobs.length} background ${jobs.length === 1 ? 'job' : 'jobs'} ended with the window`,
  )
}

const notice = (id: string, text: string, summary: string): UserMessage => noticeMessage({ id, plugin: 'jobs', text, summary })
