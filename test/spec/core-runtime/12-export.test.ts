import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { strFromU8, strToU8, unzipSync, zipSync, type Zippable } from 'fflate'
import { afterEach, describe, expect, it } from 'vitest'
import type { EventDraft } from '../../../extension/core/log/event.ts'
import type { Session } from '../../../extension/core/session/session.ts'
import type {} from '../../../extension/core/session/archive/archives.ts'
import type {} from '../../../extension/features/commands/events.ts'
import { NodeBlobStore } from '../../../extension/platform/node/blob-store.ts'
import { zipEntries } from '../../../extension/core/session/archive/zip.ts'
import { textDelta, turnEnd, turnStart, stepStart, stepEnd, wholeTurn } from '../../support/session-talk.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const applications: WholeApplication[] = []
afterEach(async () => {
  for (const application of applications.splice(0)) await application.dispose()
})

async function application() {
  const app = await wholeApplication()
  applications.push(app)
  const { sessions, sessionArchives: archives } = app.ctx
  const root = join(app.folder, '..', 'sessions')
  return { app, sessions, archives, root, blobs: new NodeBlobStore({ root }) }
}

function append(session: Session, drafts: readonly EventDraft[]): void {
  for (const draft of drafts) session.append(draft)
}

async function whole(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  for await (const chunk of chunks) pieces.push(chunk)
  return Buffer.concat(pieces)
}

/** A session of one turn with an image, a fork of it, and one that has nothing to do with them. */
async function family() {
  const made = await application()
  const { app, sessions, archives, blobs } = made
  const parent = await sessions.create({ cwd: app.folder, id: 'parent' })
  append(parent, wholeTurn(1))
  const { attachmentId } = await blobs.putAttachment('parent', strToU8('picture'), { mediaType: 'image/png' })
  parent.append({ type: 'session/title', data: { title: 'A/B: täst ✓', messageSeqs: [], source: { kind: 'user' } } })
  await sessions.fork('parent', { childId: 'child' })
  append(await sessions.create({ cwd: app.folder, id: 'stranger' }), wholeTurn(1))
  const zip = async (isRedacted = false) => whole(archives.export(await archives.plan('parent'), { isRedacted }))
  return { ...made, parent, attachmentId, zip }
}

const token = `ghp_${'a1B2'.repeat(9)}`
const names = (zip: Uint8Array) => Object.keys(unzipSync(zip))

describe('an export', () => {
  it('is a ZIP of the raw logs, what descends from the session, and their attachments', async () => {
    const { zip, root, attachmentId } = await family()
    const digest = attachmentId.slice('sha256:'.length)
    const files = unzipSync(await zip())
    expect(Object.keys(files)).toEqual([
      'manifest.json',
      'sessions/parent/events.jsonl',
      `sessions/parent/attachments/${digest}`,
      'sessions/child/events.jsonl',
      `sessions/child/attachments/${digest}`,
    ])
    expect(JSON.parse(strFromU8(files['manifest.json']!))).toMatchObject({ format: 'bosun-session', version: 1, root: 'parent', sessions: ['parent', 'child'], isRedacted: false })
    expect(strFromU8(files['sessions/parent/events.jsonl']!)).toBe(await readFile(join(root, 'parent', 'events.jsonl'), 'utf8'))
    expect(strFromU8(files[`sessions/parent/attachments/${digest}`]!)).toBe('picture')
  })

  it('flushes a live session first', async () => {
    const { parent, zip } = await family()
    append(parent, [turnStart(2), turnEnd(2)])
    expect(strFromU8(unzipSync(await zip())['sessions/parent/events.jsonl']!)).toContain('"turn":2')
  })

  it('has a file name that is good everywhere', async () => {
    const { archives } = await family()
    expect((await archives.plan('parent')).name).toMatch(/^bosun-A-B-täst-\d{4}-\d\d-\d\d$/)
  })

  it('runs once at a time for one session, and again when it was left', async () => {
    const { archives } = await family()
    const plan = await archives.plan('parent')
    const first = archives.export(plan, { isRedacted: false })[Symbol.asyncIterator]()
    await first.next()
    await expect(whole(archives.export(plan, { isRedacted: false }))).rejects.toMatchObject({ code: 'EXPORT_RUNNING' })
    expect(names(await whole(archives.export(await archives.plan('stranger'), { isRedacted: false })))).toContain('sessions/stranger/events.jsonl')
    await first.return?.()
    expect(names(await whole(archives.export(plan, { isRedacted: false })))).toHaveLength(5)
  })

  it('keeps what it reads from expiring, and leaves out what went since it was planned', async () => {
    const { archives, sessions } = await family()
    const [both, stranger] = [await archives.plan('parent'), await archives.plan('stranger')]
    for (const id of ['parent', 'child', 'stranger']) await sessions.live(id)?.close()
    const later = Date.now() + 1_000
    const reading = archives.export(stranger, { isRedacted: false })[Symbol.asyncIterator]()
    await reading.next()
    expect(await sessions.expire('stranger', later)).toBe(false)
    await reading.return?.()
    expect(await sessions.expire('stranger', later)).toBe(true)
    await expect(whole(archives.export(stranger, { isRedacted: false }))).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await sessions.remove('child')
    expect(names(await whole(archives.export(both, { isRedacted: false })))).toHaveLength(3)
  })

  it('masks known shapes of keys when asked, in streamed parts too, and nothing else', async () => {
    const { parent, zip } = await family()
    const halves = [token.slice(0, 10), token.slice(10, 20), token.slice(20)]
    append(parent, [turnStart(2), stepStart(2, 1), ...halves.map((half) => textDelta(2, 1, half)), stepEnd(2, 1), turnEnd(2)])
    parent.append({ type: 'feedback/record', data: { text: `My key is ${token} here.` } })
    const log = strFromU8(unzipSync(await zip(true))['sessions/parent/events.jsonl']!)
    expect(log).toContain('My key is [GitHub token left out] here.')
    for (const part of [token, ...halves]) expect(log).not.toContain(part)
    const kept = strFromU8(unzipSync(await zip())['sessions/parent/events.jsonl']!)
    expect(kept).toContain(token)
    expect(log.split('\n')).toHaveLength(kept.split('\n').length)
    const elsewhere = await application()
    expect(await elsewhere.archives.import(await zip(true), { cwd: elsewhere.app.folder })).toEqual(['parent', 'child'])
  })

  it('is refused for a session that is not there, or has said nothing', async () => {
    const { app, archives, sessions } = await application()
    await expect(archives.plan('gone')).rejects.toMatchObject({ code: 'SESSION_NOT_FOUND' })
    await sessions.create({ cwd: app.folder, id: 'silent' })
    await expect(archives.plan('silent')).rejects.toMatchObject({ code: 'EMPTY' })
  })

  it('can be a document of the talk, whole after compaction, with keys masked', async () => {
    const { parent, archives } = await family()
    parent.append({ type: 'user/message', surfaceOp: 'append', data: { id: 'u', role: 'user', content: [{ type: 'text', text: `Use ${token}` }], source: { kind: 'user' } } })
    const document = await archives.markdown('parent', { isRedacted: true })
    expect(document).toMatch(/^# A\/B: täst ✓\n\n\*Session parent, /)
    expect(document).toContain('## You\n\nquestion 1')
    expect(document).toContain('## Bosun\n\nI will look.')
    expect(document).toContain('**look**\n\n```json\n{}\n```')
    expect(document).toContain('Use [GitHub token left out]')
  })
})

describe('an import', () => {
  it('brings everything back: in another place under the same ids, here under new ones', async () => {
    const { zip, archives, sessions, parent, attachmentId } = await family()
    const bytes = await zip()
    const elsewhere = await application()
    expect(await elsewhere.archives.import(bytes, { cwd: elsewhere.app.folder })).toEqual(['parent', 'child'])
    const copy = await elsewhere.sessions.open('parent')
    expect([copy.messages(), copy.header.cwd]).toEqual([parent.messages(), elsewhere.app.folder])
    expect(strFromU8(await elsewhere.blobs.getAttachment('parent', attachmentId))).toBe('picture')
    expect((await elsewhere.sessions.list()).find(({ id }) => id === 'child')?.forkedFrom).toBe('parent')

    const ids = await archives.import(bytes, { cwd: parent.header.cwd! })
    expect(ids).toHaveLength(2)
    expect(ids.some((id) => id === 'parent' || id === 'child')).toBe(false)
    expect((await sessions.list()).find(({ id }) => id === ids[1])?.forkedFrom).toBe(ids[0])
    expect((await sessions.open(ids[0]!)).messages()).toEqual(parent.messages())
  })

  it('takes a bare log', async () => {
    const { parent, root } = await family()
    await parent.flush()
    const bytes = await readFile(join(root, 'parent', 'events.jsonl'))
    const elsewhere = await application()
    expect(await elsewhere.archives.import(bytes, { cwd: elsewhere.app.folder })).toEqual(['parent'])
    expect((await elsewhere.sessions.open('parent')).messages()).toEqual(parent.messages())
  })

  it('runs nothing, and allows nothing that was allowed elsewhere', async () => {
    const { parent, zip } = await family()
    const rule = JSON.stringify({ scope: 'session', rules: [{ tool: 'bash', decision: 'allow' }] })
    append(parent, [
      { type: 'sandbox/mode', data: { mode: 'danger-full-access' } },
      { type: 'approval/policy', data: { policy: 'never' } },
      { type: 'approval/asked', data: { id: 'a', toolName: 'bash' } },
      { type: 'approval/decided', data: { id: 'a', outcome: 'allowed-once', rule } },
      { type: 'agent/inbox/spliced', data: { target: 'next-turn', start: 0, inserted: [{ id: 'q', role: 'user', content: [{ type: 'text', text: 'rm -rf /' }], source: { kind: 'user' } }] } },
    ])
    const elsewhere = await application()
    await elsewhere.archives.import(await zip(), { cwd: elsewhere.app.folder })
    const agent = await elsewhere.app.ctx.agents.resume('parent')
    await agent.whenIdle()
    expect([agent.status, agent.session.events().filter(({ type }) => type === 'turn/start').length]).toEqual(['idle', 1])
    expect(elsewhere.app.ctx.permissions.modeOf('parent')).toBe('workspace-write')
    expect(agent.session.header.seedLength).toBeGreaterThan(agent.session.events().findLast(({ type }) => type === 'approval/decided')!.seq)
  })

  it('is opened, listed and continued like any other', async () => {
    const { zip } = await family()
    const elsewhere = await application()
    await elsewhere.archives.import(await zip(), { cwd: elsewhere.app.folder })
    const { ctx } = await elsewhere.app.restart()
    expect((await ctx.sessions.list()).find(({ id }) => id === 'parent')).toMatchObject({ title: 'A/B: täst ✓', isNamed: true })
    append(await ctx.sessions.open('parent'), wholeTurn(2))
  })
})

describe('an import is refused with its reason, and nothing of it is kept', () => {
  const header = (more: object = {}) => ({ version: 0, id: 'guest', createdAt: 1, cwd: '/elsewhere', ...more })
  const log = (...lines: readonly unknown[]) => strToU8(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n') + '\n')
  const good = log(header(), { type: 'session/title', seq: 0, time: 1, data: { title: 'T', messageSeqs: [], source: { kind: 'user' } } })
  const manifest = (more: object = {}) => strToU8(JSON.stringify({ format: 'bosun-session', version: 1, root: 'guest', sessions: ['guest'], ...more }))
  const archive = (files: Zippable = {}) => zipSync({ 'manifest.json': manifest(), 'sessions/guest/events.jsonl': good, ...files })

  const check = async (bytes: Uint8Array, code: string, words: string) => {
    const { app, archives, sessions } = await application()
    const failure = await archives.import(bytes, { cwd: app.folder }).then(() => null, (error: unknown) => error)
    expect(failure).toMatchObject({ code, message: expect.stringContaining(words) as string })
    expect(await sessions.list()).toEqual([])
  }
  /** Bytes of a ZIP with `from` replaced, in as many bytes. */
  const patched = (zip: Uint8Array, from: string, to: string) => Buffer.from(Buffer.from(zip).toString('latin1').replaceAll(from, to), 'latin1')

  it('takes the archive that the others are made from', async () => {
    const { app, archives } = await application()
    expect(await archives.import(archive(), { cwd: app.folder })).toEqual(['guest'])
  })

  it('a path that climbs out', () => check(archive({ '../outside.txt': strToU8('x') }), 'HOSTILE', 'leads out'))
  it('an absolute path', () => check(archive({ '/etc/passwd': strToU8('x') }), 'HOSTILE', 'leads out'))
  it('a path of another system', () => check(archive({ 'C:\\windows': strToU8('x') }), 'HOSTILE', 'leads out'))
  it('a link', () => check(zipSync({ 'manifest.json': manifest(), 'sessions/guest/events.jsonl': [strToU8('/etc/passwd'), { os: 3, attrs: 0o120_777 << 16 }] }), 'HOSTILE', 'link'))
  it('a file that belongs to nothing', () => check(archive({ 'run.sh': strToU8('x') }), 'HOSTILE', 'belongs to no session'))
  it('a name that stands twice', () => check(patched(archive({ 'sessions/guest/events.jsonX': good }), 'events.jsonX', 'events.jsonl'), 'HOSTILE', 'twice'))
  it('a session id that is a path', () => check(zipSync({ 'manifest.json': manifest({ root: '..', sessions: ['..'] }), 'sessions/../events.jsonl': good }), 'HOSTILE', 'leads out'))
  it('an attachment that is something else than its name says', () => check(archive({ [`sessions/guest/attachments/${'0'.repeat(64)}`]: strToU8('x') }), 'HOSTILE', 'something else'))
  it('another version of the archive', () => check(zipSync({ 'manifest.json': manifest({ version: 2 }), 'sessions/guest/events.jsonl': good }), 'UNSUPPORTED_VERSION', 'version 2'))
  it('another version of the log', () => check(log(header({ version: 1 })), 'UNSUPPORTED_VERSION', 'version 1'))
  it('another kind of archive', () => check(zipSync({ 'readme.txt': strToU8('x') }), 'NOT_AN_ARCHIVE', 'manifest.json'))
  it('a manifest that names what is not there', () => check(zipSync({ 'manifest.json': manifest() }), 'NOT_AN_ARCHIVE', 'holds no log'))
  it('an archive that is cut off', () => check(archive().subarray(0, 200), 'NOT_AN_ARCHIVE', 'cannot be read'))
  it('a log that is no log', () => check(strToU8('hello\n'), 'INVALID_LOG', 'line 1 is no JSON object'))
  it('a log with a hole', () => check(log(header(), { type: 'turn/start', seq: 1, time: 1, data: { turn: 1 } }), 'INVALID_LOG', 'damaged'))
  it('a log that breaks a rule', () => check(log(header(), { type: 'turn/start', seq: 0, time: 1, data: { turn: 7 } }), 'INVALID_LOG', 'turn 1 comes next'))
  it('an event that nobody knows', () => check(log(header(), { type: 'future/thing', seq: 0, time: 1, data: {} }), 'INVALID_LOG', 'future/thing'))
  it('bytes that are no text', () => check(new Uint8Array([0xff, 0xfe, 0x00]), 'INVALID_LOG', 'no UTF-8'))
  it('the second session of an archive, and then the first one goes too', () =>
    check(zipSync({ 'manifest.json': manifest({ sessions: ['guest', 'other'] }), 'sessions/guest/events.jsonl': good, 'sessions/other/events.jsonl': log('torn') }), 'INVALID_LOG', 'line 1'))

  it('a byte that was changed on the way', async () => {
    const zip = archive({ [`sessions/guest/attachments/${'0'.repeat(64)}`]: [strToU8('picture'), { level: 0 }] })
    await check(patched(zip, 'picture', 'pIcture'), 'NOT_AN_ARCHIVE', 'checksum')
  })
})

describe('the files of a ZIP', () => {
  it('are found behind a comment, folders left out', () => {
    const zip = Buffer.concat([zipSync({ 'a/': new Uint8Array(), 'a/b.txt': strToU8('hi') }), Buffer.from('note')])
    zip.writeUInt16LE(4, zip.length - 6)
    const entries = zipEntries(zip, { maxEntries: 10, maxBytes: 100 })
    expect(entries.map(({ name, unpack }) => [name, strFromU8(unpack())])).toEqual([['a/b.txt', 'hi']])
  })
  it('are capped in bytes as they come out, whatever the archive says of them', () => {
    const [bomb] = zipEntries(zipSync({ bomb: new Uint8Array(8 * 1_048_576) }), { maxEntries: 9, maxBytes: 1_048_576 })
    expect(() => bomb?.unpack()).toThrow('unpacks to more than 1 MB')
  })
  it('share one cap', () => {
    const [a, b] = zipEntries(zipSync({ a: new Uint8Array(600_000), b: new Uint8Array(600_000) }), { maxEntries: 9, maxBytes: 1_048_576 })
    expect(a?.unpack()).toHaveLength(600_000)
    expect(() => b?.unpack()).toThrow('unpacks to more than')
  })
  it('are capped in number', () => expect(() => zipEntries(zipSync({ a: strToU8(''), b: strToU8('') }), { maxEntries: 1, maxBytes: 9 })).toThrow('holds 2 files, at most 1'))
})

it('a file on the disk is written by the headless door and read by it', async () => {
  const { app, zip } = await family()
  const path = join(app.folder, 'talk.zip')
  await writeFile(path, await zip())
  const elsewhere = await application()
  expect(await elsewhere.archives.import(await readFile(path), { cwd: elsewhere.app.folder })).toEqual(['parent', 'child'])
})
