import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { LogFileStore } from '../../../../extension/platform/node/log-file-store.ts'
import { createMemoryEventStore } from '../../../support/memory-event-store.ts'
import { createSessionRig } from '../../../support/session-rig.ts'
import { wholeTurn } from '../../../support/session-talk.ts'

describe('a log somewhere on the disk', () => {
  const folders: string[] = []
  afterEach(() => Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true }))))
  const logWith = async (change: (text: string) => string) => {
    const memory = createMemoryEventStore()
    const { sessions } = await createSessionRig({ events: memory })
    const session = await sessions.create({ cwd: '/gone', id: 'a' })
    for (const draft of wholeTurn(1)) session.append(draft)
    const told = { events: session.events(), messages: session.messages() }
    await session.close()
    const folder = await mkdtemp(join(tmpdir(), 'log-file-'))
    folders.push(folder)
    const path = join(folder, 'some.log')
    await writeFile(path, change(memory.disk.logs.get('a')!.text))
    return { path, told }
  }

  it('opens as a session that can only be read, with the same talk', async () => {
    const { path, told } = await logWith((text) => text)
    const store = await LogFileStore.open(path)
    const { sessions } = await createSessionRig({ events: store })
    const session = await sessions.open(store.id)
    expect([session.access, session.events(), session.messages()]).toEqual(['read-only', told.events, told.messages])
    expect(await sessions.list()).toMatchObject([{ id: 'a' }])
    await expect(sessions.create({ cwd: '/x' })).rejects.toMatchObject({ code: 'WRITE_FAILED' })
  })

  it('opens up to its damage and stays as it is', async () => {
    const { path, told } = await logWith((text) => `${text}{"torn`)
    const before = await readFile(path, 'utf8')
    const store = await LogFileStore.open(path)
    const { sessions } = await createSessionRig({ events: store })
    const session = await sessions.open('a')
    expect(session.events()).toEqual(told.events)
    await session.close()
    expect(await readFile(path, 'utf8')).toBe(before)
  })

  it.each([
    ['is empty', () => ''],
    ['has a first line that is torn or no JSON object', () => 'hello\n'],
    ['names no session', () => '{"version":0}\n'],
  ])('is refused when it %s, with the reason', async (problem, change) => {
    const { path } = await logWith(change)
    await expect(LogFileStore.open(path)).rejects.toMatchObject({ code: 'UNREADABLE', message: expect.stringContaining(problem) })
  })
  it('is refused when it is not there', async () => {
    await expect(LogFileStore.open('/nowhere/events.jsonl')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
  })
  it('is refused when it is a folder', async () => {
    await expect(LogFileStore.open(tmpdir())).rejects.toMatchObject({ code: 'UNREADABLE', message: expect.stringContaining('folder') })
  })
})
