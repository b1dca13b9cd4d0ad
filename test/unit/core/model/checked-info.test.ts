import { expect, it } from 'vitest'
import { checkedInfo, resolveChecked } from '../../../../extension/core/model/checked-info.ts'
import type { ModelInfo } from '../../../../extension/core/model/contract.ts'
import { createScriptedAdapter } from '../../../support/scripted-adapter.ts'

const adapter = createScriptedAdapter()
const good: ModelInfo = { id: 'm', name: 'M', contextWindow: 1, maxOutputTokens: 1, input: ['text'], reasoningEfforts: [] }

it('good facts about a model go through as they are', async () => {
  expect(checkedInfo(adapter, good)).toBe(good)
  expect(await resolveChecked(adapter, 'm1')).toMatchObject({ id: 'm1' })
})

it.each<[string, unknown]>([
  ['INVALID_MODEL_ID', undefined],
  ['INVALID_MODEL_ID', { ...good, id: ' ' }],
  ['INVALID_MODEL_WINDOW', { ...good, contextWindow: 0 }],
  ['INVALID_MODEL_WINDOW', { ...good, contextWindow: Number.NaN }],
  ['INVALID_MODEL_WINDOW', { ...good, contextWindow: '128k' }],
  ['INVALID_MODEL_OUTPUT', { ...good, maxOutputTokens: -1 }],
  ['INVALID_MODEL_OUTPUT', { ...good, maxOutputTokens: 1.5 }],
  ['INVALID_MODEL_INPUT', { ...good, input: [] }],
  ['INVALID_MODEL_INPUT', { ...good, input: undefined }],
  ['INVALID_MODEL_EFFORTS', { ...good, reasoningEfforts: 'high' }],
  ['INVALID_MODEL_EFFORTS', { ...good, reasoningEfforts: [''] }],
])('%s for facts that cannot be: %j', async (code, info) => {
  const broken = { ...adapter, resolveModel: () => Promise.resolve(info as ModelInfo) }
  await expect(resolveChecked(broken, 'm')).rejects.toMatchObject({ code, message: expect.stringContaining('bosun.model.facts') })
})
