import type { KeyEcho } from '../../capabilities/terminal.ts'
import { HIDDEN_KEYS } from '../../capabilities/terminal-view.ts'

/** UTF-16 units of the person's keys that are told to the model, the last of them. */
const MAX_TOLD_KEYS = 2_000

/** Keys of the person since they were last told to the model, secrets left out. */
export class PersonKeys {
  #told = ''

  add(keys: string, { isSecret }: { readonly isSecret: boolean }): void {
    const typed = keys.replaceAll(REPORTS, '')
    if (typed === '') return
    if (!isSecret) this.#told += typed
    else if (!this.#told.endsWith(HIDDEN_KEYS)) this.#told += HIDDEN_KEYS
    this.#told = this.#told.slice(-MAX_TOLD_KEYS)
  }

  take(): string {
    const told = this.#told
    this.#told = ''
    return told
  }
}

/**
 * Whether a key typed now belongs to a secret: the terminal hides what is typed, or nobody says that it shows it and the line
 * where it appears asks for one.
 */
export const isSecretKey = (echo: KeyEcho | null, line: string): boolean => echo === 'hidden' || (echo !== 'shown' && SECRET_QUESTION.test(line))

const SECRET_QUESTION = /\b(pass ?(word|phrase|code|wd)|pin|secret|token|api ?key|otp|verification code)\b[^\n]*[:?>]\s*[*•]*\s*$/i

/** What a terminal sends by itself: that it has or lost the focus, the mouse, where a paste begins and ends. */
const REPORTS = /\u001b\[(?:[IO]|<[\d;]+[Mm]|M[^]{3}|20[01]~)/g
