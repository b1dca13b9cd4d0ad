import * as vscode from 'vscode'
import type { Attention, AttentionButton, AttentionRequest } from '../../capabilities/attention.ts'

/** A toast goes to the bell by itself after some seconds, so a question that still waits is raised again. */
const RAISE_AGAIN_MS = 60_000

/**
 * Editor notifications with the answers on their buttons.
 *
 * The editor gives extensions no way to close a notification. Raising one with the same words closes the older one, so there is
 * never more than one for a question; one that was answered elsewhere is taken off the screen and answers nothing any more.
 */
export class VscodeAttention implements Attention {
  readonly #standing = new Set<Question>()

  ask(request: AttentionRequest): Promise<string | null> {
    return new Promise((resolve) => {
      if (request.signal.aborted) {
        resolve(null)
        return
      }
      const question: Question = { request, raised: 0, timer: undefined, answer: resolve }
      this.#standing.add(question)
      request.signal.addEventListener('abort', () => this.#withdraw(question), { once: true })
      this.#raise(question)
    })
  }

  async tell({ level, text, actions = [] }: Parameters<Attention['tell']>[0]): Promise<string | null> {
    const labels = actions.map(({ label }) => label)
    const show = { info: vscode.window.showInformationMessage, warning: vscode.window.showWarningMessage, error: vscode.window.showErrorMessage }[level]
    return idOf(actions, await show(text, ...labels))
  }

  #raise(question: Question): void {
    const { text, detail, buttons } = question.request
    question.raised += 1
    const turn = question.raised
    clearTimeout(question.timer)
    question.timer = setTimeout(() => this.#raise(question), RAISE_AGAIN_MS)
    const words = detail === undefined || detail === '' ? text : `${text} (${detail})`
    void vscode.window.showWarningMessage(words, ...buttons.map(({ label }) => label)).then((label) => {
      // Closed by the person, or by the same question raised again: no answer, it goes on waiting.
      if (label === undefined || !this.#standing.has(question) || turn > question.raised) return
      this.#settle(question, idOf(buttons, label))
    })
  }

  #withdraw(question: Question): void {
    if (!this.#standing.has(question)) return
    this.#settle(question, null)
    void vscode.commands.executeCommand('notifications.hideToasts').then(() => {
      for (const other of this.#standing) this.#raise(other)
    })
  }

  #settle(question: Question, answer: string | null): void {
    this.#standing.delete(question)
    clearTimeout(question.timer)
    question.answer(answer)
  }
}

interface Question {
  readonly request: AttentionRequest
  raised: number
  timer: ReturnType<typeof setTimeout> | undefined
  readonly answer: (choice: string | null) => void
}

const idOf = (buttons: readonly AttentionButton[], label: string | undefined) => buttons.find((button) => button.label === label)?.id ?? null
