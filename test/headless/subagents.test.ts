import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createFolders, runHeadless } from '../support/headless.ts'
import { logsIn, readLog } from '../support/stored-logs.ts'
import type { ModelScript, ScriptToolCall } from '../support/model-script.ts'
import { sharedPrefixLength, startModelServer } from '../support/model-server.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function setUp(script: ModelScript) {
  const { paths, remove } = createFolders('work', 'store')
  const [work = '', store = ''] = paths
  mkdirSync(work, { recursive: true })
  writeFileSync(join(work, 'a.txt'), 'the answer is 42\n')
  const server = await startModelServer(script)
  cleanUps.push(remove, () => server.close())
  return { work, store, server, run: (...more: string[]) => runHeadless(['run', '--cwd', work, '--base-url', server.url, '--model', 'scripted', '--storage', store, '--preset', 'standard', ...more]) }
}

const call = (name: string, args: unknown): { readonly toolCalls: readonly ScriptToolCall[] } => ({ toolCalls: [{ name, arguments: args }] })
const ends = (rows: readonly Record<string, unknown>[]) => rows.filter(({ type }) => type === 'turn/end').map(({ data }) => (data as { reason: { kind: string } }).reason.kind)

describe('a run whose model starts agents', () => {
  it('waits for one in the foreground: both sessions are stored, and the events of the parent are printed', async () => {
    const { run, store, server } = await setUp({
      steps: [
        { when: /^Ask somebody/, answer: { parts: [call('subagent', { description: 'Find the answer', prompt: 'Read a.txt and say the answer.', run_in_background: false })] } },
        { when: /^Read a\.txt/, answer: { parts: [call('read', { file_path: 'a.txt' })] } },
        { when: /the answer is 42/, answer: { parts: [{ text: 'It is 42.' }] } },
        { when: /^It is 42/, answer: { parts: [{ text: 'They say 42.' }] } },
      ],
    })
    const { code, lines, stderr } = await run('--prompt', 'Ask somebody for the answer.')
    expect([code, lines.at(-1)], stderr).toEqual([0, expect.objectContaining({ type: 'turn/end' })])
    const logs = logsIn(store).map(readLog)
    const parent = logs.find(({ header }) => header['origin'] === undefined)
    const child = logs.find(({ header }) => header['origin'] === 'subagent')
    expect(logs.length).toBe(2)
    expect(child?.header).toMatchObject({ parentSession: parent?.header['id'], delegationDepth: 1, agentPreset: 'standard' })
    expect([ends(parent?.rows ?? []), ends(child?.rows ?? [])]).toEqual([['completed'], ['completed']])
    expect(child?.rows.find(({ type }) => type === 'subagent/descriptor')).toMatchObject({ data: { version: 2, mode: 'one-shot', provider: 'spawn', label: 'Find the answer' } })
    // Not one line of the child's.
    expect(lines.filter(({ type }) => type === 'turn/start').length).toBe(1)
    expect(JSON.stringify(lines.find(({ type }) => type === 'tool/result'))).toContain('It is 42.')
    // The parent's two requests share every byte up to what is new, whatever its child asked in between.
    const [first, , , last] = server.requests
    expect(sharedPrefixLength(first!.body, last!.body)).toBeGreaterThan(first!.body.lastIndexOf(']') - 20)
  })

  it('goes on until those in the background are at rest, and hears of them', async () => {
    const { run, store } = await setUp({
      steps: [
        { when: /^Ask two/, answer: { parts: [{ toolCalls: ['one', 'two'].map((name) => ({ name: 'subagent', arguments: { description: `ask ${name}`, prompt: `You are ${name}.` } })) }] } },
        { when: /^You are one/, answer: { parts: [{ waitMs: 300 }, { text: 'I was one.' }] } },
        { when: /^You are two/, answer: { parts: [{ waitMs: 600 }, { text: 'I was two.' }] } },
        { when: /^Started agent/, answer: { parts: [{ text: 'They are at work.' }] } },
        { when: /I was (one|two)/, answer: { parts: [{ text: 'Heard.' }] }, repeat: true },
      ],
    })
    const { code, lines, stderr } = await run('--prompt', 'Ask two of them.')
    expect(code, stderr).toBe(0)
    const heard = lines.filter(({ type, data }) => type === 'user/message' && (data as { source: { kind: string } }).source.kind === 'subagent-settled')
    expect(heard.map(({ data }) => /I was (\w+)/.exec(JSON.stringify(data))?.[1])).toEqual(['one', 'two'])
    expect(logsIn(store).length).toBe(3)
  })
})
