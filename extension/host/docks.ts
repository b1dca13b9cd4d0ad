import { visibleText } from '../base/visible-text.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { UserMessage } from '../core/log/message.ts'
import type { ApprovalRequest } from '../core/policy/approval.ts'
import type { Agent } from '../core/session/agent.ts'
import type { PlannedChange } from '../core/tools/definition.ts'
import type { PendingQuestions } from '../features/questions/service.ts'
import type { ToolCallView } from '../protocol/cards.ts'
import type { ApprovalView, QueuedMessageView, QuestionSetView, WaitingDraft } from '../protocol/view-state.ts'
import { clampCallView } from './clamp-view.ts'
import { textOf } from './describe-context.ts'
import { presentCall, type FindPresenters } from './present-tool.ts'

/** An approval as the person sees it: the effect first, in words, also where the policy gave none. */
export function approvalView(
  request: ApprovalRequest,
  context: { readonly find: FindPresenters; readonly l10n: Localization; readonly who: string | null; readonly editable: string | null; readonly hasScript?: boolean; readonly draft?: WaitingDraft | undefined },
): ApprovalView {
  const planned = request.details?.changes ?? []
  const asked = request.arguments === undefined ? null : presentCall(context.find, request.toolName, request.arguments)
  const card = planned.length === 0 ? asked : plannedCard(planned, asked?.title ?? request.toolName)
  const script = card === null ? null : backgroundScript(card)
  const effect = visibleText(request.details?.effect ?? card?.title ?? context.l10n.t('Use {tool}', { tool: request.toolName }))
  return {
    id: request.id,
    callId: request.callId ?? null,
    tool: request.toolName,
    effect: script === null || request.details?.effect === undefined ? effect : context.l10n.t('{effect}, in the background', { effect }),
    why: visibleText(request.details?.why ?? request.reason ?? ''),
    ...(request.details?.covers !== undefined && { covers: visibleText(request.details.covers) }),
    card: card === null ? null : seenCard(script ?? card),
    always: request.details?.always?.map(({ label }) => visibleText(label)) ?? [],
    who: context.who,
    ...(context.who !== null && { sessionId: request.agent.id }),
    ...(context.draft !== undefined && { draft: context.draft }),
    ...((planned.length > 0 || context.hasScript === true) && { canPreview: true as const }),
    ...(context.editable !== null && { editable: context.editable }),
  }
}

/** A command that is to go on in the background, as the whole script that is asked about; null for anything else. */
const backgroundScript = (card: ToolCallView): ToolCallView | null =>
  card.card === 'generic' && card.kind === 'execute' && typeof card.rawInput === 'string' ? { card: 'terminal', title: card.rawInput, ...(card.cwd !== undefined && { cwd: card.cwd }) } : null

/** What is about to run reads as what it is. */
const seenCard = (card: ToolCallView): ToolCallView => ({ ...card, title: visibleText(card.title) })

const plannedCard = (changes: readonly PlannedChange[], title: string): ToolCallView =>
  clampCallView({
    card: 'diff',
    title,
    diffs: changes.flatMap(({ path, hunks }) => hunks.map(({ oldText, newText, oldStart, newStart }) => ({ path, oldText: oldText === '' ? null : oldText, newText, oldStart, newStart }))),
  })

export function questionSetView(
  { id, agent, callId, questions, answersAt }: PendingQuestions,
  { who, draft }: { readonly who: string | null; readonly draft: WaitingDraft | undefined },
): QuestionSetView {
  return {
    id,
    callId: callId ?? null,
    ...(who !== null && { who, sessionId: agent.id }),
    ...(draft !== undefined && { draft }),
    ...(answersAt !== undefined && { answersAt }),
    questions: questions.map((question) => ({
      id: question.id,
      header: question.header ?? null,
      question: question.question,
      options: (question.options ?? []).map(({ label, description }) => ({ label, description: description ?? null })),
      isMultiSelect: question.multi_select === true,
      ...(question.detail !== undefined && { detail: question.detail }),
      ...(question.intent !== undefined && { intent: question.intent }),
    })),
  }
}

/** What the person sent, or the agent that started this one, and the model has not seen yet, next to be delivered first. */
export function queueView(inbox: Agent['inbox']): readonly QueuedMessageView[] {
  const view =
    (target: QueuedMessageView['target']) =>
    (message: UserMessage): readonly QueuedMessageView[] =>
      message.source.kind === 'user' || message.source.kind === 'coordinator' ? [{ id: message.id, text: textOf(message), target, ...imagesOf(message) }] : []
  return [...inbox.nextStep.flatMap(view('next-step')), ...inbox.nextTurn.flatMap(view('next-turn'))]
}

function imagesOf({ content }: UserMessage): Pick<QueuedMessageView, 'images'> {
  const images = content.filter(({ type }) => type === 'image').length
  return images === 0 ? {} : { images }
}
