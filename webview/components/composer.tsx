import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../l10n.ts'
import { carriesFiles, droppedFrom, type Dropped } from '../text/dropped.ts'
import { useApp } from './app-context.ts'
import { AddMenu } from './add-menu.tsx'
import { AttachmentChips } from './attachment-chips.tsx'
import { COMPLETIONS_ID, CompletionList, completionId } from './completion-list.tsx'
import { isComposing } from './form-keys.ts'
import { Icon } from './icon.tsx'
import { ChildFoot } from './child-bar.tsx'
import { IconButton } from './icon-button.tsx'
import { writeInto } from './write-into.ts'

/** Where the person writes, or why they cannot, in the transcript of an agent. */
export function Composer() {
  const session = useApp().store.state.session.value
  return session?.child?.canWrite === false ? <ChildFoot session={session} /> : <MessageBox />
}

/** Grows to 40% of the view; everything in it works by keyboard. */
function MessageBox() {
  const { store, composer, completion, attaching, actions } = useApp()
  const box = useRef<HTMLTextAreaElement>(null)
  const state = store.state.composer.value
  const session = store.state.session.value
  const isRunning = session !== null && session.status !== 'idle'
  const text = composer.text.value
  const isEditing = composer.editingQueued.value !== null
  const focusRequests = composer.focusRequests.value
  useLayoutEffect(() => {
    if (focusRequests === 0 || box.current === null) return
    box.current.focus()
    box.current.setSelectionRange(box.current.value.length, box.current.value.length)
  }, [focusRequests])
  useEffect(() => {
    const onHide = () => composer.flushDraft()
    document.addEventListener('visibilitychange', onHide)
    return () => document.removeEventListener('visibilitychange', onHide)
  }, [])
  const hasMenu = completion.box.value === 'composer' && completion.items.value.length > 0
  const look = ({ currentTarget }: { readonly currentTarget: HTMLTextAreaElement }) => completion.look(currentTarget.value, currentTarget.selectionStart)
  const pick = (index?: number) => {
    const taken = completion.accept(index)
    if (taken === null || box.current === null) return
    writeInto(box.current, taken)
    completion.look(box.current.value, box.current.selectionStart)
  }
  const isDropping = useSignal(false)
  const take = ({ uris, images, others }: Dropped): boolean => {
    if (uris.length > 0) actions.mention(uris)
    if (images.length > 0) attaching.add(images)
    if (others.length > 0) attaching.refuse(t('{0} is outside of the workspace and no image. Open it in the editor, or name it by its path.', others.join(', ')))
    return uris.length + images.length + others.length > 0
  }
  const onDragOver = (event: DragEvent) => {
    if (event.dataTransfer === null || !carriesFiles(event.dataTransfer)) return
    event.preventDefault()
    event.dataTransfer.dropEffect = 'copy'
    isDropping.value = true
  }
  const onDrop = (event: DragEvent) => {
    isDropping.value = false
    if (event.dataTransfer !== null && take(droppedFrom(event.dataTransfer))) event.preventDefault()
  }
  const onPaste = (event: ClipboardEvent) => {
    // Words that also come as a picture, as from a spreadsheet, are meant as words.
    if (event.clipboardData === null || event.clipboardData.getData('text/plain') !== '') return
    if (take(droppedFrom(event.clipboardData))) event.preventDefault()
  }
  const typeSign = (sign: string) => {
    const { current } = box
    if (current === null) return
    const needsBlank = sign === '@' && /\S$/.test(current.value.slice(0, current.selectionStart))
    if (sign === '/') writeInto(current, { start: 0, end: 0, text: current.value === '' ? '/' : '/ ' })
    else writeInto(current, { start: current.selectionStart, end: current.selectionEnd, text: needsBlank ? ` ${sign}` : sign })
    if (sign === '/') current.setSelectionRange(1, 1)
    completion.look(current.value, current.selectionStart)
  }
  const onMenuKey = (event: KeyboardEvent): boolean => {
    const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 }
    const by = moves[event.key]
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false
    if (event.key === 'Escape') completion.close()
    else if (by !== undefined) completion.move(by)
    else if (event.key === 'Tab') pick()
    else if (event.key === 'Enter') {
      // A name that stands there whole is meant as it is.
      if (completion.items.value[completion.active.value]?.insert.trim() === text.trim()) {
        completion.close()
        return false
      }
      pick()
    } else return false
    event.preventDefault()
    event.stopPropagation()
    return true
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return
    if (hasMenu && onMenuKey(event)) return
    const isMod = event.ctrlKey || event.metaKey
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      const sendsWithMod = state.sendKey === 'mod-enter'
      if (sendsWithMod && !isMod) return
      event.preventDefault()
      composer.submit(isMod && !sendsWithMod && isRunning ? 'next-step' : 'next-turn')
    } else if (event.key === 'Enter' && event.shiftKey && isMod && state.sendKey === 'mod-enter') {
      event.preventDefault()
      composer.submit(isRunning ? 'next-step' : 'next-turn')
    } else if (event.key === 'ArrowUp' && !event.shiftKey && !isMod && text === '') {
      if (composer.recall()) event.preventDefault()
    } else if (event.key === 'Escape' && isEditing) {
      event.stopPropagation()
      composer.cancelEdit()
    }
  }
  // The welcome page asks for a model, and a notice tells of the other writer: once is enough.
  const isUnsaid = session === null ? state.model !== null : session.access === 'write'
  const hint = isEditing ? t('Change the queued message') : isRunning ? t('Queue, or steer with Ctrl+Enter') : session?.child === undefined ? t('Ask, or hand over a task') : t('Write to this agent')
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        composer.submit('next-turn')
      }}
    >
      {composer.problem.value !== null && (
        <div class="composer-note level-error" role="alert">
          <Icon name="error" />
          <span dir="auto">{composer.problem.value}</span>
        </div>
      )}
      {state.blockedBy !== null && isUnsaid && (
        <div class="composer-note level-warning">
          <Icon name="warning" />
          <span dir="auto">{state.blockedBy}</span>
        </div>
      )}
      {attaching.problem.value !== null && (
        <div class="composer-note level-warning" role="alert">
          <Icon name="warning" />
          <span dir="auto">{attaching.problem.value}</span>
          <IconButton icon="close" label={t('Close')} onPress={attaching.closeProblem} />
        </div>
      )}
      <div class={isDropping.value ? 'composer-box is-drop' : 'composer-box'} onDragOver={onDragOver} onDragLeave={() => (isDropping.value = false)} onDrop={onDrop}>
        {hasMenu && <CompletionList onPick={pick} />}
        {!isEditing && <AttachmentChips />}
        {isEditing && (
          <div class="composer-editing">
            <Icon name="edit" />
            <span>{t('Editing a queued message')}</span>
            <IconButton icon="close" label={t('Cancel editing')} onPress={composer.cancelEdit} />
          </div>
        )}
        <textarea
          ref={box}
          class="composer-text"
          aria-label={t('Message')}
          placeholder={hint}
          rows={1}
          dir="auto"
          value={text}
          disabled={session?.access === 'read-only' && session.child === undefined}
          aria-autocomplete="list"
          aria-controls={hasMenu ? COMPLETIONS_ID : undefined}
          aria-activedescendant={hasMenu ? completionId(completion.active.value) : undefined}
          onInput={(event) => {
            composer.type(event.currentTarget.value)
            look(event)
          }}
          onClick={look}
          onPaste={onPaste}
          onKeyUp={(event) => {
            if (caretKeys.has(event.key)) look(event)
          }}
          onBlur={() => {
            completion.close()
            composer.flushDraft()
          }}
          onKeyDown={onKeyDown}
        />
        <div class="composer-bar">
          <AddMenu onType={typeSign} />
          {session?.child === undefined && <Chips />}
          <span class="composer-send">
            {isRunning && (
              <button type="button" class="icon-button stop" title={session.child === undefined ? t('Stop (Escape twice)') : t('Interrupt (Escape twice)')} aria-label={session.child === undefined ? t('Stop') : t('Interrupt')} onClick={actions.stop}>
                <Icon name="stop-circle" />
              </button>
            )}
            <button type="submit" class="icon-button send" title={isRunning ? t('Queue (Enter), steer now (Ctrl+Enter)') : t('Send (Enter)')} aria-label={t('Send')} disabled={!composer.canSubmit.value}>
              <Icon name="arrow-up" />
            </button>
          </span>
        </div>
      </div>
    </form>
  )
}

const caretKeys: ReadonlySet<string> = new Set(['ArrowLeft', 'ArrowRight', 'Home', 'End'])

const permissions = {
  'read-only': { icon: 'eye', text: 'Read only', title: 'Bosun may look, and change nothing' },
  'workspace-write': { icon: 'shield', text: 'Ask', title: 'Bosun asks before it does what may harm' },
  'danger-full-access': { icon: 'unlock', text: 'Full access', title: 'Bosun does everything without asking' },
} as const

const planning = { icon: 'checklist', text: 'Plan', title: 'Bosun explores and plans, and changes nothing until you leave plan mode' } as const

/** What answers, in which way, and what it may do. */
function Chips() {
  const { store, actions } = useApp()
  const { preset, presets, model, permission, isPlanning } = store.state.composer.value
  const presetView = presets.find(({ id }) => id === preset)
  const shown = isPlanning === true ? planning : permissions[permission]
  return (
    <span class="chips">
      <Chip text={presetView?.name ?? preset} name={t('Preset: {0}', presetView?.name ?? preset)} title={presetView?.description} onPress={actions.pickPreset} />
      <Chip
        text={model === null ? t('Choose a model') : model.reasoningEffort === null ? model.label : `${model.label} · ${model.reasoningEffort}`}
        name={model === null ? t('Choose a model') : t('Model: {0}', model.reasoningEffort === null ? model.label : `${model.label} · ${model.reasoningEffort}`)}
        title={model === null ? undefined : `${model.provider}: ${model.model}`}
        isWanted={model === null}
        canShrink
        onPress={actions.pickModel}
      />
      <Chip icon={shown.icon} text={t(shown.text)} name={t('Permissions: {0}', t(shown.text))} title={t(shown.title)} isWarning={permission === 'danger-full-access' && isPlanning !== true} onPress={actions.pickPermission} />
    </span>
  )
}

interface ChipProps {
  readonly text: string
  readonly name: string
  readonly title?: string | undefined
  readonly icon?: string
  readonly isWanted?: boolean
  readonly isWarning?: boolean
  /** Gives way first when there is little room. */
  readonly canShrink?: boolean
  readonly onPress: () => void
}

function Chip({ text, name, title, icon, isWanted = false, isWarning = false, canShrink = false, onPress }: ChipProps) {
  if (text === '') return null
  return (
    <button type="button" class={`chip${canShrink ? ' can-shrink' : ''}${isWanted ? ' is-wanted' : ''}${isWarning ? ' is-warning' : ''}`} title={title ?? name} aria-label={name} onClick={onPress}>
      {icon !== undefined && <Icon name={icon} />}
      <span class="chip-text">{text}</span>
      <Icon name="chevron-down" />
    </button>
  )
}

const ESCAPE_WINDOW_MS = 2_000

/** Escape asks once, and stops when pressed again soon. Menus and forms take theirs first. */
export function StopByEscape() {
  const { store, actions } = useApp()
  const askedAt = useSignal<number | null>(null)
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const status = store.state.session.peek()?.status
      if (event.key !== 'Escape' || isComposing(event) || event.defaultPrevented || status === undefined || status === 'idle') return
      if (askedAt.peek() === null) {
        askedAt.value = Date.now()
        return
      }
      askedAt.value = null
      actions.stop()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])
  useEffect(() => {
    if (askedAt.value === null) return undefined
    const timer = setTimeout(() => (askedAt.value = null), ESCAPE_WINDOW_MS)
    return () => clearTimeout(timer)
  }, [askedAt.value])
  return askedAt.value === null ? null : (
    <div class="stop-hint" role="status">
      {t('Press Escape again to stop')}
    </div>
  )
}
