import { describe, expect, it } from 'vitest'
import type { Message, ModelAdapter, ModelRequest, StreamChunk } from '../../../../extension/core/model/contract.ts'
import { createScriptedTour } from '../../../../extension/models/scripted-tour/adapter.ts'
import { createManualClock } from '../../../support/manual-clock.ts'

type Run = (name: string, args: Record<string, unknown>) => { readonly text: string; readonly isError?: boolean }
interface Call {
  readonly id: string
  readonly name: string
  readonly args: Record<string, unknown>
}

const everyTool = ['bash', 'edit', 'glob', 'grep', 'read', 'todo_write', 'write']
const prompt = (text: string): Message => ({ id: text, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } })
const request = (messages: readonly Message[], tools: readonly string[] = everyTool, signal = new AbortController().signal): ModelRequest => ({
  tools: tools.map((name) => ({ name, description: '', parameters: {} })),
  messages,
  config: { provider: 'scripted-tour', model: 'guided-tour' },
  signal,
  loadAttachment: () => Promise.reject(new Error('none')),
})
const tour = () => createScriptedTour({ clock: createManualClock(), wordDelayMs: 0 })

async function answer(adapter: ModelAdapter, asked: ModelRequest): Promise<{ readonly message: Message; readonly text: string; readonly calls: readonly Call[]; readonly finish: unknown }> {
  let text = ''
  let finish: unknown
  const calls: Call[] = []
  for await (const chunk of adapter.stream(asked)) {
    if (chunk.type === 'text-delta') text += chunk.delta
    if (chunk.type === 'tool-call-delta') calls.push({ id: chunk.id ?? '', name: chunk.name ?? '', args: JSON.parse(chunk.argumentsDelta) as Record<string, unknown> })
    if (chunk.type === 'finish') finish = chunk.reason.kind
  }
  const content = [{ type: 'text' as const, text }, ...calls.map(({ id, name, args }) => ({ type: 'tool-call' as const, id, name, arguments: JSON.stringify(args) }))]
  return { message: { id: 'a', role: 'assistant', content, source: { kind: 'model', provider: 'scripted-tour', model: 'guided-tour' } }, text, calls, finish }
}

/** Run the tour to its end with `run` in the place of the tools. */
async function play(run: Run, { tools = everyTool, before = [] }: { readonly tools?: readonly string[]; readonly before?: readonly Message[] } = {}) {
  const adapter = tour()
  const messages: Message[] = [...before, prompt('start')]
  const calls: Call[] = []
  for (let step = 0; step < 20; step += 1) {
    const { message, text, calls: made, finish } = await answer(adapter, request(messages, tools))
    messages.push(message)
    calls.push(...made)
    if (finish === 'stop') return { calls, messages, farewell: text }
    for (const { id, name, args } of made) {
      const { text: output, isError = false } = run(name, args)
      messages.push({ id: `r${id}`, role: 'tool', source: { kind: 'tool', callId: id }, content: [{ type: 'tool-result', callId: id, isError, content: [{ type: 'text', text: output }] }] })
    }
  }
  throw new Error('The tour did not end.')
}

const listing = ['src/app.ts', 'README.md', 'docs/readme.md', 'package-lock.json']
const works: Run = (name, args) => {
  if (name === 'glob') return { text: args['pattern'] === '**/*' ? listing.join('\n') : 'No files found' }
  if (name === 'read') return { text: '<file>\n1: # Harbour\n2: A little ship\n\n(End of file)</file>' }
  return { text: 'done' }
}
const denies =
  (...names: readonly string[]): Run =>
  (name, args) =>
    names.includes(name) ? { text: `Error: ${name} was denied`, isError: true } : works(name, args)
const names = (calls: readonly Call[]) => calls.map(({ name }) => name)
const whole = ['todo_write', 'glob', 'glob', 'read', 'grep', 'write', 'todo_write', 'edit', 'bash', 'todo_write']

describe('the guided tour', () => {
  it('says that it is a script, in its name and in its first words', async () => {
    const adapter = tour()
    expect(adapter.provider).toMatchObject({ id: 'scripted-tour', isScripted: true })
    expect((await adapter.listModels(new AbortController().signal)).map(({ name }) => name)).toEqual(['Guided tour (a script)'])
    expect((await answer(adapter, request([prompt('start')]))).text).toContain('a written script, not a model')
    expect(await adapter.check(new AbortController().signal)).toMatchObject({ isOk: true })
    await expect(adapter.resolveModel('other')).rejects.toThrow(expect.objectContaining({ code: 'UNKNOWN_MODEL' }))
  })

  it('lists, reads, searches, writes, edits, runs and keeps its tasks on whatever is there', async () => {
    const { calls, farewell } = await play(works)
    expect(names(calls)).toEqual(whole)
    const argsOf = (name: string) => calls.filter((call) => call.name === name).map(({ args }) => args)
    expect(argsOf('read')).toEqual([{ file_path: 'README.md', limit: 40 }])
    expect(argsOf('grep')).toEqual([{ pattern: 'Harbour' }])
    expect(argsOf('write')[0]).toMatchObject({ file_path: 'bosun-tour.md' })
    const content = String(argsOf('write')[0]?.['content'])
    expect(argsOf('edit')).toEqual([expect.objectContaining({ file_path: 'bosun-tour.md', old_string: expect.any(String) })])
    expect(content.split(String(argsOf('edit')[0]?.['old_string']))).toHaveLength(2)
    expect(argsOf('bash')).toEqual([expect.objectContaining({ command: 'echo "Hello from Bosun" && ls' })])
    const statuses = argsOf('todo_write').map(({ todos }) => (todos as { status: string }[]).map(({ status }) => status))
    expect(statuses).toEqual([
      ['in_progress', 'pending', 'pending', 'pending'],
      ['completed', 'completed', 'in_progress', 'pending'],
      ['completed', 'completed', 'completed', 'completed'],
    ])
    expect(farewell).toContain('Wrote `bosun-tour.md`')
    expect(new Set(calls.map(({ id }) => id)).size).toBe(calls.length)
  })

  const odd: readonly [name: string, run: Run, calls: readonly string[], words: string][] = [
    ['the writing is denied', denies('write'), whole.filter((name, at) => name !== 'edit' && at !== 6), 'Wrote nothing'],
    ['the editing is denied', denies('edit'), whole, 'Did not change it'],
    ['the command is denied', denies('bash'), whole, 'Ran no command'],
    ['everything fails', denies(...everyTool), ['todo_write', 'glob', 'glob', 'grep', 'write', 'bash', 'todo_write'], 'Could not list'],
    ['there is nothing to read', (name, args) => (name === 'glob' ? { text: 'No files found' } : works(name, args)), whole.filter((name) => name !== 'read'), 'Searched'],
  ]
  it.each(odd)('goes on to its end when %s', async (_name, run, calls, words) => {
    const played = await play(run)
    expect([names(played.calls), played.farewell]).toEqual([calls, expect.stringContaining(words)])
  })

  it('takes another name when its file is there already', async () => {
    const { calls } = await play((name, args) => (name === 'glob' && args['pattern'] !== '**/*' ? { text: 'bosun-tour.md\nsub/bosun-tour-2.md' } : works(name, args)))
    expect(calls.find(({ name }) => name === 'write')?.args['file_path']).toBe('bosun-tour-3.md')
  })

  it('passes by what is not offered, and takes the shell that is', async () => {
    expect(names((await play(works, { tools: ['read', 'glob', 'grep'] })).calls)).toEqual(['glob', 'glob', 'read', 'grep'])
    expect(names((await play(works, { tools: ['pwsh'] })).calls)).toEqual(['pwsh'])
    expect(names((await play(works, { tools: [] })).calls)).toEqual([])
  })

  it('starts anew with each message, with calls of its own', async () => {
    const first = await play(works)
    const second = await play(works, { before: first.messages })
    expect(names(second.calls)).toEqual(whole)
    expect(new Set([...first.calls, ...second.calls].map(({ id }) => id)).size).toBe(whole.length * 2)
  })

  it('names a session in two words', async () =>
    expect(await answer(tour(), { ...request([prompt('start')]), purpose: 'title' })).toMatchObject({ text: 'Guided tour', calls: [] }))

  it('speaks word by word and stops when it is told to', async () => {
    const clock = createManualClock()
    const cancel = new AbortController()
    const stream = createScriptedTour({ clock, wordDelayMs: 10 }).stream(request([prompt('start')], everyTool, cancel.signal))
    const chunks: StreamChunk[] = []
    const reading = (async () => {
      for await (const chunk of stream) chunks.push(chunk)
    })()
    await new Promise(setImmediate)
    expect(chunks.map(({ type }) => type)).toEqual(['block-start'])
    clock.advance(10)
    await new Promise(setImmediate)
    expect(chunks.at(-1)).toEqual({ type: 'reasoning-delta', index: 0, delta: 'A ' })
    cancel.abort()
    await expect(reading).rejects.toThrow('stopped')
    expect(clock.waiting).toBe(0)
  })
})
