import { batch, computed, effect, signal, type ReadonlySignal } from '@preact/signals'
import type { Row } from '../../extension/protocol/view-state.ts'
import type { ChatActions } from '../actions/chat-actions.ts'
import type { ChatStore } from './chat-store.ts'
import type { UiState } from './ui-state.ts'

/** The words being typed, and where they go. */
export interface ComposerModel {
  readonly text: ReadonlySignal<string>
  /** The queued message whose words are in the box, or null for a new one. */
  readonly editingQueued: ReadonlySignal<string | null>
  /** Why the last message was not taken; its words are back in the box. */
  readonly problem: ReadonlySignal<string | null>
  readonly canSubmit: ReadonlySignal<boolean>
  type(text: string): void
  /** Send it, or save the queued message being edited. `next-step` steers what runs. */
  submit(target: 'next-turn' | 'next-step'): void
  editQueued(id: string): void
  cancelEdit(): void
  /** Up in an empty box: the last queued message to edit, else the last words sent, to change and send again. */
  recall(): boolean
  insert(text: string): void
  /** The host's word on a message that was sent. */
  sent(id: string, problem: string | null): void
  /** Tell the host at once what is typed; otherwise it hears of it after a pause. */
  flushDraft(): void
  /** The person asked for another session: what they type before it is shown is for that one. `id` is '' for a new one. */
  goTo(id: string): void
  /** The box is to take the focus and put the caret at the end; counts up. */
  readonly focusRequests: ReadonlySignal<number>
  requestFocus(): void
  dispose(): void
}

interface Deps {
  readonly store: ChatStore
  readonly ui: UiState
  readonly actions: Pick<ChatActions, 'send' | 'editQueued' | 'saveDraft'>
  readonly newId: () => string
  /** Something is on its way into the message: it waits for it. */
  readonly isAttaching?: () => boolean
  /** The message was sent, or another session is shown: what was said of things beside the box is over. */
  readonly onMoveOn?: () => void
  /** Runs `work` after a pause in typing; calling again starts the pause anew. */
  readonly afterPause: (work: () => void) => void
  /** Runs `work` after the time in which a session that was asked for is shown, if it ever is; calling again starts it anew. */
  readonly afterPatience: (work: () => void) => void
}

export function createComposerModel({ store, ui, actions, newId, isAttaching = () => false, onMoveOn = () => undefined, afterPause, afterPatience }: Deps): ComposerModel {
  const text = signal('')
  const editingQueued = signal<string | null>(null)
  const problem = signal<string | null>(null)
  const focusRequests = signal(0)
  /** What was being typed when the person began to edit a queued message. */
  let setAside = ''
  let sessionId: string | undefined
  let isDraftUnsaved = false
  /** What stood in the box when the person asked for another session, until that is shown. */
  let leftBehind: string | null = null

  const disposers = [
    effect(function followSession() {
      const next = store.phase.value === 'ready' ? (store.state.session.value?.id ?? '') : undefined
      if (next === undefined || next === sessionId) return
      const brought = takeAlong()
      flushDraft()
      batch(() => {
        // What a page that was just opened finds is said to it, not left behind.
        if (sessionId !== undefined) onMoveOn()
        sessionId = next
        editingQueued.value = null
        problem.value = null
        text.value = withUnsent(next, ui.draft(next, store.state.composer.peek().draft))
        if (brought !== '') type(joined(text.peek(), brought))
      })
    }),
    effect(function leaveDeliveredMessage() {
      const id = editingQueued.value
      // It went to the model meanwhile: what is typed becomes a new message.
      if (id !== null && !store.state.queue.value.some((message) => message.id === id)) editingQueued.value = null
    }),
  ]

  const canSubmit = computed(() => {
    const { canSend, attachments = [] } = store.state.composer.value
    if (editingQueued.value !== null) return text.value.trim() !== ''
    return canSend && !isAttaching() && (text.value.trim() !== '' || attachments.some(({ kind }) => kind === 'image'))
  })

  return {
    text,
    editingQueued,
    problem,
    canSubmit,
    focusRequests,
    type,
    submit(target) {
      if (!canSubmit.peek()) return
      leftBehind = null
      const words = text.peek().trim()
      const queuedId = editingQueued.peek()
      batch(() => {
        problem.value = null
        if (queuedId !== null) {
          actions.editQueued(queuedId, words)
          // Editing left the draft as it was, here and at the host.
          editingQueued.value = null
          text.value = setAside
          return
        }
        const id = newId()
        onMoveOn()
        ui.addSending({ id, sessionId: sessionId ?? '', text: words })
        actions.send(id, words, target)
        type('')
      })
      flushDraft()
    },
    editQueued(id) {
      const message = store.state.queue.peek().find((candidate) => candidate.id === id)
      if (message === undefined) return
      batch(() => {
        if (editingQueued.peek() === null) setAside = text.peek()
        editingQueued.value = id
        text.value = message.text
        focusRequests.value += 1
      })
    },
    cancelEdit() {
      if (editingQueued.peek() === null) return
      batch(() => {
        editingQueued.value = null
        text.value = setAside
      })
    },
    recall() {
      if (text.peek() !== '') return false
      const queued = store.state.queue.peek().at(-1)
      if (queued !== undefined) {
        this.editQueued(queued.id)
        return true
      }
      const last = store.entries.peek().findLast(({ kind }) => kind === 'prompt')?.row.peek()
      if (last?.kind !== 'prompt') return false
      type(last.text)
      return true
    },
    insert(added) {
      const held = text.peek()
      type(held === '' || /\s$/.test(held) ? held + added : `${held} ${added}`)
      focusRequests.value += 1
    },
    sent(id, reason) {
      const message = ui.takeSending(id)
      if (message === undefined || reason === null) return
      problem.value = reason
      if (message.sessionId === sessionId) type(joined(message.text, text.peek()))
    },
    flushDraft,
    goTo(id) {
      if (id === sessionId) return
      flushDraft()
      leftBehind = editingQueued.peek() === null ? text.peek() : null
      afterPatience(() => {
        leftBehind = null
        flushDraft()
      })
    },
    requestFocus: () => void (focusRequests.value += 1),
    dispose: () => disposers.forEach((dispose) => dispose()),
  }

  function type(next: string): void {
    text.value = next
    if (editingQueued.peek() !== null || sessionId === undefined) return
    ui.setDraft(sessionId, next)
    isDraftUnsaved = true
    afterPause(flushDraft)
  }

  function flushDraft(): void {
    if (!isDraftUnsaved || sessionId === undefined || editingQueued.peek() !== null || leftBehind !== null) return
    isDraftUnsaved = false
    actions.saveDraft(text.peek())
    ui.draftTold(sessionId, text.peek())
  }

  /** The words typed since the person asked for another session; the one they leave keeps what it had. */
  function takeAlong(): string {
    const left = leftBehind
    leftBehind = null
    if (left === null || sessionId === undefined || editingQueued.peek() !== null || text.peek() === left) return ''
    const typed = text.peek()
    ui.setDraft(sessionId, left)
    isDraftUnsaved = false
    return typed.startsWith(left) ? typed.slice(left.length).trimStart() : typed
  }

  /** Words that were on their way when the page went away come back, rather than be lost. */
  function withUnsent(id: string, draft: string): string {
    const unsent = ui.sending.peek().filter((message) => message.sessionId === id)
    unsent.forEach((message) => ui.takeSending(message.id))
    return unsent.filter((message) => !wasTaken(message.text)).reduceRight((words, message) => joined(message.text, words), draft)
  }

  /** The host took it, and the page went away before it heard so. */
  function wasTaken(words: string): boolean {
    const said = store.entries.peek().flatMap(({ row }) => wordsOf(row.peek()) ?? [])
    return [...said.slice(-5), ...store.state.queue.peek().map(({ text: queued }) => queued)].some((taken) => taken.trim() === words)
  }
}

/** What a person typed to make this row; null when it is not theirs. */
function wordsOf(row: Row): string | null {
  if (row.kind === 'prompt') return row.text
  return row.kind === 'command' ? `/${row.name} ${row.args}` : null
}

const joined = (first: string, second: string): string => (second.trim() === '' ? first : first === '' ? second : `${first}\n\n${second}`)
