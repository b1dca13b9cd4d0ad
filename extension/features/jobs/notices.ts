import { fitBytes, fitTailBytes, utf8Length } from '../../base/text.ts'
import type { UserMessage } from '../../core/log/message.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { Job } from './service.ts'

const MAX_NOTICE_BYTES = 2_000
const MAX_LINE_BYTES = 500

/** Tells the model that a job ended. The id and how to get the output survive any cap; the label gives way. */
export function endNotice(messageId: string, job: Job, { limitBytes = MAX_NOTICE_BYTES, isByPerson = false }: { readonly limitBytes?: number; readonly isByPerson?: boolean } = {}): UserMessage {
  const outcome = `${isByPerson ? 'stopped by the person, ' : ''}${job.status}${job.detail === undefined ? '' : `, ${job.detail}`}`
  const text = (label: string) => `Background job ${job.id} [${job.kind}] ended (${outcome})${label}. Fetch its output with job_output, job_id "${job.id}".`
  const room = Math.max(0, limitBytes - utf8Length(text(': ')))
  const label = fitBytes(job.label, room).text
  return notice(messageId, text(label === '' ? '' : `: ${label}`), `Job ${job.id} ended (${outcome})`)
}

/** Tells the model that a line of a job matched what it waits for. */
export function matchNotice(messageId: string, job: Job, line: string, isLast: boolean): UserMessage {
  const text = `Background job ${job.id} wrote a line that you asked to be told of:\n${fitBytes(line, MAX_LINE_BYTES).text}${isLast ? '\nYou are not told of further ones of this job.' : ''}`
  return notice(messageId, text, `Job ${job.id}: ${line}`)
}

/** Tells the model that a job waits for input, so that it need not wait for the job. */
export function waitsNotice(messageId: string, job: Job, how: 'known' | 'likely', lastOutput: string): UserMessage {
  const state = how === 'known' ? 'waits for input' : 'has been silent for a while after what looks like a question, so it likely waits for input'
  const next = job.takesInput ? `Answer it with job_output, job_id "${job.id}" and input, or stop it with job_kill.` : 'It takes no input. Stop it with job_kill and run it so that it asks nothing.'
  return notice(messageId, `Background job ${job.id} ${state}. It wrote last:\n${fitTailBytes(lastOutput, MAX_LINE_BYTES).text}\n${next}`, `Job ${job.id} waits for input`)
}

/** Tells the model that the person started a job again. */
export const restartNotice = (messageId: string, before: Job, after: Job): UserMessage =>
  notice(messageId, `The person started background job ${before.id} again; it runs as ${after.id} now: ${fitBytes(after.label, MAX_LINE_BYTES).text}`, `Job ${before.id} was started again as ${after.id}`)

/** A job of an earlier host, and what has become of its program. */
export interface Orphan {
  readonly id: string
  readonly label: string
  readonly pid?: number
  readonly startedAt?: number
  readonly fate: 'gone' | 'ended' | 'alive'
}

/** Tells the model of a resumed session that jobs did not outlive the last host, or that one did. */
export function orphanNotice(messageId: string, orphans: readonly Orphan[]): UserMessage {
  const line = ({ id, label, pid, startedAt, fate }: Orphan) => {
    const facts = [...(pid === undefined ? [] : [`process ${pid}`]), ...(startedAt === undefined ? [] : [`started ${new Date(startedAt).toISOString()}`])]
    const stillThere = fate === 'alive' ? ' — a process with this id is still alive and could not be ended' : fate === 'ended' ? ' — it was still running and has been ended' : ''
    return `- ${id}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}: ${fitBytes(label, 200).text}${stillThere}`
  }
  return notice(
    messageId,
    `These background jobs were killed when the window closed or reloaded; their output is gone. Start them again if they are still needed.\n${orphans.map(line).join('\n')}`,
    `${orphans.length} background ${orphans.length === 1 ? 'job' : 'jobs'} ended with the window`,
  )
}

const notice = (id: string, text: string, summary: string): UserMessage => noticeMessage({ id, plugin: 'jobs', text, summary })
