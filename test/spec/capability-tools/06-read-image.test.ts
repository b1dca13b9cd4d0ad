import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import { createScriptedAdapter } from '../../support/scripted-adapter.ts'
import { outcomeOf } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

let application: WholeApplication
let agent: Agent
let folder: string
let count = 0
beforeAll(async () => {
  application = await wholeApplication({ settings: { 'model.provider': 'sees', 'model.name': 'm1' } })
  application.ctx.models.register(createScriptedAdapter([], { provider: 'sees', model: { input: ['text', 'image'] } }))
  application.ctx.models.register(createScriptedAdapter([], { provider: 'blind' }))
})
afterAll(() => application.dispose())
beforeEach(async () => {
  folder = join(application.folder, `case-${++count}`)
  await mkdir(folder)
  agent = await application.ctx.agents.create({ cwd: folder, preset: 'standard' })
  agent.session.append({ type: 'turn/start', data: { turn: 1 } })
})

/** The beginning of a PNG of that size; nothing decodes more of it here. */
function png(width: number, height: number, size = 64): Uint8Array {
  const bytes = new Uint8Array(size)
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52])
  new DataView(bytes.buffer).setUint32(16, width)
  new DataView(bytes.buffer).setUint32(20, height)
  return bytes
}
const put = (name: string, bytes: Uint8Array | string) => writeFile(join(folder, name), bytes)
const read = (file_path: string): Promise<ToolResult> =>
  application.ctx.tools.execute({ callId: `call-${++count}`, name: 'read_image', arguments: { file_path }, agent, signal: new AbortController().signal })
const failed = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) as string })

describe('an image', () => {
  it('is kept by its content and shown to the model beside what it is', async () => {
    await put('a.PNG', png(30, 20))
    const result = await read('a.PNG')
    const image = { attachmentId: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string, mediaType: 'image/png', bytes: 64, width: 30, height: 20, name: 'a.PNG' }
    expect(outcomeOf(result)).toEqual({ path: 'a.PNG', image })
    expect(result.content).toEqual([{ type: 'text', text: '<image path="a.PNG" type="image/png" pixels="30x20" bytes="64" />' }, { type: 'image', attachment: image }])
  })
  it('twice is kept once', async () => {
    await put('a.png', png(3, 2))
    await put('b.png', png(3, 2))
    const ids = [await read('a.png'), await read('b.png')].map((result) => JSON.stringify(result.content[1]).match(/sha256:\w+/)?.[0])
    expect(ids[0]).toBe(ids[1])
  })
  it('is followed through a link', async () => {
    await put('a.png', png(3, 2))
    await symlink('a.png', join(folder, 'l.png'))
    expect((await read('l.png')).isError).toBe(false)
  })
  it('counts as read, so that it may be written over', async () => {
    await put('a.png', png(3, 2))
    await read('a.png')
    expect(agent.session.events().filter(({ type }) => type === 'fs/observed')).toHaveLength(1)
  })
  it('may be of the largest size on each side', async () => {
    await put('a.png', png(2_000, 2_000))
    expect((await read('a.png')).isError).toBe(false)
  })
})

describe('before the disk is touched', () => {
  it.each([
    [' ', /blank/],
    ['a.svg', /does not end in/],
    ['png', /does not end in/],
    ['a.txt', /does not end in/],
  ])('%j is refused', async (path, message) => expect(outcomeOf(await read(path))).toEqual(failed('INVALID_ARGS', message)))
  it('a model that does not declare images refuses, whether the file is there or not', async () => {
    application.ctx.agents.configure(agent.id, { provider: 'blind', model: 'm1' })
    expect(outcomeOf(await read('gone.png'))).toEqual(failed('UNSUPPORTED_CONTENT', /does not take images/))
  })
  it('a model that nobody knows refuses', async () => {
    application.ctx.agents.configure(agent.id, { provider: 'nobody', model: 'm1' })
    expect(outcomeOf(await read('gone.png'))).toEqual(failed('UNSUPPORTED_CONTENT', /does not take images/))
  })
})

describe('what is no image for a model', () => {
  const rows: readonly [name: string, file: string, bytes: Uint8Array | string, code: string, message: RegExp][] = [
    ['another kind than the name says', 'a.gif', png(3, 2), 'INVALID_IMAGE', /holds PNG, which its name does not say/],
    ['text', 'a.png', 'no image', 'INVALID_IMAGE', /none of PNG, JPEG, WebP and GIF/],
    ['a header that is cut off', 'a.png', png(3, 2).slice(0, 12), 'INVALID_IMAGE', /cut off/],
    ['an empty file', 'a.png', '', 'INVALID_IMAGE', /cut off/],
    ['a side that is too long', 'a.png', png(2_001, 10), 'INVALID_IMAGE', /longer side may have 2000/],
    ['too many pixels', 'a.png', png(10_000, 10_000), 'INVALID_IMAGE', /at most 40 million/],
  ]
  it.each(rows)('%s is refused with what to do', async (_name, file, bytes, code, message) => {
    await put(file, bytes)
    expect(outcomeOf(await read(file))).toEqual(failed(code, message))
  })
  it('too many bytes are refused before they are read', async () => {
    await put('a.png', png(3, 2))
    await truncate(join(folder, 'a.png'), 5_000_000_000)
    expect(outcomeOf(await read('a.png'))).toEqual(failed('FS_TOO_LARGE', /5000000000 bytes; at most 3670016/))
  })
  it('a folder and a missing file are refused', async () => {
    await mkdir(join(folder, 'd.png'))
    expect([outcomeOf(await read('d.png')), outcomeOf(await read('gone.png'))]).toEqual([failed('FS_NOT_REGULAR_FILE', /folder/), failed('FS_NOT_FOUND', /does not exist/)])
  })
})

it('overlaps with its like', () =>
  expect(application.ctx.tools.executionMode({ name: 'read_image', arguments: { file_path: 'a.png' }, agent })).toBe('parallel'))

describe('its cards', () => {
  const tool = () => application.ctx.tools.get('read_image', agent.scope)
  it('are the path, then the image', () => {
    expect(tool()?.presentCall?.({ file_path: 'a.png' })).toEqual({ card: 'generic', title: 'Read image a.png', kind: 'read', subject: 'a.png', locations: [{ path: 'a.png' }] })
    const content = [{ type: 'text', text: '<image />' }, { type: 'image', attachment: { attachmentId: 'sha256:1', mediaType: 'image/png', bytes: 4, name: 'a.png' } }] as const
    expect(tool()?.presentResult?.({ file_path: 'a.png' }, { content, isError: false })).toEqual({
      card: 'generic',
      title: 'Read image a.png',
      content: [{ type: 'image', attachmentId: 'sha256:1', mediaType: 'image/png', name: 'a.png' }],
    })
    expect(tool()?.presentResult?.({ file_path: 'a.png' }, { content: [{ type: 'text', text: 'Error: no' }], isError: true })).toMatchObject({ content: [{ type: 'text', text: 'Error: no' }] })
    expect(tool()?.presentCall?.({ path: 1 })).toBeUndefined()
  })
})
