/** Files that belong to a session: attachments by SHA-256, spilled output, before-images. Removed with the session. */
export interface BlobStore {
  /** Keep `bytes` under its SHA-256; identical bytes are stored once. Resolves when durable. */
  putAttachment(sessionId: string, bytes: Uint8Array, facts: { readonly mediaType: string; readonly name?: string }): Promise<StoredBlob>
  /** Errors: `Error` when the content is missing or does not match its digest any more. */
  getAttachment(sessionId: string, attachmentId: string): Promise<Uint8Array>
  /** Store a whole oversize text; the path can be read by `read` and `grep`. */
  putSpill(sessionId: string, name: string, text: string): Promise<{ readonly path: string; readonly bytes: number }>
  /** A spill that is written as its bytes arrive; the file exists, private and empty, once this resolves. */
  openSpill(sessionId: string, name: string): Promise<SpillFile>
  /** Keep the bytes of a file as they were before a change, durably, before that change happens. Null bytes: it did not exist. */
  putBeforeImage(sessionId: string, bytes: Uint8Array | null): Promise<{ readonly digest: string | null }>
  getBeforeImage(sessionId: string, digest: string): Promise<Uint8Array>
  /** Give up the images of all sessions that nobody kept or kept again since `keptSince`, then the oldest until all have at most `maxBytes`. Gives how many went. */
  pruneBeforeImages(limits: { readonly keptSince: number; readonly maxBytes: number }): Promise<number>
  /**
   * Give session `to` every attachment and before-image of session `from`. The bytes stand on the disk once where it can do that, and
   * stay for one when the other is removed.
   */
  share(from: string, to: string): Promise<void>
  /** Ids of the attachments a session has, in no order. */
  listAttachments(sessionId: string): Promise<readonly string[]>
  /** Remove every attachment but these. Only where nothing else refers to them. */
  keepAttachments(sessionId: string, attachmentIds: readonly string[]): Promise<void>
  /** What each session takes on the disk, the largest first. What two sessions share counts for both. */
  usage(): Promise<readonly SessionUsage[]>
  /** Remove the spilled output of a session. */
  dropSpill(sessionId: string): Promise<void>
  /** The folder that holds spilled output, for the fence to allow reads in. */
  spillFolder(sessionId: string): string
}

/** In bytes. */
export interface SessionUsage {
  readonly sessionId: string
  /** Files and screens that were shown to the model. */
  readonly attachments: number
  /** Files as they were before changes. */
  readonly before: number
  /** Output too long for the talk. */
  readonly spill: number
  /** The log and what belongs to it. */
  readonly log: number
}

/** An output file that grows while a program runs. */
export interface SpillFile {
  /** Can be read by `read` and `grep` while it grows. */
  readonly path: string
  /** Bytes reach the file in the order of the calls. Resolves when the system has them. Errors: the first failure, for good. */
  append(bytes: Uint8Array): Promise<void>
  /** Errors: as `append`; the path must not be shown then. */
  close(): Promise<void>
  /** Close and remove. Never rejects. */
  discard(): Promise<void>
}

export interface StoredBlob {
  /** `sha256:` and 64 hex digits. */
  readonly attachmentId: string
  readonly mediaType: string
  readonly bytes: number
  readonly name?: string
}
