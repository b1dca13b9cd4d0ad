import { signal } from '@preact/signals'
import { render } from 'preact'
import type { HostMessage } from '../extension/protocol/messages.ts'
import { createChatActions, type ChatActions } from './actions/chat-actions.ts'
import type { App } from './components/app-context.ts'
import { AppView } from './components/app.tsx'
import { isOfHost } from './is-of-host.ts'
import { readTexts } from './l10n.ts'
import { createAnnouncements } from './store/announcements.ts'
import { createChatStore } from './store/chat-store.ts'
import { createCompletionMenu } from './store/completion-menu.ts'
import { decodeImage } from './images/decode-image.ts'
import { fitImage } from './images/fit-image.ts'
import { createAttaching } from './store/attaching.ts'
import { createComposerModel } from './store/composer-model.ts'
import { createFrameQueue, nextFrame } from './store/frame-queue.ts'
import { createSessionFinder } from './store/session-finder.ts'
import { createTickingClock } from './store/ticking-clock.ts'
import { createUiState } from './store/ui-state.ts'
import { createHighlighter } from './text/highlight.ts'
import { pageKeyOf } from './pages/page-key.ts'
import type { VscodeApi } from './vscode-api.ts'
import { createSafeHtml } from './text/safe-html.ts'
import './styles/base.css'
import './styles/controls.css'
import './styles/header.css'
import './styles/transcript.css'
import './styles/markdown.css'
import './styles/cards.css'
import './styles/docks.css'
import './styles/reminders.css'
import './styles/goal.css'
import './styles/composer.css'
import './styles/attachments.css'
import './styles/completions.css'
import './styles/rules.css'
import './styles/sessions.css'
import './styles/agents.css'

const SAVE_AFTER_MS = 250
const DRAFT_AFTER_MS = 400
const PATIENCE_MS = 10_000

readTexts(document)
const vscodeApi = acquireVsCodeApi()
const pageKey = pageKeyOf(document)
if (pageKey === null) drawChat(vscodeApi)
else void import('./pages/page-main.tsx').then(({ drawPage }) => drawPage(pageKey, vscodeApi))

function drawChat(vscode: VscodeApi): void {
  const asked = createChatActions(vscode.postMessage.bind(vscode))
  const actions: ChatActions = {
    ...asked,
    newSession: () => {
      composer.goTo('')
      asked.newSession()
    },
    openSession: (id, seq) => {
      composer.goTo(id)
      asked.openSession(id, seq)
    },
  }
  const store = createChatStore({ needSnapshot: actions.needSnapshot })
  const ui = createUiState(vscode, (work) => void setTimeout(work, SAVE_AFTER_MS))
  const announcements = createAnnouncements(store)
  const attaching = createAttaching({ fit: (bytes) => fitImage(bytes, decodeImage), attachImage: actions.attachImage, newId })
  const composer = createComposerModel({ store, ui, actions, newId, isAttaching: () => attaching.pending.value.length > 0, onMoveOn: attaching.closeProblem, afterPause: debounced(DRAFT_AFTER_MS), afterPatience: debounced(PATIENCE_MS) })
  const completion = createCompletionMenu({ ask: actions.complete, newId })
  const sessionFinder = createSessionFinder({
    ask: actions.findSessions,
    newId,
    later: (work, delayMs) => {
      const timer = setTimeout(work, delayMs)
      return () => clearTimeout(timer)
    },
  })
  const app: App = {
    store,
    ui,
    actions,
    composer,
    completion,
    attaching,
    sessionFinder,
    announcements,
    highlighter: createHighlighter(),
    safeHtml: createSafeHtml(window),
    width: signal(document.documentElement.clientWidth),
    isSessionListOpen: signal(false),
    goalForm: signal(null),
    now: createTickingClock(Date.now),
  }

  const enqueue = createFrameQueue<HostMessage>((messages) => {
    store.apply(messages)
    announcements.note(messages)
    for (const message of messages) {
      if (message.type === 'sent') composer.sent(message.id, message.problem)
      else if (message.type === 'completions') completion.answered(message)
      else if (message.type === 'sessions-found') sessionFinder.found(message)
      else if (message.type === 'reveal-row') revealRow(message)
      else if (message.type === 'attached') attaching.attached(message.id, message.problem)
      else if (message.type === 'insert-text') composer.insert(message.text)
      else if (message.type === 'show-goal') showGoal(message.form)
      else if (message.type === 'focus-composer') composer.requestFocus()
    }
  }, nextFrame)

  window.addEventListener('message', (event: MessageEvent<HostMessage>) => {
    if (isOfHost(event)) enqueue(event.data)
  })
  window.addEventListener('error', ({ message, error }) => actions.reportError(error instanceof Error ? `${message}\n${error.stack ?? ''}` : message))
  window.addEventListener('unhandledrejection', ({ reason }) => actions.reportError(reason instanceof Error ? `${reason.message}\n${reason.stack ?? ''}` : String(reason)))

  const root = document.getElementById('root')
  if (root !== null) render(<AppView app={app} />, root)
  actions.ready()

  /** Also a row that is folded away, or not here yet, and of a session that is not. */
  function revealRow({ sessionId, rowId }: Extract<HostMessage, { type: 'reveal-row' }>): void {
    app.isSessionListOpen.value = false
    ui.wantedRow.value = { sessionId, rowId, isFound: true }
  }

  function showGoal(form: 'none' | 'create' | 'edit'): void {
    app.goalForm.value = form === 'none' ? null : form
    if (form === 'none') ui.setOpen('goal', true)
  }
}

/** Unlike `randomUUID` it is there on a plain http address too, as remote editors may have one. */
function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function debounced(afterMs: number): (work: () => void) => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  return (work) => {
    clearTimeout(timer)
    timer = setTimeout(work, afterMs)
  }
}
