import { useComputed, useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { assertNever } from '../../../extension/base/assert-never.ts'
import { markedCode, withoutMarks } from '../../../extension/base/marked-code.ts'
import type { FileDiff, ToolCallView } from '../../../extension/protocol/cards.ts'
import type { ApprovalView } from '../../../extension/protocol/view-state.ts'
import { DiffCard, diffCounts } from '../../cards/diff-card.tsx'
import { CardContents } from '../../cards/generic-card.tsx'
import { BodyText } from '../../cards/body-text.tsx'
import { plural, t } from '../../l10n.ts'
import { changedPaths } from '../../text/tool-line.ts'
import { useApp } from '../app-context.ts'
import { CodeText } from '../code-text.tsx'
import { Icon } from '../icon.tsx'
import { Menu, MenuAnchor } from '../menu.tsx'
import { OutcomeText } from '../sentence.tsx'

/** Everything that waits for a yes or no. One is open; the others are a line each, with a key. */
export function ApprovalsDock() {
  const { store, actions } = useApp()
  const chosenId = useSignal<string | null>(null)
  const approvals = store.state.approvals.value
  const open = approvals.find(({ id }) => id === chosenId.value) ?? approvals[0]
  const equals = useComputed(() => (open === undefined ? [] : store.state.approvals.value.filter((other) => isSame(other, open)))).value
  if (open === undefined) return null
  const choose = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement || event.ctrlKey || event.metaKey || event.altKey) return
    const next = approvals[Number(event.key) - 1]
    if (next !== undefined) chosenId.value = next.id
  }
  return (
    <section class="dock approvals" role="region" aria-label={t('Approvals')} tabIndex={-1} onKeyDown={choose}>
      {approvals.length > 1 && (
        <ol class="approval-list">
          {approvals.map((approval, index) => (
            <li key={approval.id}>
              <button type="button" class="approval-tab" aria-current={approval === open ? 'true' : undefined} onClick={() => (chosenId.value = approval.id)}>
                <kbd>{index + 1}</kbd>
                <span class="approval-tab-text" dir="auto">
                  {withoutMarks(approval.effect)}
                </span>
              </button>
            </li>
          ))}
        </ol>
      )}
      <Approval key={open.id} approval={open} />
      {equals.length > 1 && (
        <button type="button" class="link approve-equal" onClick={() => equals.forEach(({ id }) => actions.allowOnce(id))}>
          {t('Allow all {0} of these', equals.length)}
        </button>
      )}
    </section>
  )
}

function Approval({ approval }: { readonly approval: ApprovalView }) {
  const { actions } = useApp()
  const isDenying = useSignal(false)
  const isChoosing = useSignal(false)
  const isEditing = useSignal(false)
  const { id, effect, why, who, card, always, editable, canPreview = false } = approval
  return (
    <div class="approval" data-card={card?.card ?? 'generic'} data-tool={approval.tool}>
      <div class="approval-head">
        <Icon name="shield" />
        <span class="approval-effect" dir="auto">
          <Effect text={effect} />
        </span>
      </div>
      {canPreview && card?.card === 'diff' && <ChangesLine diffs={card.diffs} onReview={() => actions.previewApproval(id)} />}
      {card !== null && !isEditing.value && <Means card={card} {...(canPreview && { onOpenFile: (path: string) => actions.previewApproval(id, path) })} />}
      {(why !== '' || who !== null) && (
        <div class="approval-why" dir="auto">
          {who !== null && `${t('For {0}.', who)} `}
          <CodeText text={why} />
        </div>
      )}
      {isEditing.value && editable !== undefined ? (
        <EditForm text={editable} onAllow={(text) => (text === editable ? actions.allowOnce(id) : actions.allowEdited(id, text))} onCancel={() => (isEditing.value = false)} />
      ) : isDenying.value ? (
        <DenyForm onDeny={(note) => actions.deny(id, note)} onCancel={() => (isDenying.value = false)} />
      ) : (
        <div class="buttons">
          <button type="button" class="button-primary" onClick={() => actions.allowOnce(id)}>
            {t('Allow once')}
          </button>
          {always.length > 0 && (
            <MenuAnchor>
              <button type="button" class="button-secondary" aria-haspopup="menu" aria-expanded={isChoosing.value} onClick={() => (isChoosing.value = !isChoosing.value)}>
                {t('Always allow…')}
              </button>
              {isChoosing.value && (
                <Menu
                  label={t('Always allow…')}
                  align="start"
                  opens="up"
                  onClose={() => (isChoosing.value = false)}
                  entries={always.map((label, index) => ({ label, onPick: () => actions.allowAlways(id, index) }))}
                />
              )}
            </MenuAnchor>
          )}
          <button type="button" class="button-secondary" onClick={() => actions.deny(id, '')}>
            {t('Deny')}
          </button>
          {editable !== undefined && (
            <button type="button" class="link" onClick={() => (isEditing.value = true)}>
              {t('Edit…')}
            </button>
          )}
          <button type="button" class="link deny-why" onClick={() => (isDenying.value = true)}>
            {t('Say why not')}
          </button>
        </div>
      )}
    </div>
  )
}

function Effect({ text }: { readonly text: string }) {
  const marked = markedCode(text)
  if (marked === null) return <>{text}</>
  return (
    <>
      {marked.before}
      <code dir="ltr">{marked.code}</code>
      {marked.after}
    </>
  )
}

/** How much would change, and the way to see all of it in the editor before it is allowed. */
function ChangesLine({ diffs, onReview }: { readonly diffs: readonly FileDiff[]; readonly onReview: () => void }) {
  const { added, removed } = diffCounts(diffs)
  return (
    <div class="approval-changes">
      <span>{plural(changedPaths(diffs).length, '{0} file', '{0} files')}</span>
      {added > 0 && <OutcomeText outcome={{ text: `+${added}`, tone: 'added' }} />}
      {removed > 0 && <OutcomeText outcome={{ text: `−${removed}`, tone: 'removed' }} />}
      <button type="button" class="link" title={t('Open all changes in the editor')} onClick={onReview}>
        <Icon name="diff-multiple" />
        {t('Review')}
      </button>
    </div>
  )
}

/** How it would be done: the command or the changes in full. */
function Means({ card, onOpenFile }: { readonly card: ToolCallView; readonly onOpenFile?: (path: string) => void }) {
  switch (card.card) {
    case 'terminal':
      return (
        <div class="means">
          <pre class="means-command" tabIndex={0} dir="ltr" role="group" aria-label={t('Command')}>
            {card.title}
          </pre>
          {card.cwd !== undefined && <div class="terminal-cwd">{t('in {0}', card.cwd)}</div>}
        </div>
      )
    case 'diff':
      return (
        <div class="means">
          <DiffCard diffs={card.diffs} isAhead onOpenFile={onOpenFile} />
        </div>
      )
    case 'generic':
      return card.content === undefined && card.rawInput === undefined ? null : (
        <div class="means">
          {card.content !== undefined && <CardContents content={card.content} />}
          {card.rawInput !== undefined && card.content === undefined && <BodyText text={JSON.stringify(card.rawInput, null, 2)} label={t('Arguments')} />}
        </div>
      )
    default:
      return assertNever(card, 'card')
  }
}

/** The command or the new text, to be changed before it is allowed. */
function EditForm({ text, onAllow, onCancel }: { readonly text: string; readonly onAllow: (text: string) => void; readonly onCancel: () => void }) {
  const box = useRef<HTMLTextAreaElement>(null)
  // Before the next key comes: what is typed right after the click belongs here.
  useLayoutEffect(() => box.current?.focus(), [])
  const allow = () => onAllow(box.current?.value ?? text)
  return (
    <form
      class="edit-form"
      onSubmit={(event) => {
        event.preventDefault()
        allow()
      }}
      onKeyDown={(event) => {
        const isSubmit = event.key === 'Enter' && (event.ctrlKey || event.metaKey)
        if (!isSubmit && event.key !== 'Escape') return
        event.stopPropagation()
        event.preventDefault()
        if (isSubmit) allow()
        else onCancel()
      }}
    >
      <textarea class="input edit-text" ref={box} dir="ltr" spellcheck={false} defaultValue={text} rows={Math.min(12, Math.max(2, text.split('\n').length))} aria-label={t('What will be run or written')} />
      <div class="buttons">
        <button type="submit" class="button-primary">
          {t('Allow this once')}
        </button>
        <button type="button" class="button-secondary" onClick={onCancel}>
          {t('Back')}
        </button>
      </div>
    </form>
  )
}

function DenyForm({ onDeny, onCancel }: { readonly onDeny: (note: string) => void; readonly onCancel: () => void }) {
  const input = useRef<HTMLInputElement>(null)
  // Before the next key comes: what is typed right after the click belongs here.
  useLayoutEffect(() => input.current?.focus(), [])
  return (
    <form
      class="deny-form"
      onSubmit={(event) => {
        event.preventDefault()
        onDeny(input.current?.value.trim() ?? '')
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onCancel()
      }}
    >
      <input
        class="input"
        ref={input}
        dir="auto"
        maxLength={2_000}
        aria-label={t('Why not, for the model to read')}
        placeholder={t('Why not? The model reads it')}
      />
      <button type="submit" class="button-primary">
        {t('Deny')}
      </button>
      <button type="button" class="button-secondary" onClick={onCancel}>
        {t('Back')}
      </button>
    </form>
  )
}

const isSame = (a: ApprovalView, b: ApprovalView): boolean => a.tool === b.tool && a.effect === b.effect && JSON.stringify(a.card) === JSON.stringify(b.card)
