import { thrownLine } from '../../base/thrown-text.ts'
import type { Undo } from '../../base/undo.ts'
import type { Contribution, Contributions, TakeContribution, TakenContribution } from '../../capabilities/contributions.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { BosunApi, Plugin, PolicyListener, PromptSection, Registration, ResultObserver, Tool } from '../../../bosun.d.ts'
import { ExtensionApiError } from './api-error.ts'
import { checkContribution } from './check-contribution.ts'

/**
 * What other extensions registered, whether the application runs or not: it takes over what is there when it starts.
 *
 * Loaded with the first extension that asks for the API, in a bundle of its own, so that neither the start of the editor nor such an
 * extension waits for the application.
 */
export class ContributionList implements Contributions {
  readonly #version: string
  readonly #logger: Logger
  readonly #entries = new Set<Entry>()
  #take: TakeContribution | null = null

  constructor({ version, logger }: { readonly version: string; readonly logger: Logger }) {
    this.#version = version
    this.#logger = logger
  }

  attach(take: TakeContribution): Undo {
    this.#take = take
    for (const entry of this.#entries) {
      try {
        entry.takeBy(take)
      } catch (error) {
        this.#tell(entry, error)
      }
    }
    return () => {
      if (this.#take !== take) return
      this.#take = null
      for (const entry of this.#entries) entry.release()
    }
  }

  /** The API of one extension. */
  join(extensionId: string): BosunApi {
    return new JoinedApi(this.#version, extensionId, (contribution) => this.#add(contribution))
  }

  /** Errors: as `checkContribution`, and what `take` throws; nothing is kept of it then. */
  #add(contribution: Contribution): Entry {
    checkContribution(contribution)
    const entry = new Entry(contribution, (failed, error) => this.#tell(failed, error), (gone) => void this.#entries.delete(gone))
    if (this.#take !== null) entry.takeBy(this.#take)
    this.#entries.add(entry)
    return entry
  }

  #tell({ contribution }: Entry, error: unknown): void {
    this.#logger.error('What another extension registered could not be taken over.', { extension: contribution.extensionId, what: contribution.kind, error: thrownLine(error) })
  }
}

/** One registration, from its first to its last day; the application may come and go meanwhile. */
class Entry implements Registration {
  readonly contribution: Contribution
  readonly ready: Promise<void>
  readonly #onFailed: (entry: Entry, error: unknown) => void
  readonly #onGone: (entry: Entry) => void
  #resolve: () => void = () => {}
  #reject: (error: unknown) => void = () => {}
  #taken: TakenContribution | null = null
  #end: Promise<void> | null = null

  constructor(contribution: Contribution, onFailed: (entry: Entry, error: unknown) => void, onGone: (entry: Entry) => void) {
    this.contribution = contribution
    this.#onFailed = onFailed
    this.#onGone = onGone
    this.ready = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // Nobody has to wait for it; what failed is in the log too.
    this.ready.catch(() => {})
  }

  takeBy(take: TakeContribution): void {
    try {
      const taken = take(this.contribution)
      this.#taken = taken
      taken.ready.then(this.#resolve, (error: unknown) => {
        this.#reject(error)
        if (this.#taken === taken) this.#onFailed(this, error)
      })
    } catch (error) {
      this.#reject(error)
      throw error
    }
  }

  /** Whoever took it over takes it back. */
  release(): void {
    this.#taken = null
  }

  dispose(): Promise<void> {
    this.#end ??= this.#goes()
    return this.#end
  }

  async #goes(): Promise<void> {
    const { extensionId } = this.contribution
    this.#onGone(this)
    const taken = this.#taken
    this.#taken = null
    await taken?.dispose()
    // Whoever still waits for it is not left waiting. Without effect when it was taken over.
    this.#reject(new ExtensionApiError('DISPOSED', extensionId, `${extensionId} took it back before Bosun was used.`))
  }
}

class JoinedApi implements BosunApi {
  readonly version: string
  readonly #extensionId: string
  readonly #add: (contribution: Contribution) => Entry
  readonly #own = new Set<Entry>()
  #end: Promise<void> | null = null

  constructor(version: string, extensionId: string, add: (contribution: Contribution) => Entry) {
    this.version = version
    this.#extensionId = extensionId
    this.#add = add
  }

  registerTool(tool: unknown): Registration {
    // Whoever writes without types gives anything; the check looks at it.
    return this.#register({ kind: 'tool', tool: tool as Tool })
  }
  defineTool<T>(tool: T): T {
    return tool
  }
  registerPromptSection(section: PromptSection): Registration {
    return this.#register({ kind: 'section', section })
  }
  registerPolicy(listener: PolicyListener): Registration {
    return this.#register({ kind: 'policy', listener })
  }
  observeResults(observer: ResultObserver): Registration {
    return this.#register({ kind: 'results', observer })
  }
  registerPlugin(plugin: Plugin): Registration {
    return this.#register({ kind: 'plugin', plugin })
  }

  dispose(): Promise<void> {
    this.#end ??= this.#goes()
    return this.#end
  }

  /** Errors: `AggregateError` after all of it has gone, when some of it failed to go cleanly. */
  async #goes(): Promise<void> {
    const outcomes = await Promise.allSettled([...this.#own].map((entry) => entry.dispose()))
    const failures = outcomes.flatMap((outcome): readonly unknown[] => (outcome.status === 'rejected' ? [outcome.reason] : []))
    if (failures.length > 0) throw new AggregateError(failures, `Some of what ${this.#extensionId} registered failed to be taken back.`)
  }

  #register(contribution: WithoutExtension<Contribution>): Registration {
    if (this.#end !== null) throw new ExtensionApiError('DISPOSED', this.#extensionId, `${this.#extensionId} has given its API back. Ask for a new one with getApi.`)
    const entry = this.#add({ extensionId: this.#extensionId, ...contribution })
    this.#own.add(entry)
    return {
      ready: entry.ready,
      dispose: () => {
        this.#own.delete(entry)
        return entry.dispose()
      },
    }
  }
}

type WithoutExtension<T> = T extends unknown ? Omit<T, 'extensionId'> : never
