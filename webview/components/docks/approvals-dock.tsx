import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { assertNever } from '../../../extension/base/assert-never.ts'
import { markedCode } from '../../../extension/base/marked-code.ts'
import type { FileDiff, ToolCallView } from '../../../extension/protocol/cards.ts'
import type { ApprovalView, WaitingDraft } from '../../../extension/protocol/view-state.ts'
import { DiffCard, diffCounts } from '../../cards/diff-card.tsx'
import { CardContents } from '../../cards/generic-card.tsx'
import { BodyText } from '../../cards/body-text.tsx'
import { plural, t } from '../../l10n.ts'
import { changedPaths } from '../../text/tool-line.ts'
import { useApp } from '../app-context.ts'
import { CodeText } from '../code-text.tsx'
import { escapeTo, formKeys } from '../form-keys.ts'
import { Icon } from '../icon.tsx'
import { Menu, MenuAnchor } from '../menu.tsx'
import { OutcomeText } from '../sentence.tsx'
import { ForSession } from './for-session.tsx'

interface ApprovalFormProps {
  readonly approval: ApprovalView
  /** All that wait, for those that are equal to this one. */
  readonly all: readonly ApprovalView[]
  readonly draft: WaitingDraft | undefined
  readonly onDraft: (draft: WaitingDraft) => void
}

/** One call that waits for a yes or no. */
export function ApprovalForm({ approval, all, draft, onDraft }: ApprovalFormProps) {
  const { actions } = useApp()
  const isDenying = useSignal(draft?.note !== undefined)
  const isChoosing = useSignal(false)
  const isEditing = useSignal(draft?.edited !== undefined)
  const equals = all.filter((other) => isSame(other, approval))
  /** What comes back after a reload takes no focus. */
  const isByHand = useRef(false)
  const open = (form: { value: boolean }) => {
    isByHand.current = true
    form.value = true
  }
  const back = () => {
    isDenying.value = false
    isEditing.value = false
    onDraft({})
  }
  const { id, effect, why, covers, who, sessionId, card, always, editable, canPreview = false } = approval
  return (
    <div class="approval" data-card={card?.card ?? 'generic'} data-tool={approval.tool}>
      <div class="approval-head">
        <Icon name="shield" />
        <span class="approval-effect" dir="auto">
          <Effect text={effect} />
        </span>
      </div>
      {canPreview && card?.card === 'diff' && <ChangesLine diffs={card.diffs} onReview={() => actions.previewApproval(id)} />}
      {canPreview && card?.card === 'generic' && !isEditing.value && (
        <div class="approval-changes">
          <button type="button" class="link" onClick={() => actions.previewApproval(id)}>
            <Icon name="go-to-file" />
            {t('Open script in the editor')}
          </button>
        </div>
      )}
      {card !== null && !isEditing.value && <Means card={card} {...(canPreview && { onOpenFile: (path: string) => actions.previewApproval(id, path) })} />}
      <ForSession who={who} sessionId={sessionId} />
      {why !== '' && (
        <div class="approval-why" dir="auto">
          <CodeText text={why} />
        </div>
      )}
      {covers !== undefined && <div class="approval-covers">{covers}</div>}
      {isEditing.value && editable !== undefined ? (
        <EditForm takesFocus={isByHand.current} text={draft?.edited ?? editable} onType={(edited) => onDraft({ edited })} onAllow={(text) => (text === editable ? actions.allowOnce(id) : actions.allowEdited(id, text))} onCancel={back} />
      ) : isDenying.value ? (
        <DenyForm takesFocus={isByHand.current} note={draft?.note ?? ''} onType={(note) => onDraft({ note })} onDeny={(note) => actions.deny(id, note)} onCancel={back} />
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
            <button type="button" class="link" onClick={() => open(isEditing)}>
              {t('Edit…')}
            </button>
          )}
          <button type="button" class="link deny-why" onClick={() => open(isDenying)}>
            {t('Say why not')}
          </button>
        </div>
      )}
      {equals.length > 1 && (
        <button type="button" class="link approve-equal" onClick={() => equals.forEach((equal) => actions.allowOnce(equal.id))}>
          {t('Allow all {0} of these', equals.length)}
        </button>
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
          {card.rawInput !== undefined && card.content === undefined && <BodyText text={typeof card.rawInput === 'string' ? card.rawInput : JSON.stringify(card.rawInput, null, 2)} label={t('Arguments')} />}
        </div>
      )
    default:
      return assertNever(card, 'card')
  }
}

/** The command or the new text, to be changed before it is allowed. */
function EditForm({ takesFocus, text, onType, onAllow, onCancel }: { readonly takesFocus: boolean; readonly text: string; readonly onType: (text: string) => void; readonly onAllow: (text: string) => void; readonly onCancel: () => void }) {
  const box = useRef<HTMLTextAreaElement>(null)
  // Before the next key comes: what is typed right after the click belongs here.
  useLayoutEffect(() => {
    if (takesFocus) box.current?.focus()
  }, [])
  const allow = () => onAllow(box.current?.value ?? text)
  return (
    <form
      class="edit-form"
      onSubmit={(event) => {
        event.preventDefault()
        allow()
      }}
      onKeyDown={formKeys(allow, onCancel)}
    >
      <textarea class="input edit-text" ref={box} dir="ltr" spellcheck={false} defaultValue={text} rows={Math.min(12, Math.max(2, text.split('\n').length))} aria-label={t('What will be run or written')} onInput={({ currentTarget }) => onType(currentTarget.value)} />
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

function DenyForm({ takesFocus, note, onType, onDeny, onCancel }: { readonly takesFocus: boolean; readonly note: string; readonly onType: (note: string) => void; readonly onDeny: (note: string) => void; readonly onCancel: () => void }) {
  const input = useRef<HTMLInputElement>(null)
  // Before the next key comes: what is typed right after the click belongs here.
  useLayoutEffect(() => {
    if (takesFocus) input.current?.focus()
  }, [])
  return (
    <form
      class="deny-form"
      onSubmit={(event) => {
        event.preventDefault()
        onDeny(input.current?.value.trim() ?? '')
      }}
      onKeyDown={escapeTo(onCancel)}
    >
      <input
        class="input"
        ref={input}
        dir="auto"
        maxLength={2_000}
        defaultValue={note}
        onInput={({ currentTarget }) => onType(currentTarget.value)}
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
