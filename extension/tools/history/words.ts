import type { IndexHit } from '../../capabilities/search-index.ts'
import type { Parent, Title } from '../../features/history/service.ts'

export const shownTime = (time: number): string => new Date(time).toISOString()
export const shownTitle = (title: Title): string => ('title' in title ? title.title.replace(/\s+/g, ' ') : `untitled (${title.problem})`)
export const shownHit = ({ seq, type, surface, time, snippet }: IndexHit): string => `event ${seq}, ${type}, ${surface}, ${shownTime(time)}\n  ${snippet}`

export function shownParent(parent: Parent): string {
  switch (parent.kind) {
    case 'root':
      return 'root'
    case 'outside':
      return 'parent outside this workspace'
    case 'session':
      return `parent ${parent.id}`
  }
}

/** Numbers of events, or a word for none. */
export const shownSeqs = (seqs: readonly number[]): string => (seqs.length === 0 ? 'none' : seqs.join(', '))
