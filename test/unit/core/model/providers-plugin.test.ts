import { describe, expect, it } from 'vitest'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import { providerTable } from '../../../../extension/core/model/provider-table.ts'
import type { ProviderConfig } from '../../../../extension/core/model/provider-config.ts'
import { modelProvidersPlugin } from '../../../../extension/core/model/providers-plugin.ts'
import { modelsPlugin } from '../../../../extension/core/model/registry.ts'
import { settingsPlugin } from '../../../../extension/core/settings/service.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'
import { memorySettings, type SettingValues } from '../../../support/memory-settings.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'
import { createScriptedAdapter } from '../../../support/scripted-adapter.ts'

const setUp = async (user: SettingValues = {}, modelFile?: string) => {
  const files = new MemoryFileSystem(modelFile === undefined ? {} : { '/home/models.json': modelFile })
  const logger = createRecordingLogger()
  const kernel = createKernel({ logger })
  const source = memorySettings(user)
  const created: ProviderConfig[] = []
  kernel.root.plugin(settingsPlugin({ source, logger, dispatch: kernel.dispatch }))
  kernel.root.plugin(modelsPlugin({ dispatch: kernel.dispatch }))
  const fiber = kernel.root.plugin(
    modelProvidersPlugin({
      source,
      logger,
      builtIn: [createScriptedAdapter()],
      modelFile: { files, path: '/home/models.json' },
      createAdapter(config) {
        created.push(config)
        return createScriptedAdapter([], { provider: config.id })
      },
    }),
  )
  await fiber.ready
  const ids = () => kernel.root.models.list().map(({ provider }) => provider.id)
  return { kernel, source, created, fiber, files, ids, logger }
}
const table = providerTable.map(({ id }) => id)
const mine = { baseUrl: 'http://127.0.0.1:1/v1' }

describe('the configured providers', () => {
  it('are registered with what is built in, the good entries in spite of the bad', async () => {
    const { ids, kernel } = await setUp({ providers: { mine, broken: { baseUrl: 5 } } })
    expect(ids()).toEqual(['scripted', ...table, 'mine'])
    expect(kernel.root.settings.problems()).toEqual([{ key: 'providers', message: expect.stringContaining('at broken.baseUrl') }])
    expect(kernel.root.modelProblems.list()).toEqual([expect.stringContaining('"broken" in bosun.providers does not count: baseUrl must be an address')])
  })

  it('follow the settings, each only when it changed', async () => {
    const { ids, source, created } = await setUp({ providers: { mine } })
    created.length = 0
    await source.set('providers', { mine: { ...mine, name: 'Mine' }, other: mine }, 'user')
    expect([created.map(({ id, name }) => [id, name]), ids().slice(-2)]).toEqual([
      [
        ['mine', 'Mine'],
        ['other', 'other'],
      ],
      ['mine', 'other'],
    ])
    await source.set('providers', undefined, 'user')
    expect(ids()).toEqual(['scripted', ...table])
    created.length = 0
    await source.set('llm.retry.maxRetries', 1, 'user')
    expect(created.map(({ id, retryPolicy }) => [id, retryPolicy.maxRetries])).toEqual(table.map((id) => [id, 1]))
  })

  it('say what is missing and go with their plugin', async () => {
    const { ids, logger, fiber } = await setUp({ providers: { mine: { name: 'x' } } })
    expect(logger.lines.map(({ message }) => message)).toEqual([expect.stringContaining('no baseUrl')])
    await fiber.dispose()
    expect(ids()).toEqual([])
  })

  it('take in what the person says of models, from the settings before the file', async () => {
    const file = JSON.stringify({ models: { 'mine/a': { contextWindow: 1, maxOutputTokens: 2 }, b: { images: true } } })
    const { created, kernel } = await setUp({ providers: { mine }, 'model.facts': { 'mine/a': { contextWindow: 3 } } }, file)
    const config = created.findLast(({ id }) => id === 'mine')
    expect(config?.overrides).toMatchObject({ a: { contextWindow: 3 }, b: { images: true } })
    expect(kernel.root.modelProblems.list()).toEqual([])
  })

  it('list the bad entries about models with their reasons and keep the good ones', async () => {
    const { created, kernel } = await setUp({ 'model.facts': { a: { contextWindow: 0 }, b: { contextWindow: 7 } } }, '{"c": {"price": {"input": 1}}, "d": {"images": true}}')
    expect(created.at(-1)?.overrides).toEqual({ b: { contextWindow: 7 }, d: { images: true } })
    expect(kernel.root.modelProblems.list()).toEqual([
      expect.stringMatching(/bosun\.model\.facts says of "a" does not count: contextWindow/),
      expect.stringMatching(/models\.json says of "c" does not count: price\.output/),
    ])
  })

  it.each([
    ['{', /holds no JSON/],
    ['[]', /must hold an object/],
  ])('say why the file %s about models counts for nothing', async (text, reason) => {
    const { kernel } = await setUp({}, text)
    expect(kernel.root.modelProblems.list()).toEqual([expect.stringMatching(reason)])
  })
})
