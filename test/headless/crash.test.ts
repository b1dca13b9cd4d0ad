import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createFolders, runHeadless } from '../support/headless.ts'
import { logsIn, readLog } from '../support/stored-logs.ts'
import type { ModelScript } from '../support/model-script.ts'
import { startModelServer } from '../support/model-server.ts'

const script: ModelScript = {
  steps: [
    { answer: { parts: [{ text: 'Reading.' }, { toolCalls: [{ id: 'c1', name: 'read', arguments: { file_path: 'a.txt' } }] }] } },
    { answer: { parts: [{ toolCalls: [{ id: 'c2', name: 'edit', arguments: { file_path: 'a.txt', old_string: 'one', new_string: 'two' } }] }] } },
    { answer: { parts: [{ toolCalls: [{ id: 'c3', name: 'bash', arguments: { command: 'cat a.txt', description: 'Show it' } }] }] } },
    { answer: { parts: [{ text: 'Done.' }] } },
  ],
}

/** Start the turn, kill it at the `killAt`th printed event, and resume it with a model that only says that it is fine. */
async function killedAt(killAt: number) {
  const { paths, remove } = createFolders('work', 'store')
  const [work = '', store = ''] = paths
  mkdirSync(work)
  writeFileSync(join(work, 'a.txt'), 'one\n')
  const server = await startModelServer(script)
  const base = ['run', '--cwd', work, '--base-url', server.url, '--model', 'scripted', '--storage', store, '--permissions', 'allow']
  try {
    let requestsAtKill = 0
    const first = await runHeadless([...base, '--prompt', 'go'], {
      onLine: (_line, count, kill) => {
        if (count !== killAt) return
        requestsAtKill = server.chats().length
        kill('SIGKILL')
      },
    })
    const [log] = safeLogs(store)
    if (log === undefined) return { first, requestsAtKill, log: null, file: readFileSync(join(work, 'a.txt'), 'utf8') }
    const durable = readLog(log)
    server.play({ steps: [{ repeat: true, answer: { parts: [{ text: 'Fine.' }] } }] })
    const resumed = await runHeadless([...base, '--resume', String(durable.header['id']), '--prompt', 'and now?'])
    const lastRequest = JSON.parse(server.chats().at(-1)?.body ?? '{}') as { readonly messages: readonly Message[] }
    return { first, requestsAtKill, log: { durable, after: readLog(log).rows }, resumed, lastRequest, file: readFileSync(join(work, 'a.txt'), 'utf8') }
  } finally {
    await server.close()
    remove()
  }
}

interface Message {
  readonly role: string
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { readonly id: string }[]
}

function safeLogs(store: string): readonly string[] {
  try {
    return logsIn(store)
  } catch {
    return [] // Killed before anything was written.
  }
}

const seqOf = (row: Record<string, unknown>) => Number(row['seq'])

it('killed at every single event: the log opens, the turn is closed, no call lacks a result, nothing durable is lost', async () => {
  const whole = await killedAt(Number.POSITIVE_INFINITY)
  expect(whole.first.code, whole.first.stderr).toBe(0)
  const total = whole.first.lines.length
  expect(total).toBeGreaterThan(25)
  // Two at a time: a run waits for its own small programs most of the time.
  const points = Array.from({ length: total }, (_point, index) => index + 1)
  const check = async (killAt: number): Promise<void> => {
    const outcome = await killedAt(killAt)
    const about = `killed at event ${killAt}`
    if (outcome.log === null) {
      // Nothing was durable yet, so nothing may have happened either.
      expect([outcome.requestsAtKill, outcome.file], about).toEqual([0, 'one\n'])
      return
    }
    const { durable, after } = outcome.log
    expect([outcome.resumed?.code, outcome.resumed?.stderr.includes('Error')], `${about}: ${outcome.resumed?.stderr}`).toEqual([0, false])
    // The durable rows stand unchanged before what the repair and the next turn added.
    expect(after.slice(0, durable.rows.length), about).toEqual(durable.rows)
    // Whatever a request was built from was durable before the request left.
    const requestHeaders = outcome.first.lines.filter((line) => line['type'] === 'user/message').slice(0, 1)
    if (outcome.requestsAtKill > 0) expect(durable.rows.some((row) => seqOf(row) >= seqOf(requestHeaders[0] ?? {})), about).toBe(true)
    // An effect never runs ahead of the log.
    if (outcome.file !== 'one\n') expect(durable.rows.some((row) => row['type'] === 'tool/call' && (row['data'] as { callId: string }).callId === 'c2'), about).toBe(true)
    const ends = after.filter((row) => row['type'] === 'turn/end').map((row) => (row['data'] as { reason: { kind: string } }).reason.kind)
    expect(['completed', 'interrupted'], about).toContain(ends[0])
    const messages = outcome.lastRequest?.messages ?? []
    const asked = messages.flatMap((message) => message.tool_calls ?? []).map(({ id }) => id)
    const answered = messages.flatMap((message) => message.tool_call_id ?? [])
    expect(answered, about).toEqual(asked)
  }
  for (let index = 0; index < points.length; index += 2) await Promise.all(points.slice(index, index + 2).map(check))
}, 240_000)
