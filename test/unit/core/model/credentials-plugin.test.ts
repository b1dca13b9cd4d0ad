import { expect, it } from 'vitest'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import { credentialsPlugin } from '../../../../extension/core/model/credentials-plugin.ts'
import { memorySecrets } from '../../../support/memory-secrets.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

it('a changed key is told by its name, to every layer, until the plugin goes', async () => {
  const kernel = createKernel({ logger: createRecordingLogger() })
  const secrets = memorySecrets()
  const fiber = kernel.root.plugin(credentialsPlugin({ secrets, dispatch: kernel.dispatch }))
  await fiber.ready
  const told: unknown[] = []
  kernel.root.on('credentials/updated', () => {
    throw new Error('a bad listener')
  })
  kernel.root.scoped(kernel.createScope('a preset', null)).on('credentials/updated', (...news) => void told.push(news))
  await secrets.set('A_KEY', 'secret')
  await secrets.delete('A_KEY')
  await fiber.dispose()
  await secrets.set('A_KEY', 'again')
  expect(told).toEqual([['A_KEY'], ['A_KEY']])
})
