import { isHarnessError } from '../../base/harness-error.ts'
import { thrownText } from '../../base/thrown-text.ts'
import { LanguageError, type Languages } from '../../capabilities/languages.ts'

/** The same services; what one of them throws is told in its own words, as `LanguageError` `LSP_REFUSED`. */
export function withToldFailures(languages: Languages): Languages {
  async function told<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (isHarnessError(error) || signal.aborted) throw error
      const words = (thrownText(error) ?? '').trim()
      throw new LanguageError('LSP_REFUSED', `The language service failed${words === '' ? '' : `: ${words}`}. Nothing was changed. Ask another question, or search for the text.`, { cause: error })
    }
  }
  return {
    ask: (question, signal) => told(() => languages.ask(question, signal), signal),
    rename: (request, signal) => told(() => languages.rename(request, signal), signal),
    codeActions: (request, signal) => told(() => languages.codeActions(request, signal), signal),
    codeActionEdit: (request, signal) => told(() => languages.codeActionEdit(request, signal), signal),
  }
}
