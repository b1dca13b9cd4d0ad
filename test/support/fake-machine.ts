import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import type { Machine } from '../../extension/capabilities/machine.ts'

/** A Linux machine whose random ids count: 32 hex digits, `…0001` first. */
export function createFakeMachine(facts: Partial<Machine> = {}): Machine {
  let count = 0
  return {
    platform: 'linux',
    arch: 'x64',
    homeFolder: '/home/person',
    userFolder: '/home/person/.bosun',
    tempFolder: '/tmp',
    bash: '/bin/bash',
    pwsh: null,
    randomId: () => (++count).toString(16).padStart(32, '0'),
    sha256: (bytes) => createHash('sha256').update(bytes).digest('hex'),
    createCarrier: <T>() => {
      const storage = new AsyncLocalStorage<T>()
      return { run: <Result>(value: T, work: () => Result) => storage.run(value, work), current: () => storage.getStore() }
    },
    ...facts,
  }
}
