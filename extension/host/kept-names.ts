/**
 * Names of what Bosun shows in editors and that is no file. They hold what is needed to draw it again: an editor outlives the window,
 * what was kept for it does not.
 */
export const keptNames = {
  hooks: (title: string) => nameOf('hooks', [], `${title}.md`),
  storage: (title: string) => nameOf('storage', [], `${title}.md`),
  /** Of a session, or of the one that would begin now. */
  page: (kind: 'instructions' | 'skills', session: string | null, title: string) => nameOf(kind, [session ?? 'new'], `${title}.md`),
  tasks: (session: string, title: string) => nameOf('tasks', [session], `${title}.md`),
  /** A plan under review, by the call that asked for it. */
  plan: (session: string, callId: string, title: string) => nameOf('plan', [session, callId], `${title.replaceAll(/[\\/:*?"<>|#%]/g, '_')}.md`),
  /** An event as it is stored, and the text by which it was found. */
  event: ({ sessionId, seq }: { readonly sessionId: string; readonly seq: number }) => nameOf('event', [sessionId, String(seq)], `event-${seq}.json`),
  found: ({ sessionId, seq }: { readonly sessionId: string; readonly seq: number }) => nameOf('found', [sessionId, String(seq)], `event-${seq}.txt`),
  trace: (session: string, title: string) => nameOf('trace', [session], `${title}.md`),
  log: (session: string) => nameOf('log', [session], 'events.jsonl'),
  output: (session: string, callId: string, tool: string) => nameOf('output', [session, callId], `${tool}.txt`),
  /** What a call was given; `file` says by its end which language it is. */
  input: (session: string, callId: string, file: string) => nameOf('input', [session, callId], file),
  /** `digest` null: there was no file. */
  before: ({ session, callId, digest }: { readonly session: string; readonly callId: string; readonly digest: string | null }, file: string) =>
    nameOf('before', [session, callId, digest ?? 'none'], file),
  /** A file without the changes that wait for review. */
  baseline: (session: string, path: string, file: string) => nameOf('baseline', [session, path], file),
  /** A side of a merge where the person and the agent changed the same lines. */
  mergeSide: (session: string, path: string, side: 'agent' | 'without' | 'now', file: string) => nameOf('merge-side', [session, path, side], file),
  /** A file that a child changed in its worktree, as it began, as it made it, or as the person's is. */
  childWork: ({ session, id }: { readonly session: string; readonly id: string }, path: string, side: 'base' | 'theirs' | 'ours', file: string) => nameOf('child-work', [session, id, path, side], file),
  /** A file as it was before a turn. */
  turnStart: ({ session, turn }: { readonly session: string; readonly turn: number }, path: string, file: string) => nameOf('turn-start', [session, String(turn), path], file),
  /** The script of a run, or the result of its member `what`. */
  workflow: (session: string, runId: string, what: string, file: string) => nameOf('workflow', [session, runId, what], file),
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
