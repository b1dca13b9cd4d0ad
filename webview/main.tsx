import { signal } from '@preact/signals'
import { render } from 'preact'
import type { HostMessage } from '../extension/protocol/messages.ts'
import { createChatActions } from './actions/chat-actions.ts'
import type { App } from './components/app-context.ts'
import { AppView } from './components/app.tsx'
import { readTexts } from './l10n.ts'
import { createAnnouncements } from './store/announcements.ts'
import { createChatStore } from './store/chat-store.ts'
import { createCompletionMenu } from './store/completion-menu.ts'
import { decodeImage } from './images/decode-image.ts'
import { fitImage } from './images/fit-image.ts'
import { createAttaching } from './store/attaching.ts'
import { createComposerModel } from './store/composer-model.ts'
import { createFrameQueue, nextFrame } from './store/frame-queue.ts'
import { createTickingClock } from './store/ticking-clock.ts'
import { createUiState } from './store/ui-state.ts'
import { createHighlighter } from './text/highlight.ts'
import { createSafeHtml } from './text/safe-html.ts'
import './styles/base.css'
import './styles/controls.css'
import './styles/header.css'
import './styles/transcript.css'
import './styles/markdown.css'
import './styles/cards.css'
import './styles/docks.css'
import './styles/composer.css'
import './styles/attachments.css'
import './styles/completions.css'
import './styles/rules.css'
import './styles/sessions.css'

const SAVE_AFTER_MS = 250
const DRAFT_AFTER_MS = 400

readTexts(document)
const vscode = acquireVsCodeApi()
const actions = createChatActions(vscode.postMessage.bind(vscode))
const store = createChatStore({ needSnapshot: actions.needSnapshot })
const ui = createUiState(vscode, (work) => void setTimeout(work, SAVE_AFTER_MS))
const announcements = createAnnouncements(store)
const attaching = createAttaching({ fit: (bytes) => fitImage(bytes, decodeImage), attachImage: actions.attachImage, newId })
const composer = createComposerModel({ store, ui, actions, newId, isAttaching: () => attaching.pending.value.length > 0, onMoveOn: attaching.closeProblem, afterPause: debounced(DRAFT_AFTER_MS) })
const completion = createCompletionMenu({ ask: actions.complete, newId })
const app: App = {
  store,
  ui,
  actions,
  composer,
  completion,
  attaching,
  announcements,
  highlighter: createHighlighter(),
  safeHtml: createSafeHtml(window),
  width: signal(document.documentElement.clientWidth),
  isSessionListOpen: signal(false),
  now: createTickingClock(Date.now),
}

const enqueue = createFrameQueue<HostMessage>((messages) => {
  store.apply(messages)
  announcements.note(messages)
  for (const message of messages) {
    if (message.type === 'sent') composer.sent(message.id, message.problem)
    else if (message.type === 'completions') completion.answered(message)
    else if (message.type === 'attached') attaching.attached(message.id, message.problem)
    else if (message.type === 'insert-text') composer.insert(message.text)
    else if (message.type === 'focus-composer') composer.requestFocus()
  }
}, nextFrame)

// Only the host can post to this page: its frame accepts messages from nowhere else.
window.addEventListener('message', ({ data }: MessageEvent<HostMessage>) => enqueue(data))
window.addEventListener('error', ({ message, error }) => actions.reportError(error instanceof Error ? `${message}\n${error.stack ?? ''}` : message))
window.addEventListener('unhandledrejection', ({ reason }) => actions.reportError(reason instanceof Error ? `${reason.message}\n${reason.stack ?? ''}` : String(reason)))

const root = document.getElementById('root')
if (root !== null) render(<AppView app={app} />, root)
actions.ready()

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
