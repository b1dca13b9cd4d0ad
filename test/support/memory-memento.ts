import type { Json } from '../../extension/base/json.ts'
import type { Memento } from '../../extension/capabilities/memento.ts'

export interface MemoryMemento extends Memento {
  readonly values: ReadonlyMap<string, Json>
}

export function memoryMemento(start: Readonly<Record<string, Json>> = {}): MemoryMemento {
  const values = new Map(Object.entries(start))
  return {
    values,
    get: (key) => values.get(key),
    async set(key, value) {
      if (value === undefined) values.delete(key)
      else values.set(key, value)
    },
  }
}
