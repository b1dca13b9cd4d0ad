import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NodeEventStore } from '../../../../extension/platform/node/event-store.ts'
import { createSessionRig } from '../../../support/session-rig.ts'
import { wholeTurn } from '../../../support/session-talk.ts'

const drafts = wholeTurn(1)

describe('a process that is killed after an event', () => {
  let root: string
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'kill-'))
    const source = new URL('../../../support/kill-writer.ts', import.meta.url).pathname
    // As one file the writer starts in a fraction of the time.
    await build({ entryPoints: [source], bundle: true, platform: 'node', format: 'esm', outfile: writerIn(root), logLevel: 'error' })
    const counts = drafts.map((_, index) => index + 1)
    const next = async (): Promise<void> => {
      const count = counts.pop()
      if (count === undefined) return
      await killed(root, count)
      await next()
    }
    await Promise.all([next(), next()])
  }, 120_000)
  afterAll(() => rm(root, { recursive: true, force: true }))

  it.each(drafts.map((draft, index) => [index + 1, draft.type]))('leaves a log that opens for writing at once, with all %i durable events (last: %s) and its turn closed', async (count) => {
    const { sessions } = await createSessionRig({ events: new NodeEventStore({ root }) })
    const session = await sessions.open(`after-${count}`)
    const events = session.events()
    expect(session.access).toBe('write')
    expect(events.slice(0, count).map(({ type, data }) => ({ type, data }))).toEqual(drafts.slice(0, count).map(({ type, data }) => ({ type, data })))
    expect(events.filter(({ type }) => type === 'turn/start')).toHaveLength(events.filter(({ type }) => type === 'turn/end').length)
    const messages = session.messages()
    const calls = messages.flatMap((message) => (message.role === 'assistant' ? message.content.filter(({ type }) => type === 'tool-call') : []))
    expect(messages.filter(({ role }) => role === 'tool')).toHaveLength(calls.length)
    await session.close()
    const again = await (await createSessionRig({ events: new NodeEventStore({ root }) })).sessions.open(`after-${count}`)
    expect(again.events()).toEqual(events)
    await again.close()
  })
})

const writerIn = (root: string) => join(root, '.writer.mjs')

/** Resolves when the process is dead. Errors: `Error` when it did not die by SIGKILL. */
async function killed(root: string, count: number): Promise<void> {
  const child = spawn(process.execPath, [writerIn(root), root, String(count)], { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (data: Buffer) => (errors += data.toString('utf8')))
  const signal = await new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))
  if (signal !== 'SIGKILL') throw new Error(`The writer should have died by SIGKILL: ${errors}`)
}
