import { describe, expect, it } from 'vitest'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import type { ProviderConfig } from '../../../../extension/core/model/provider-config.ts'
import { modelProvidersPlugin } from '../../../../extension/core/model/providers-plugin.ts'
import { modelsPlugin } from '../../../../extension/core/model/registry.ts'
import { settingsPlugin } from '../../../../extension/core/settings/service.ts'
import { memorySettings, type SettingValues } from '../../../support/memory-settings.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'
import { createScriptedAdapter } from '../../../support/scripted-adapter.ts'

const setUp = async (user: SettingValues = {}) => {
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
      createAdapter(config) {
        created.push(config)
        return createScriptedAdapter([], { provider: config.id })
      },
    }),
  )
  await fiber.ready
  const ids = () => kernel.root.models.list().map(({ provider }) => provider.id)
  return { kernel, source, created, fiber, ids, logger }
}
const table = ['deepseek-official', 'openrouter', 'ollama', 'lm-studio', 'llama-cpp', 'vllm']
const mine = { baseUrl: 'http://127.0.0.1:1/v1' }

describe('the configured providers', () => {
  it('are registered with what is built in, the good entries in spite of the bad', async () => {
    const { ids, kernel } = await setUp({ providers: { mine, broken: { baseUrl: 5 } } })
    expect(ids()).toEqual(['scripted', ...table, 'mine'])
    expect(kernel.root.settings.problems()).toEqual([{ key: 'providers', message: expect.stringContaining('at broken.baseUrl') }])
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
})
