import type { Session } from '../../core/session/session.ts'
import type { InstructionChange } from './batch.ts'
import type { InstructionFile, ToldFile } from './service.ts'

/**
 * What the model still sees of instruction files.
 *
 * Looks at each node of the surface once, and again only after a replacement: what a compaction took away is told anew.
 */
export class ToldInstructions {
  readonly #session: Pick<Session, 'surface'>
  readonly #files = new Map<string, ToldFile>()
  #generation = -1
  #looked = 0

  constructor(session: Pick<Session, 'surface'>) {
    this.#session = session
  }

  /** By path, without those that were removed. */
  files(): ReadonlyMap<string, ToldFile> {
    const { nodes, generation } = this.#session.surface()
    if (generation !== this.#generation) {
      this.#generation = generation
      this.#looked = 0
      this.#files.clear()
    }
    for (; this.#looked < nodes.length; this.#looked++) {
      const event = nodes[this.#looked]?.event
      if (event?.type === 'user/message' && event.data.source.kind === 'agent-instructions') this.#take(event.data.source.files)
    }
    return this.#files
  }

  #take(files: readonly ToldFile[]): void {
    for (const file of files) {
      if (file.outcome === 'removed') this.#files.delete(file.path)
      else this.#files.set(file.path, file)
    }
  }
}

/** What the model has to be told: new and changed files in their order, and those that are gone. An unreadable one holds on. */
export function changesOf(
  told: ReadonlyMap<string, ToldFile>,
  now: { readonly files: readonly InstructionFile[]; readonly unreadable: ReadonlySet<string> },
): readonly InstructionChange[] {
  const there = new Set(now.files.map(({ path }) => path))
  const removed = [...told.values()].filter(({ path }) => !there.has(path) && !now.unreadable.has(path))
  return [
    ...removed.map(({ path, digest }) => ({ kind: 'removed' as const, path, digest })),
    ...now.files.flatMap((file): readonly InstructionChange[] => {
      const before = told.get(file.path)
      if (before?.digest === file.digest) return []
      return [{ kind: before === undefined ? 'added' : 'updated', file }]
    }),
  ]
}
