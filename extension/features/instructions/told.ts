import type { Session } from '../../core/session/session.ts'
import { SurfaceFold } from '../../core/told/surface-fold.ts'
import type { InstructionChange } from './batch.ts'
import type { InstructionFile, ToldFile } from './service.ts'

/** What the model still sees of instruction files, by path, without those that were removed. */
export const toldInstructions = (session: Pick<Session, 'surface'>): SurfaceFold<ReadonlyMap<string, ToldFile>> =>
  new SurfaceFold<Map<string, ToldFile>>(session, {
    start: () => new Map(),
    step(files, { type, data }) {
      if (type !== 'user/message' || data.source.kind !== 'agent-instructions') return files
      for (const file of data.source.files) {
        if (file.outcome === 'removed') files.delete(file.path)
        else files.set(file.path, file)
      }
      return files
    },
  })

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
