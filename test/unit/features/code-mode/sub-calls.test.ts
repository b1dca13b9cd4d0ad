import { expect, it } from 'vitest'
import type { BodyExecution, ToolResult } from '../../../../extension/core/tools/definition.ts'
import type { StagedExecution } from '../../../../extension/core/tools/service.ts'
import { SubCalls, type SubCallParts } from '../../../../extension/features/code-mode/sub-calls.ts'

const done: ToolResult = { isError: false, value: null, content: [], additionalContexts: [{ id: 'm', role: 'user', content: [], source: { kind: 'user' } }] }

/** The calls of a program whose tools are done at once, but for what is given; with what began and how each ended, in the order of the log. */
function callsOf({ staged = {}, exec = {}, record = async () => undefined }: { readonly staged?: Partial<StagedExecution>; readonly exec?: Partial<BodyExecution>; readonly record?: SubCallParts['record'] } = {}) {
  const began: string[] = []
  const ended: [string, boolean][] = []
  const calls = new SubCalls({
    tools: { get: () => undefined, executionMode: () => 'parallel', begin: () => ({ prepare: async () => undefined, run: async () => undefined, commit: async () => done, ...staged }) },
    exec: { callId: 'c', rootCallId: 'c', name: 'run_code', arguments: {}, token: { id: 't' }, signal: new AbortController().signal, deferContext: () => undefined, concludeTurn: () => undefined, progress: () => undefined, ...exec },
    maxParallel: () => 2,
    newId: () => 'id',
    onStart: ({ subCallId }) => void began.push(subCallId),
    record: async (place, result) => {
      ended.push([place.subCallId, result.isError])
      await record(place, result)
    },
    onProgress: () => undefined,
  })
  return { calls, began, ended }
}
const over = new AbortController().signal

/** What a machinery that breaks leaves behind of two calls: what began, what ended. */
async function leftBy(broken: Parameters<typeof callsOf>[0]) {
  const { calls, began, ended } = callsOf(broken)
  await expect(calls.call('look', {}, over)).rejects.toThrow('It broke.')
  await expect(calls.call('look', {}, over)).rejects.toThrow('so this call was not made')
  await expect(calls.end()).rejects.toThrow('It broke.')
  return { began, ended }
}
const breaks = () => Promise.reject(new Error('It broke.'))

it.each([['body', { run: breaks }], ['commit', { commit: breaks }]])('a call has its one end also where the machinery breaks in its %s, and nothing more begins', async (_, staged) =>
  expect(await leftBy({ staged })).toEqual({ began: ['c:code:1'], ended: [['c:code:1', true]] }))

it('a call that has its end gets no second one where passing on what it says breaks', async () => {
  const deferContext = () => {
    throw new Error('It broke.')
  }
  expect(await leftBy({ exec: { deferContext } })).toEqual({ began: ['c:code:1'], ended: [['c:code:1', false]] })
})

it.each([
  ['when the program has ended', {}, AbortSignal.abort()],
  ['when the call that runs the program was stopped before', { signal: AbortSignal.abort() }, over],
])('a call that comes %s is not made, though it is the first of all', async (_, exec, signal) => {
  const { calls, began, ended } = callsOf({ exec })
  await expect(calls.call('look', {}, signal)).rejects.toThrow('so this call was not made')
  await calls.end()
  expect([began, ended, calls.begun]).toEqual([[], [], 0])
})

it('a value is there at once, also while its end is still being written down; too many that wait to be written hold the next call back', async () => {
  const writing = Promise.withResolvers<void>()
  const { calls, began } = callsOf({ record: () => writing.promise })
  for (let n = 0; n < 3; n++) expect(await calls.call('look', {}, over)).toBeNull()
  const held = calls.call('look', {}, over)
  await new Promise((resolve) => setImmediate(resolve))
  expect(began).toEqual(['c:code:1', 'c:code:2', 'c:code:3'])
  writing.resolve()
  expect(await held).toBeNull()
  await calls.end()
  expect(began).toEqual(['c:code:1', 'c:code:2', 'c:code:3', 'c:code:4'])
})

it('the first end that could not be written down is told when all has ended', async () => {
  const { calls } = callsOf({ record: breaks })
  expect(await calls.call('look', {}, over)).toBeNull()
  await expect(calls.end()).rejects.toThrow('It broke.')
})
