import { afterAll as after, describe, it } from 'vitest'
import { fileURLToPath } from 'node:url'
import { createDirectRunner } from '../../extension/platform/node/direct-runner.ts'
import { createKeeperRunner } from '../../extension/platform/node/keeper-runner.ts'
import { processRunnerContract } from './process-runner.suite.ts'

const entry = fileURLToPath(new URL('../../extension/platform/node/keeper-main.ts', import.meta.url))

describe.skipIf(process.platform === 'win32')('the direct runner', () => {
  processRunnerContract({ describe, it, after, create: ({ environment, ...options }) => createDirectRunner({ ...options, environment: () => environment }) })
})

describe.skipIf(process.platform === 'win32')('the keeper runner', () => {
  processRunnerContract({ describe, it, after, create: ({ environment, ...options }) => createKeeperRunner({ ...options, entry, environment: () => environment }) })
})
