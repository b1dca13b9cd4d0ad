import type { Clock } from '../capabilities/clock.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { ReferenceCandidate, References } from '../features/references/service.ts'
import type { CompletionItem } from '../protocol/messages.ts'
import type { CompletionSource } from './completions.ts'
import { agoOf } from './time-words.ts'

interface Needs {
  readonly references: Pick<References, 'candidates'>
  readonly l10n: Localization
  readonly clock: Pick<Clock, 'now'>
}

/** The menu behind an `@`. */
export function referenceCompletions({ references, l10n, clock }: Needs): CompletionSource {
  return async (query, { agent, cwd, signal }, found) => {
    if (cwd === null) return []
    const items = (candidates: readonly ReferenceCandidate[]) => candidates.map((candidate) => itemOf(candidate, l10n, clock.now()))
    const place = { cwd, signal, ...(agent === null ? {} : { sessionId: agent.id }) }
    return items(await references.candidates(query, place, (some) => found(items(some))))
  }
}

function itemOf(candidate: ReferenceCandidate, l10n: Localization, now: number): CompletionItem {
  const { t } = l10n
  switch (candidate.kind) {
    case 'file':
      return { kind: 'file', ...pathParts(candidate.path), icon: candidate.isOpen ? 'go-to-file' : 'file', insert: `${candidate.insert} ` }
    case 'folder':
      // No blank: what is in it comes next.
      return { kind: 'folder', ...pathParts(candidate.path.replace(/\/$/, '')), icon: 'folder', insert: candidate.insert }
    case 'selection':
      return { kind: 'fact', label: 'selection', detail: t('What is selected in the editor'), icon: 'selection', insert: `${candidate.insert} ` }
    case 'problems':
      return { kind: 'fact', label: 'problems', detail: t('Errors and warnings of the editor'), icon: 'warning', insert: `${candidate.insert} ` }
    case 'changes':
      return { kind: 'fact', label: 'changes', detail: t('What changed since the last commit'), icon: 'git-compare', insert: `${candidate.insert} ` }
    case 'terminal':
      return { kind: 'fact', label: 'terminal', detail: t('What is selected in the terminal'), icon: 'terminal', insert: `${candidate.insert} ` }
    case 'symbols':
      return { kind: 'fact', label: 'symbol:', detail: t('A function, class or other name in the code'), icon: 'symbol-class', insert: candidate.insert }
    case 'sessions':
      return { kind: 'fact', label: 'session:', detail: t('What was said in another session'), icon: 'comment-discussion', insert: candidate.insert }
    case 'resources':
      return { kind: 'fact', label: 'mcp:', detail: t('Something that an MCP server has'), icon: 'database', insert: candidate.insert }
    case 'resource':
      return { kind: 'fact', label: candidate.name, detail: `${candidate.server}: ${candidate.uri}`, icon: 'database', insert: `${candidate.insert} ` }
    case 'symbol':
      return { kind: 'symbol', label: candidate.name, detail: candidate.path, icon: `symbol-${candidate.symbolKind}`, insert: `${candidate.insert} ` }
    case 'plugin':
      return { kind: 'fact', label: candidate.insert.slice(1), detail: t('Plugin “{name}”', { name: candidate.name }), icon: 'extensions', insert: `${candidate.insert} ` }
    case 'session':
      return { kind: 'session', label: candidate.title, detail: agoOf(now - candidate.updatedAt, l10n), icon: 'comment-discussion', insert: `${candidate.insert} ` }
  }
}

function pathParts(path: string): { readonly label: string; readonly detail: string } {
  const cut = path.lastIndexOf('/')
  return { label: path.slice(cut + 1), detail: cut <= 0 ? '' : path.slice(0, cut) }
}
