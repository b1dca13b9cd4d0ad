import type * as vscode from 'vscode'
import type { Secrets } from '../../capabilities/secrets.ts'

/** Keys in the editor's secret storage; a variable of the environment with the same name wins over it. */
export function createVscodeSecrets(storage: vscode.SecretStorage, environment: Readonly<Record<string, string | undefined>>): Secrets {
  const given = (name: string) => {
    const value = environment[name]
    return value === undefined || value === '' ? undefined : value
  }
  const refuseGiven = (name: string) => {
    if (given(name) !== undefined) throw new Error(`${name} is set in the environment, which wins. Change it there.`)
  }
  return {
    async get(name) {
      const fromEnvironment = given(name)
      if (fromEnvironment !== undefined) return { value: fromEnvironment, source: 'environment' }
      const value = await storage.get(keyOf(name))
      return value === undefined || value === '' ? null : { value, source: 'store' }
    },
    async set(name, value) {
      refuseGiven(name)
      await storage.store(keyOf(name), value)
    },
    async delete(name) {
      refuseGiven(name)
      await storage.delete(keyOf(name))
    },
    onDidChange(listener) {
      const subscription = storage.onDidChange(({ key }) => {
        if (key.startsWith(PREFIX)) listener(key.slice(PREFIX.length))
      })
      return () => subscription.dispose()
    },
  }
}

const PREFIX = 'key.'
const keyOf = (name: string) => `${PREFIX}${name}`
