import { pause } from '../../base/pause.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { LanguageError, type LanguageAnswer, type LanguageQuestion, type Languages } from '../../capabilities/languages.ts'

/** Between the questions to a service that may still be starting; together they are the budget. */
export const RETRY_DELAYS_MS: readonly number[] = [250, 500, 1_000, 2_000, 4_000, 4_000, 3_250]

/** What a call brings that waits for a service. */
export interface Waiting {
  readonly signal: AbortSignal
  readonly progress: (text: string) => void
}

export interface PatientService {
  /** `isIndexing`: the service knows the file, but may not know everything yet. Errors: `LanguageError` `LSP_UNAVAILABLE` when nobody answers. */
  ask(question: LanguageQuestion, waiting: Waiting): Promise<{ readonly answer: LanguageAnswer; readonly isIndexing: boolean }>
  /** The same patience for another question than these; null means no answer. Null when the service knows the file and has none. */
  insist<T>(path: string, question: () => Promise<T | null>, waiting: Waiting): Promise<T | null>
}

/** A service that was never heard of may be starting: it is asked again, a little later each time. */
export function createPatientService({ languages, clock }: { readonly languages: Languages; readonly clock: Clock }): PatientService {
  /** Endings of files whose service has answered something; an empty answer of it is an answer. */
  const warm = new Set<string>()

  async function insist<T>(path: string, question: () => Promise<T | null>, { signal, progress }: Waiting): Promise<{ readonly answer: T | null; readonly isIndexing: boolean }> {
    const ending = endingOf(path)
    let answer = await question()
    for (const delayMs of warm.has(ending) ? [] : RETRY_DELAYS_MS) {
      if (answer !== null) break
      progress('The language service has not answered yet; it may be starting.\n')
      await pause(clock, delayMs, signal)
      answer = await question()
    }
    if (answer !== null || warm.has(ending)) {
      warm.add(ending)
      return { answer, isIndexing: false }
    }
    const symbols = await languages.ask({ operation: 'documentSymbols', path, position: { line: 0, character: 0 } }, signal)
    if (isEmpty(symbols)) throw new LanguageError('LSP_UNAVAILABLE', `No language service of the editor answers for ${ending} files. Search for the text instead, or ask the person to install an extension for the language.`)
    warm.add(ending)
    return { answer: null, isIndexing: true }
  }

  return {
    async ask(question, waiting) {
      let last: LanguageAnswer | undefined
      const once = async () => {
        last = await languages.ask(question, waiting.signal)
        return isEmpty(last) ? null : last
      }
      // The list of problems is what is known now; nobody can be asked to look again.
      if (question.operation === 'diagnostics') return { answer: await languages.ask(question, waiting.signal), isIndexing: false }
      const { answer, isIndexing } = await insist(question.path, once, waiting)
      return { answer: answer ?? last ?? { kind: 'hover', contents: null }, isIndexing }
    },
    insist: async (path, question, waiting) => (await insist(path, question, waiting)).answer,
  }
}

const endingOf = (path: string) => /\.[^./\\]+$/.exec(path)?.[0] ?? path

function isEmpty(answer: LanguageAnswer): boolean {
  switch (answer.kind) {
    case 'locations':
      return answer.locations.length === 0
    case 'hover':
      return answer.contents === null
    case 'symbols':
      return answer.symbols.length === 0
    case 'problems':
      return answer.problems.length === 0
  }
}
