import { expect, it } from 'vitest'
import { Completions } from '../../../extension/host/completions.ts'
import type { CompletionItem, HostMessage } from '../../../extension/protocol/messages.ts'
import { fakeChannel } from './fake-channel.ts'

const item: CompletionItem = { kind: 'file', label: 'a.ts', detail: '', icon: 'file', insert: '@a.ts ' }

function rig() {
  const errors: unknown[] = []
  const completions = new Completions((error) => errors.push(error))
  const { channel } = fakeChannel()
  const replies: HostMessage[] = []
  const ask = (id: string, kind: '@' | '/', query = '') =>
    completions.answer({ type: 'completions', id, kind, query }, { channel, reply: (message) => replies.push(message), agent: null, cwd: '/project' })
  return { completions, ask, replies, errors }
}

const answer = (id: string, items: readonly CompletionItem[], isComplete: boolean) => ({ type: 'completions', id, items, isComplete })

it('answers with nothing where nobody offers anything', async () => {
  const { ask, replies } = rig()
  await ask('1', '/')
  expect(replies).toEqual([answer('1', [], true)])
})

it('passes on what is found before the end', async () => {
  const { completions, ask, replies } = rig()
  completions.provide('@', async (_query, _context, found) => {
    found([item])
    return [item, item]
  })
  await ask('1', '@')
  expect(replies).toEqual([answer('1', [item], false), answer('1', [item, item], true)])
})

it('cancels an older question of the same page, which is not answered any more', async () => {
  const { completions, ask, replies } = rig()
  const waiting: (() => void)[] = []
  completions.provide('@', (query, { signal }) => new Promise((resolve) => waiting.push(() => resolve(signal.aborted ? [] : [{ ...item, label: query }]))))
  const both = [ask('1', '@', 'a'), ask('2', '@', 'ab')]
  for (const go of waiting) go()
  await Promise.all(both)
  expect(replies).toEqual([answer('2', [{ ...item, label: 'ab' }], true)])
})

it('closes the menu over a source that fails, and says so in the log', async () => {
  const { completions, ask, replies, errors } = rig()
  completions.provide('/', () => Promise.reject(new Error('no')))
  await ask('1', '/')
  expect([replies, errors]).toEqual([[answer('1', [], true)], [new Error('no')]])
})

it('offers nothing more once its source is gone', async () => {
  const { completions, ask, replies } = rig()
  const undo = completions.provide('/', async () => [item])
  undo()
  await ask('1', '/')
  expect(replies).toEqual([answer('1', [], true)])
})
