import { describe, expect, it } from 'vitest'
import type { ModelAdapter } from '../../../../extension/core/model/contract.ts'
import { checkConnection, listChoices } from '../../../../extension/core/model/model-choices.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { memorySecrets } from '../../../support/memory-secrets.ts'
import { createScriptedAdapter } from '../../../support/scripted-adapter.ts'

const provider = (id: string, more: Partial<ModelAdapter> & { readonly info?: object } = {}): ModelAdapter => {
  const { info, ...rest } = more
  return { ...createScriptedAdapter(), provider: { id, name: id, ...info }, ...rest }
}
const never = () => new Promise<never>(() => undefined)
const fails = () => Promise.reject(new Error('Nothing answers.'))

const setUp = (adapters: readonly ModelAdapter[]) => ({
  models: { list: () => adapters, get: (id: string) => adapters.find((adapter) => adapter.provider.id === id) },
  secrets: memorySecrets({ SET: 'x', BLANK: ' ' }),
  clock: createManualClock(),
})

describe('the choices of a model', () => {
  it('hold what answers, with keys that are missing, and name what does not; a local server only when it runs', async () => {
    const parts = setUp([
      provider('works'),
      provider('has key', { info: { keyName: 'SET' } }),
      provider('blank key', { info: { keyName: 'BLANK' } }),
      provider('fails', { listModels: fails }),
      provider('local', { info: { isLocal: true } }),
      provider('absent', { info: { isLocal: true }, listModels: fails }),
      provider('mute', { info: { isLocal: true }, listModels: never }),
    ])
    const choices = listChoices(parts)
    await new Promise(setImmediate)
    parts.clock.advance(300)
    expect((await choices).map(({ adapter, models, needsKey, problem }) => [adapter.provider.id, models.length, needsKey, problem])).toEqual([
      ['works', 1, false, null],
      ['has key', 1, false, null],
      ['blank key', 1, true, null],
      ['fails', 0, false, 'Nothing answers.'],
      ['local', 1, false, null],
    ])
  })

  it('wait for a slow provider no longer than a person would', async () => {
    const parts = setUp([provider('slow', { listModels: never })])
    const choices = listChoices(parts)
    await new Promise(setImmediate)
    parts.clock.advance(4_000)
    expect((await choices).map(({ problem }) => problem)).toEqual([expect.stringContaining('in time')])
  })

  it('can be checked one by one, and each check ends', async () => {
    const parts = setUp([provider('works'), provider('mute', { check: never })])
    expect(await checkConnection(parts, 'works', 'm1')).toMatchObject({ isOk: true })
    expect(await checkConnection(parts, 'nowhere')).toMatchObject({ isOk: false, code: 'NO_ADAPTER' })
    const late = checkConnection(parts, 'mute')
    parts.clock.advance(20_000)
    expect(await late).toMatchObject({ isOk: false, code: 'TIMEOUT' })
  })
})
