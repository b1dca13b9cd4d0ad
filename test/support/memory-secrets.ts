import type { Secrets } from '../../extension/capabilities/secrets.ts'

/** Secrets in memory; those of the environment win and cannot be set. */
export function memorySecrets(store: Readonly<Record<string, string>> = {}, environment: Readonly<Record<string, string>> = {}): Secrets {
  const values = new Map(Object.entries(store))
  const listeners = new Set<(name: string) => void>()
  const tell = (name: string) => listeners.forEach((listener) => listener(name))
  return {
    get(name) {
      const given = environment[name]
      if (given !== undefined) return Promise.resolve({ value: given, source: 'environment' })
      const value = values.get(name)
      return Promise.resolve(value === undefined ? null : { value, source: 'store' })
    },
    set(name, value) {
      if (environment[name] !== undefined) return Promise.reject(new Error(`${name} is given by the environment.`))
      values.set(name, value)
      tell(name)
      return Promise.resolve()
    },
    delete(name) {
      values.delete(name)
      tell(name)
      return Promise.resolve()
    },
    onDidChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
