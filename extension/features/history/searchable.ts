import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { EventSurface, IndexedEvent } from '../../capabilities/search-index.ts'
import type { SessionEvent } from '../../core/log/event.ts'
import type { EventTypes } from '../../core/log/event-types.ts'
import { redactSecrets } from '../../core/policy/redact-secrets.ts'
import { isSurfaceEvent } from '../../core/session/surface.ts'

/** UTF-16 units of one event that the index holds; a longer text is found by its beginning. */
const MAX_TEXT_CHARS = 262_144
/** Calls whose files are remembered for their results. */
const MAX_CALLS = 1_000
const pathKeys = ['file_path', 'path', 'notebook_path'] as const

/** What can be searched for of an event, with known shapes of secrets left out; empty when nothing can. */
export function searchableText({ type, data }: Pick<SessionEvent, 'type' | 'data'>, types: Pick<EventTypes, 'get'>): string {
  try {
    // Committed data is lossless JSON, which its interfaces cannot say.
    return redactSecrets(types.get(type)?.searchText?.(data as unknown as JsonObject) ?? '')
  } catch {
    // A record of another build may lack what its type promises; then there is nothing in it to find.
    return ''
  }
}

/** Makes of the events of one session, given in order, what an index holds, and tells what each takes from the model's sight. */
export class EventReader {
  readonly #types: Pick<EventTypes, 'get'>
  readonly #pathsOfCalls = new Map<string, readonly string[]>()

  constructor(types: Pick<EventTypes, 'get'>) {
    this.#types = types
  }

  /** Null for an event that nobody can find. */
  read(event: SessionEvent): IndexedEvent | null {
    const paths = this.#pathsOf(event)
    const text = searchableText(event, this.#types).slice(0, MAX_TEXT_CHARS)
    if (text.trim() === '') return null
    const surface: EventSurface = isSurfaceEvent(event) ? 'current' : 'log-only'
    return { seq: event.seq, type: event.type, surface, time: event.time, text, ...(paths.length > 0 && { paths }) }
  }

  #pathsOf(event: SessionEvent): readonly string[] {
    if (event.type === 'tool/result') return this.#pathsOfCalls.get(event.data.message.content[0]?.callId) ?? []
    if (event.type !== 'tool/call') return []
    const paths = namedPaths(event.data.arguments)
    if (paths.length > 0) this.#pathsOfCalls.set(event.data.callId, paths)
    if (this.#pathsOfCalls.size > MAX_CALLS) this.#pathsOfCalls.delete(this.#pathsOfCalls.keys().next().value!)
    return paths
  }
}

/** Files that the arguments of a call name. */
export function namedPaths(given: string): readonly string[] {
  try {
    const args = JSON.parse(given) as Json
    if (!isJsonObject(args)) return []
    return pathKeys.flatMap((key) => (Object.hasOwn(args, key) && typeof args[key] === 'string' && args[key] !== '' ? [args[key].replaceAll('\\', '/')] : []))
  } catch {
    // Arguments that are no JSON name nothing.
    return []
  }
}

/** Numbers of the events on the surface, in its order. */
export class SurfaceNumbers {
  #nodes: number[] = []

  /** The numbers that `event` takes the place of; null when they are not there. */
  take(event: SessionEvent): readonly number[] | null {
    if (!isSurfaceEvent(event)) return []
    const place = event.surfaceOp
    if (place === undefined || place === 'append') {
      this.#nodes.push(event.seq)
      return []
    }
    if (place.end >= this.#nodes.length) return null
    return this.#nodes.splice(place.start, place.end - place.start + 1, event.seq)
  }

  get current(): readonly number[] {
    return this.#nodes
  }
}
