import type { Localization } from '../capabilities/localization.ts'
import type { AgentOptions } from '../core/loop/points.ts'
import type { LocalServer, ModelChooser } from './model-choice.ts'
import type { NoticeAction } from './notices.ts'

interface Parts {
  readonly chooser: Pick<ModelChooser, 'localServers' | 'use'>
  readonly l10n: Localization
  /** More can be shown now. */
  readonly onFound: () => void
  readonly use: (options: AgentOptions) => void
  readonly onError: (error: unknown) => void
}

export interface FoundServer {
  readonly text: string
  readonly action: NoticeAction
}

/** What a person without any model can use at once: servers that run on their machine, looked for once and only then. */
export class FirstRun {
  readonly #parts: Parts
  #found: readonly LocalServer[] = []
  #hasLooked = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** What was found so far, each with the button that uses it. The first question begins the search. */
  servers(): readonly FoundServer[] {
    this.#look()
    const { t } = this.#parts.l10n
    return this.#found.map((server) => ({
      text: t('{server} runs on this machine with {model}.', { server: server.provider.name, model: server.first.name }),
      action: { id: `use:${server.provider.id}`, label: t('Use {server}', { server: server.provider.name }), run: async () => this.#parts.use(await this.#parts.chooser.use(server)) },
    }))
  }

  #look(): void {
    if (this.#hasLooked) return
    this.#hasLooked = true
    this.#parts.chooser
      .localServers()
      .then((found) => {
        this.#found = found
        if (found.length > 0) this.#parts.onFound()
      })
      .catch(this.#parts.onError)
  }
}
