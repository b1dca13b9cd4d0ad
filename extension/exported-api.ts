import type { Undo } from './base/undo.ts'
import type { Contributions, TakeContribution } from './capabilities/contributions.ts'
import type { Logger } from './capabilities/logger.ts'
import type { ContributionList } from './features/extensions/contribution-list.ts'
import type { BosunApi, BosunApiError, BosunExtension, ExtensionContext } from '../bosun.d.ts'

/** Of the API for other extensions. Minor versions add; whatever is taken away or means something else is a new major one. */
export const API_VERSION = '1.1.0'

interface Parts {
  readonly logger: Logger
  readonly isInstalled: (extensionId: string) => boolean
  /** An extension came, changed or went. */
  readonly onDidChangeExtensions: (listener: () => void) => Undo
}

/** What `activate` returns, and what the application later takes from it. It is there at once, so it holds next to nothing. */
export class ExportedApi implements Contributions {
  readonly exports: BosunExtension = Object.freeze({
    apiVersion: API_VERSION,
    getApi: async (version: unknown, context: unknown) => await this.#apiFor(version, context),
  })
  readonly #parts: Parts
  readonly #joined = new Map<BosunApi, string>()
  #list: ContributionList | null = null
  #loading: Promise<ContributionList> | null = null
  #take: TakeContribution | null = null
  #detach: Undo | null = null
  #unwatch: Undo | null = null

  constructor(parts: Parts) {
    this.#parts = parts
  }

  attach(take: TakeContribution): Undo {
    this.#take = take
    this.#connect()
    return () => {
      if (this.#take !== take) return
      this.#take = null
      this.#detach?.()
      this.#detach = null
    }
  }

  /** Take everything back that extensions registered, awaited. */
  async dispose(): Promise<void> {
    this.#unwatch?.()
    await Promise.all([...this.#joined.keys()].map((api) => this.#end(api)))
  }

  async #apiFor(version: unknown, context: unknown): Promise<BosunApi> {
    const { extension, subscriptions } = (context ?? {}) as Partial<ExtensionContext>
    const id: unknown = extension?.id
    if (typeof id !== 'string' || typeof subscriptions?.push !== 'function' || !this.#parts.isInstalled(id)) {
      throw fault('UNKNOWN_EXTENSION', String(id), 'Bosun does not know which extension asks. Hand over the context that your activate was given: getApi(1, context).')
    }
    if (version !== 1) throw fault('UNSUPPORTED_VERSION', id, `${id} asks for version ${String(version)} of the API of Bosun; this one gives 1 (${API_VERSION}). Ask for 1, or have Bosun updated.`)
    const list = await this.#loaded()
    const api = list.join(id)
    this.#joined.set(api, id)
    // An extension that ends or is taken away leaves nothing behind, whatever it thinks of itself.
    subscriptions.push({ dispose: () => this.#end(api) })
    this.#unwatch ??= this.#parts.onDidChangeExtensions(() => {
      for (const [joined, of] of this.#joined) if (!this.#parts.isInstalled(of)) void this.#end(joined)
    })
    return api
  }

  /** Nobody waits who could do something about a failure. */
  async #end(api: BosunApi): Promise<void> {
    const extension = this.#joined.get(api)
    this.#joined.delete(api)
    try {
      await api.dispose()
    } catch (error) {
      this.#parts.logger.error('What an extension registered could not be taken back cleanly.', { extension, error: String(error) })
    }
  }

  async #loaded(): Promise<ContributionList> {
    this.#loading ??= import('./features/extensions/contribution-list.ts').then(({ ContributionList }) => new ContributionList({ version: API_VERSION, logger: this.#parts.logger }))
    try {
      this.#list = await this.#loading
    } catch (error) {
      // The next extension tries again.
      this.#loading = null
      throw error
    }
    this.#connect()
    return this.#list
  }

  #connect(): void {
    if (this.#list === null || this.#take === null || this.#detach !== null) return
    this.#detach = this.#list.attach(this.#take)
  }
}

/** The same as the faults that registering throws, without the bundle that those come with. */
function fault(code: BosunApiError['code'], extensionId: string, message: string): BosunApiError {
  return Object.assign(new Error(message), { name: 'ExtensionApiError', code, extensionId })
}
