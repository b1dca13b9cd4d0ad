import { isJsonObject, type Json } from '../../base/json.ts'

/**
 * In the `meta` of a call that changed files, under `fileChanges`: where each text before the change is kept,
 * so that the change can be opened as a diff and reviewed long after.
 */
export interface FileChange {
  /** Absolute path, or URI text for other schemes than `file`. */
  readonly path: string
  /** Digest for `BlobStore.getBeforeImage`; null when the file did not exist. */
  readonly before: string | null
}

/** The changes that `meta` tells of; none for meta that is absent, foreign or of an older build. */
export function fileChangesFrom(meta: Json | undefined): readonly FileChange[] {
  const list = isJsonObject(meta) ? meta['fileChanges'] : undefined
  if (!Array.isArray(list)) return []
  return (list as readonly Json[]).flatMap((entry) => {
    if (!isJsonObject(entry)) return []
    const { path, before } = entry
    return typeof path === 'string' && (before === null || typeof before === 'string') ? [{ path, before }] : []
  })
}
