import * as z from 'zod'
import type { Json } from '../base/json.ts'
import { MAX_MESSAGE_BYTES, type ViewMessage } from '../protocol/messages.ts'
import type { WaitingDraft } from '../protocol/view-state.ts'

export type ParsedMessage =
  | { readonly ok: true; readonly message: ViewMessage }
  | { readonly ok: false; readonly reason: 'too-large'; readonly bytes: number }
  | { readonly ok: false; readonly reason: 'malformed'; readonly detail: string }

const id = z.string().min(1).max(500)
const callId = z.string().min(1).max(2_000)
const text = z.string()
const target = z.enum(['next-turn', 'next-step'])
const index = z.int().min(0)
const location = z.strictObject({ path: z.string().min(1), line: z.int().min(1).exactOptional(), column: z.int().min(1).exactOptional() })
const answer = z.strictObject({ id: z.string(), selected: z.array(z.string()), custom: z.string().exactOptional() })
/** UTF-16 units of one text that the person has begun. */
const draftText = z.string().max(50_000)
/** Also read back from where it is kept over a reload. */
export const waitingDraft: z.ZodType<WaitingDraft> = z.strictObject({
  filled: z.array(z.strictObject({ selected: z.array(z.string().max(2_000)).max(100), custom: draftText, isSkipped: z.boolean() })).max(100).exactOptional(),
  current: index.exactOptional(),
  note: draftText.exactOptional(),
  edited: draftText.exactOptional(),
})

const taskEdit = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('tick'), id, isDone: z.boolean() }),
  z.strictObject({ do: z.literal('move'), id, before: id.nullable() }),
  z.strictObject({ do: z.literal('add'), content: text }),
  z.strictObject({ do: z.literal('remove'), id }),
  z.strictObject({ do: z.literal('note'), id, note: text }),
  z.strictObject({ do: z.literal('take-back'), id }),
  z.strictObject({ do: z.literal('let-go') }),
  z.strictObject({ do: z.literal('dismiss') }),
])
const planAction = z.discriminatedUnion('do', [z.strictObject({ do: z.enum(['open', 'approve', 'discuss']) }), z.strictObject({ do: z.literal('refuse'), feedback: text })])

/** Any JSON; its room holds it to that and to its size. */
const payload = z.custom<Json>((value) => value !== undefined, 'a payload is needed')

const goalForm = { objective: text, maxRounds: z.number().nullable(), maxTokens: z.number().nullable(), maxCost: z.number().nullable(), maxMinutes: z.number().nullable(), checks: z.array(text).max(1_000) }

const viewMessage: z.ZodType<ViewMessage> = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready'), version: z.number() }),
  z.strictObject({ type: z.literal('need-snapshot') }),
  z.strictObject({ type: z.literal('load-older'), before: index, count: z.int().min(1) }),
  z.strictObject({ type: z.literal('send'), id, text, target }),
  z.strictObject({ type: z.literal('completions'), id, kind: z.enum(['@', '/']), query: z.string().max(500) }),
  z.strictObject({ type: z.literal('attach-image'), id, name: z.string().max(500), data: z.string() }),
  z.strictObject({ type: z.literal('attach-selection') }),
  z.strictObject({ type: z.literal('detach'), id }),
  z.strictObject({ type: z.literal('mention'), uris: z.array(z.string().max(4_000)).max(100) }),
  z.strictObject({ type: z.literal('stop') }),
  z.strictObject({ type: z.literal('continue') }),
  z.strictObject({ type: z.literal('retry') }),
  z.strictObject({ type: z.literal('draft'), text }),
  z.strictObject({ type: z.literal('queue-edit'), id, text }),
  z.strictObject({ type: z.literal('queue-delete'), id }),
  z.strictObject({ type: z.literal('queue-steer'), id }),
  z.strictObject({
    type: z.literal('approval'),
    id,
    answer: z.enum(['allow', 'deny']),
    always: index.exactOptional(),
    note: text.exactOptional(),
    edited: text.exactOptional(),
  }),
  z.strictObject({ type: z.literal('approval-preview'), id, path: z.string().exactOptional() }),
  z.strictObject({ type: z.literal('question'), id, answers: z.array(answer).nullable() }),
  z.strictObject({ type: z.literal('task'), edit: taskEdit }),
  z.strictObject({ type: z.literal('task-history') }),
  z.strictObject({ type: z.literal('plan'), id, action: planAction }),
  z.strictObject({ type: z.literal('plan-allow-once'), callId }),
  z.strictObject({ type: z.literal('waiting-draft'), id, draft: waitingDraft }),
  z.strictObject({ type: z.literal('open-location'), location }),
  z.strictObject({ type: z.literal('open-diff'), callId, path: z.string().exactOptional() }),
  z.strictObject({ type: z.literal('open-output'), callId }),
  z.strictObject({ type: z.literal('open-input'), callId }),
  z.strictObject({ type: z.literal('open-search'), callId }),
  z.strictObject({
    type: z.literal('command'),
    of: z.union([z.strictObject({ callId }), z.strictObject({ jobId: id })]),
    action: z.enum(['stop', 'send-input', 'to-background', 'open-terminal', 'restart']),
  }),
  z.strictObject({ type: z.literal('reminder'), id, action: z.enum(['run', 'snooze', 'pause', 'resume', 'edit', 'delete']) }),
  z.strictObject({ type: z.literal('reminder-new') }),
  z.strictObject({ type: z.literal('agent'), id, action: z.enum(['interrupt', 'take-over']) }),
  z.strictObject({ type: z.literal('plugin-code'), frameId: id }),
  z.strictObject({ type: z.literal('plugin-call'), frameId: id, id: index, method: z.string().max(200), payload }),
  z.strictObject({ type: z.literal('plugin-frame'), frameId: id, state: z.enum(['ready', 'failed']), message: z.string().max(2_000).exactOptional() }),
  z.strictObject({ type: z.literal('plugin-draw'), frameId: id }),
  z.strictObject({ type: z.literal('plugin-stop'), pluginId: id }),
  z.strictObject({ type: z.literal('open-run'), runId: id }),
  z.strictObject({ type: z.literal('open-port'), jobId: id, port: index }),
  z.strictObject({ type: z.literal('open-link'), url: z.string().max(20_000) }),
  z.strictObject({ type: z.literal('need-image'), attachmentId: id }),
  z.strictObject({ type: z.literal('open-image'), attachmentId: id }),
  z.strictObject({ type: z.literal('review-turn'), turn: index, path: z.string().exactOptional() }),
  z.strictObject({ type: z.literal('review'), verb: z.enum(['keep', 'undo']), what: z.union([z.strictObject({ callId: id }), z.strictObject({ turn: index })]) }),
  z.strictObject({ type: z.literal('restore-to'), turn: index }),
  z.strictObject({ type: z.literal('goal'), action: z.enum(['pause', 'resume', 'complete', 'clear', 'extend']), id, revision: z.int().min(1) }),
  z.strictObject({ type: z.literal('goal-create'), ...goalForm }),
  z.strictObject({ type: z.literal('goal-edit'), id, revision: z.int().min(1), ...goalForm }),
  z.strictObject({ type: z.literal('copy'), text }),
  z.strictObject({ type: z.literal('session-new') }),
  z.strictObject({ type: z.literal('session-open'), id, seq: index.exactOptional() }),
  z.strictObject({ type: z.literal('session-find'), id, query: z.string().max(1_000) }),
  z.strictObject({ type: z.literal('session-rename'), id, title: text }),
  z.strictObject({ type: z.literal('session-delete'), id }),
  z.strictObject({ type: z.literal('session-archive'), id, isArchived: z.boolean() }),
  z.strictObject({ type: z.literal('session-export') }),
  z.strictObject({ type: z.literal('session-fork'), rowId: id }),
  z.strictObject({ type: z.literal('prompt-again'), rowId: id }),
  z.strictObject({ type: z.literal('pick-model') }),
  z.strictObject({ type: z.literal('pick-preset') }),
  z.strictObject({ type: z.literal('pick-permission') }),
  z.strictObject({ type: z.literal('rules-show') }),
  z.strictObject({ type: z.literal('rules-close') }),
  z.strictObject({ type: z.literal('rule-revoke'), id: text }),
  z.strictObject({ type: z.literal('manage-trust') }),
  z.strictObject({ type: z.literal('open-settings') }),
  z.strictObject({ type: z.literal('open-log') }),
  z.strictObject({ type: z.literal('reload-view') }),
  z.strictObject({ type: z.literal('view-error'), text: z.string() }),
  z.strictObject({ type: z.literal('notice-action'), id, action: id }),
  z.strictObject({ type: z.literal('notice-close'), id }),
])

/**
 * What a page sent, checked.
 *
 * Errors: none; a message that is too large or not one of the protocol's is told by value.
 */
export function parseViewMessage(raw: unknown): ParsedMessage {
  const bytes = bytesOf(raw)
  if (bytes === null) return { ok: false, reason: 'malformed', detail: 'not JSON' }
  if (bytes > MAX_MESSAGE_BYTES) return { ok: false, reason: 'too-large', bytes }
  const outcome = viewMessage.safeParse(raw)
  if (outcome.success) return { ok: true, message: outcome.data }
  const issue = outcome.error.issues[0]
  return { ok: false, reason: 'malformed', detail: issue === undefined ? 'unknown' : `${issue.path.join('.')}: ${issue.message}` }
}

function bytesOf(raw: unknown): number | null {
  try {
    const json = JSON.stringify(raw) as string | undefined
    if (json === undefined) return null
    // Counting exactly costs a copy; a text this short cannot be over the cap, whatever its characters.
    return json.length * 3 <= MAX_MESSAGE_BYTES ? json.length : new TextEncoder().encode(json).length
  } catch {
    // A cycle or a value that JSON has no word for: not a message of ours.
    return null
  }
}
