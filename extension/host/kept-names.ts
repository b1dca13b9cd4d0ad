/**
 * Names of what Bosun shows in editors and that is no file. They hold what is needed to draw it again: an editor outlives the window,
 * what was kept for it does not.
 */
export const keptNames = {
  hooks: (title: string) => nameOf('hooks', [], `${title}.md`),
  storage: (title: string) => nameOf('storage', [], `${title}.md`),
  /** Of a session, or of the one that would begin now. */
  page: (kind: 'instructions' | 'skills', session: string | null, title: string) => nameOf(kind, [session ?? 'new'], `${title}.md`),
  log: (session: string) => nameOf('log', [session], 'events.jsonl'),
  output: (session: string, callId: string, tool: string) => nameOf('output', [session, callId], `${tool}.txt`),
  /** `digest` null: there was no file. */
  before: ({ session, callId, digest }: { readonly session: string; readonly callId: string; readonly digest: string | null }, file: string) =>
    nameOf('before', [session, callId, digest ?? 'none'], file),
  /** A file without the changes that wait for review. */
  baseline: (session: string, path: string, file: string) => nameOf('baseline', [session, path], file),
  /** A side of a merge where the person and the agent changed the same lines. */
  mergeSide: (session: string, path: string, side: 'agent' | 'without' | 'now', file: string) => nameOf('merge-side', [session, path, side], file),
  /** A file as it was before a turn. */
  turnStart: ({ session, turn }: { readonly session: string; readonly turn: number }, path: string, file: string) => nameOf('turn-start', [session, String(turn), path], file),
  asked: ({ session, callId }: { readonly session: string; readonly callId: string }, side: 'before' | 'after', file: string) => nameOf('asked', [session, callId, side], file),
  image: (session: string, digest: string, extension: string) => nameOf('image', [session, digest], `${digest.slice(0, 12)}.${extension}`),
}

/** The parts of such a name; `file` is what a tab shows. */
export function keptNameFrom(name: string): { readonly kind: string; readonly parts: readonly string[]; readonly file: string } {
  const [kind = '', ...rest] = name.split('/')
  return { kind, parts: rest.slice(0, -1).map(partFrom), file: rest.at(-1) ?? '' }
}

/** Ids that come from a model may hold anything; what is no part of ours stays as it is. */
function partFrom(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const nameOf = (kind: string, parts: readonly string[], file: string): string => [kind, ...parts.map(encodeURIComponent), file.replaceAll('/', '_')].join('/')
