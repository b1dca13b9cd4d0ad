import type { Attention } from '../capabilities/attention.ts'
import type { Editor } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { Job } from '../features/jobs/service.ts'
import { isLive } from './job-words.ts'

interface Parts {
  readonly attention: Pick<Attention, 'tell'>
  readonly editor: Pick<Editor, 'openExternal'>
  readonly l10n: Localization
  /** What the person wants to become of a port. */
  readonly policy: () => 'offer' | 'open' | 'ignore'
  /** Whether something on screen shows the port already. */
  readonly isSeen: () => boolean
  readonly onError: (error: unknown) => void
}

/** Where a job listens, with an address for a browser. */
export interface ShownPort {
  readonly port: number
  readonly url: string
}

/** Ports that jobs listen at: each is offered once, quietly, or opened, or left alone, as the person set it. */
export class JobPorts {
  readonly #parts: Parts
  readonly #known = new Set<string>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Whether ports of it are or were shown. */
  hasListened({ ports }: Job): boolean {
    return ports !== undefined && ports.length > 0 && this.#parts.policy() !== 'ignore'
  }

  /** The ports that may be shown of a job; none once it has ended. */
  of(job: Job): readonly ShownPort[] {
    if (!isLive(job) || !this.hasListened(job)) return []
    return (job.ports ?? []).map(({ port, url }) => ({ port, url: url ?? `http://localhost:${port}` }))
  }

  note(jobs: readonly Job[]): void {
    for (const job of jobs) {
      if (!isLive(job)) continue
      for (const { port, url } of job.ports ?? []) {
        const key = `${job.id}:${port}`
        if (this.#known.has(key)) continue
        this.#known.add(key)
        // What only the system knows of may speak anything; it waits in the tree.
        if (url !== undefined) this.#offer(job, url).catch(this.#parts.onError)
      }
    }
    const ids = new Set(jobs.map(({ id }) => id))
    for (const key of [...this.#known]) if (!ids.has(key.slice(0, key.lastIndexOf(':')))) this.#known.delete(key)
  }

  async #offer(job: Job, url: string): Promise<void> {
    const { attention, editor, l10n, policy, isSeen } = this.#parts
    if (policy() === 'open') return await editor.openExternal(url)
    if (policy() === 'ignore' || isSeen()) return
    const text = l10n.t('{command} listens at {address}.', { command: job.label.split('\n', 1)[0] ?? '', address: url })
    const answer = await attention.tell({ level: 'info', text, actions: [{ id: 'open', label: l10n.t('Open in Browser') }] })
    if (answer === 'open') await editor.openExternal(url)
  }
}
