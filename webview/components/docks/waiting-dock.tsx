import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { WaitingDraft } from '../../../extension/protocol/view-state.ts'
import { plural, t } from '../../l10n.ts'
import { waitingItems, type WaitingItem } from '../../store/waiting-items.ts'
import { useApp } from '../app-context.ts'
import { Icon } from '../icon.tsx'
import { ApprovalForm } from './approvals-dock.tsx'
import { PlanReview } from './plan-dock.tsx'
import { QuestionForm } from './questions-dock.tsx'

/** Everything that waits for the person, of every session. One is open; the others are a line each, with a key. */
export function WaitingDock() {
  const { store, actions } = useApp()
  const chosenId = useSignal<string | null>(null)
  /** As this page left them; the host tells only others. */
  const drafts = useRef(new Map<string, WaitingDraft>())
  const approvals = store.state.approvals.value
  const items = waitingItems({ approvals, plan: store.state.planReview.value, sets: store.state.questions.value })
  const open = items.find(({ id }) => id === chosenId.value) ?? items[0]
  if (open === undefined) return null
  const choose = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement || event.ctrlKey || event.metaKey || event.altKey) return
    const next = items[Number(event.key) - 1]
    if (next !== undefined) chosenId.value = next.id
  }
  // What the person is at stays before them, whatever more comes meanwhile.
  const stay = () => void (chosenId.value = open.id)
  const keep = (draft: WaitingDraft) => {
    drafts.current.set(open.id, draft)
    actions.keepWaiting(open.id, draft)
  }
  const list = items.length > 1 && <WaitingList items={items} open={open} onChoose={(id) => (chosenId.value = id)} />
  const draft = drafts.current.get(open.id)
  return (
    <div class="waiting" onFocusIn={stay} onKeyDown={choose}>
      {open.kind === 'approval' && (
        <section class="dock approvals" role="region" aria-label={t('Approvals')} tabIndex={-1}>
          {list}
          <ApprovalForm key={open.id} approval={open.approval} all={approvals} draft={draft ?? open.approval.draft} onDraft={keep} />
        </section>
      )}
      {open.kind === 'plan' && <PlanReview key={open.id} plan={open.plan} list={list} draft={draft ?? open.plan.draft} onDraft={keep} />}
      {open.kind === 'question' && (
        <section class="dock questions" role="region" aria-label={t('Questions')} tabIndex={-1}>
          {list}
          <QuestionForm key={open.id} set={open.set} draft={draft ?? open.set.draft} onDraft={keep} />
        </section>
      )}
    </div>
  )
}

const icons = { approval: 'shield', plan: 'checklist', question: 'question' } as const satisfies Readonly<Record<WaitingItem['kind'], string>>

function WaitingList({ items, open, onChoose }: { readonly items: readonly WaitingItem[]; readonly open: WaitingItem; readonly onChoose: (id: string) => void }) {
  return (
    <ol class="approval-list" aria-label={plural(items.length, '{0} waits for you', '{0} wait for you')}>
      {items.map((item, index) => (
        <li key={item.id}>
          <button type="button" class="approval-tab" aria-current={item === open ? 'true' : undefined} onClick={() => onChoose(item.id)}>
            <kbd>{index + 1}</kbd>
            <Icon name={icons[item.kind]} />
            <span class="approval-tab-text" dir="auto">
              {item.line}
            </span>
            {item.who !== null && (
              <span class="approval-tab-who" dir="auto">
                {item.who}
              </span>
            )}
          </button>
        </li>
      ))}
    </ol>
  )
}
