import { expect, it } from 'vitest'
import { createPolicyAttention } from '../../../../extension/platform/node/attention.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

const buttons = [
  { id: 'allow-once', label: 'Allow once' },
  { id: 'deny', label: 'Deny' },
]
const ask = (choose: () => string | null, signal = new AbortController().signal) =>
  createPolicyAttention({ choose, logger: createRecordingLogger() }).ask({ text: 'May I?', buttons, signal })

it.each([
  ['an offered button', () => 'deny', 'deny'],
  ['no answer', () => null, null],
  ['a button that is not offered', () => 'always', null],
  [
    'a policy that fails',
    () => {
      throw new Error('broken')
    },
    null,
  ],
])('%s', async (_, choose, answer) => expect(await ask(choose)).toBe(answer))

it('does not answer what was answered elsewhere', async () => expect(await ask(() => 'deny', AbortSignal.abort())).toBeNull())

it('logs what would be told', async () => {
  const logger = createRecordingLogger()
  await createPolicyAttention({ choose: () => null, logger }).tell({ level: 'warning', text: 'careful' })
  expect(logger.lines).toEqual([{ level: 'warn', message: 'careful' }])
})
