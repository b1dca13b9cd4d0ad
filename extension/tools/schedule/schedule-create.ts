import { clipped } from '../../base/text.ts'
import type { Approvals } from '../../core/policy/approval.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import type { BodyExecution, ToolDefinition } from '../../core/tools/definition.ts'
import type { CreateArgs } from '../../features/schedule/request.ts'
import type { ScheduleFailure, Schedules } from '../../features/schedule/service.ts'
import { presentCall, presentResult } from './schedule-create.card.ts'
import { compact, failureSchema, viewSchema } from './schedule-schema.ts'

const text = { type: 'string', required: true } as const

/** `schedule_create`: a reminder of this session, once or again and again. Source: agent tools specification 5.2, 12.12. */
export const createScheduleCreate = (schedules: Pick<Schedules, 'create' | 'read' | 'limits'>, approvals: () => Pick<Approvals, 'request'> | undefined): ToolDefinition =>
  defineTool({
    name: 'schedule_create',
    description:
      'Set a reminder that comes back into this session as a message. Give exactly one of after_seconds, every_seconds, at, calendar. ' +
      'It comes while the session is open and idle, else when it is opened again.',
    parameters: {
      prompt: { type: 'string', required: true, description: 'What to remind of.' },
      after_seconds: { type: 'number' },
      every_seconds: { type: 'number', description: '300 or more.' },
      at: {
        description: 'YYYY-MM-DDTHH:mm:ss with Z or an offset, or a wall time in an IANA zone.',
        oneOf: [{ type: 'string' }, { type: 'object', properties: { date: text, time: { ...text, description: 'HH:mm:ss' }, time_zone: text }, additionalProperties: false }],
      },
      calendar: {
        type: 'object',
        description: 'rule: five cron fields ("0 9 * * 1-5") or a recurrence rule ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO;BYHOUR=9").',
        properties: { rule: text, time_zone: text },
        additionalProperties: false,
      },
      action: { type: 'string', enum: ['tell', 'do'], description: 'do: a task for you, which the person is asked to approve now.' },
      catch_up: { type: 'string', enum: ['once', 'skip'], description: 'When its time went by unattended: once (default) or skip.' },
    },
    output: {
      schema: { oneOf: [viewSchema, failureSchema] },
      render: compact,
      presentationMeta: (_args, value) => ('message' in value ? { refused: value.message } : undefined),
    },
    limits: [
      { of: 'the prompt', max: schedules.limits.promptChars, unit: 'characters' },
      { of: 'a calendar rule', max: schedules.limits.ruleChars, unit: 'characters' },
      { of: 'active reminders of a session', max: schedules.limits.active, unit: 'items' },
    ],
    async execute(args, exec) {
      const request = schedules.read(args as CreateArgs)
      if ('code' in request) return request
      const refusal = request.action === 'do' ? await askPerson(approvals(), exec, args as CreateArgs) : null
      return refusal ?? (await schedules.create(exec.agent, request, exec.signal))
    },
    presentCall,
    presentResult,
  })

const failure = (code: ScheduleFailure['code'], message: string): ScheduleFailure => ({ code, message })

/** Null once the person has allowed the task. */
async function askPerson(approvals: Pick<Approvals, 'request'> | undefined, { agent, callId, name, arguments: args, signal }: BodyExecution, { prompt, at, after_seconds, every_seconds, calendar }: CreateArgs): Promise<ScheduleFailure | null> {
  if (agent === undefined || agent.owner !== undefined) return failure('internal_error', 'Only the session of a person holds reminders, and this call comes from none.')
  if (approvals === undefined) return failure('not_approved', 'Nobody can be asked here, so no task can be planned. Set a reminder with action tell instead.')
  const when =
    calendar !== undefined
      ? `by the rule ${calendar.rule} (${calendar.time_zone})`
      : every_seconds !== undefined
        ? `every ${every_seconds} seconds`
        : after_seconds !== undefined
          ? `in ${after_seconds} seconds`
          : typeof at === 'string'
            ? `at ${at}`
            : `at ${at?.date} ${at?.time} (${at?.time_zone})`
  const answer = await approvals.request({
    agent,
    toolName: name,
    callId,
    arguments: args,
    signal,
    // All of it stands on the card below.
    details: { effect: `Work by itself ${when}: ${clipped(prompt.trim().replaceAll(/\s+/g, ' '), 120)}`, why: 'A planned task runs without another word from you, with the permissions that the session has then.', mustAsk: true },
  })
  signal.throwIfAborted()
  if (answer.outcome === 'allowed-once') return null
  const note = answer.outcome === 'rejected' && answer.note !== undefined ? ` They said: ${answer.note}` : ''
  return failure('not_approved', `The person did not allow the task, so nothing was planned.${note}`)
}
