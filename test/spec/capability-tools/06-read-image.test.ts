import { createHash } from 'node:crypto'
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import { imageHeader } from '../../../extension/base/image-header.ts'
import type { BlobStore } from '../../../extension/capabilities/blob-store.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import { checkRoom } from '../../../extension/features/attachments/check-image.ts'
import { imageBytes } from '../../support/image-bytes.ts'
import { createScriptedAdapter } from '../../support/scripted-adapter.ts'
import { outcomeOf } from '../../support/tool-bench.ts'
import { wholePng } from '../../support/whole-png.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

let application: WholeApplication
let agent: Agent
let folder: string
let blobs: BlobStore
let count = 0
beforeAll(async () => {
  application = await wholeApplication({
    settings: { 'model.provider': 'sees', 'model.name': 'm1' },
    alter: (world) => {
      blobs = world.blobs
      return world
    },
  })
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

/** The beginning of a PNG of that size, which nothing could draw. */
const startOfPng = (width: number, height: number) => imageBytes('png', width, height, 40)
const png = (width: number, height: number) => wholePng(width, height)
const put = (name: string, bytes: Uint8Array | string) => writeFile(join(folder, name), bytes)
const read = (file_path: string): Promise<ToolResult> =>
  application.ctx.tools.execute({ callId: `call-${++count}`, name: 'read_image', arguments: { file_path }, agent, signal: new AbortController().signal })
const failed = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) as string })

describe('an image', () => {
  it('is kept by its content and shown to the model beside what it is', async () => {
    await put('a.PNG', png(30, 20))
    const result = await read('a.PNG')
    const image = { attachmentId: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string, mediaType: 'image/png', bytes: png(30, 20).length, width: 30, height: 20, name: 'a.PNG' }
    expect(outcomeOf(result)).toEqual({ path: 'a.PNG', image })
    expect(result.content).toEqual([{ type: 'text', text: `<image path="a.PNG" type="image/png" pixels="30x20" bytes="${png(30, 20).length}" />` }, { type: 'image', attachment: image }])
  })
  it('identical bytes share one object', async () => {
    await put('a.png', png(3, 2))
    await put('b.png', png(3, 2))
    const ids = [await read('a.png'), await read('b.png')].map((result) => JSON.stringify(result.content[1]).match(/sha256:\w+/)?.[0])
    expect(ids[0]).toBe(ids[1])
    // On the disk, too.
    expect((await blobs.usage()).find(({ sessionId }) => sessionId === agent.id)?.attachments).toBe(png(3, 2).length)
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
    ['a.svg', /does not end in .* SVG is text: use read\.$/],
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

describe('an image that is too large for a model', () => {
  it('2 001 px side: is shown as a smaller copy, with its own size and the factor', async () => {
    const bytes = png(2_001, 100)
    await put('a.png', bytes)
    const result = await read('a.png')
    expect(outcomeOf(result)).toMatchObject({ image: { mediaType: 'image/png', width: 2_000, height: 100 }, scaledFrom: { width: 2_001, height: 100, bytes: bytes.length } })
    expect(result.content[0]).toEqual({ type: 'text', text: expect.stringMatching(/ pixels="2000x100" bytes="\d+" scaled-from="2001x100" factor="0\.9995" \/>$/) as string })
    const { attachment } = result.content[1] as { readonly attachment: { readonly attachmentId: string } }
    expect(imageHeader(await blobs.getAttachment(agent.id, attachment.attachmentId))).toMatchObject({ width: 2_000, height: 100 })
  })
  it('of too many bytes is shown as a smaller copy', async () => {
    const bytes = wholePng(1_500, 1_000, 'noise')
    expect(bytes.length).toBeGreaterThan(3_670_016)
    await put('a.png', bytes)
    const value = outcomeOf(await read('a.png')) as { readonly image: { readonly bytes: number } }
    expect(value).toMatchObject({ scaledFrom: { width: 1_500, height: 1_000, bytes: bytes.length } })
    expect(value.image.bytes).toBeLessThanOrEqual(3_670_016)
  })
  it('counts as read in its own version, not in that of the copy', async () => {
    const bytes = png(2_100, 10)
    await put('a.png', bytes)
    await read('a.png')
    expect(agent.session.events().filter(({ type }) => type === 'fs/observed').at(-1)?.data).toEqual({ path: join(folder, 'a.png'), version: `sha256:${createHash('sha256').update(bytes).digest('hex')}` })
  })
})

/** A chunk of a PNG that says nothing, of so many bytes. */
function chunkOf(length: number): Uint8Array {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(length)
  head.write('IDAT', 4, 'latin1')
  return Buffer.concat([head, Buffer.alloc(length + 4)])
}

it('21st image in a message is refused', () => expect(() => checkRoom(Array.from({ length: 20 }, () => 100), 100, { t: fillIn })).toThrow('A message can have 20 images.'))

describe('what is no image for a model', () => {
  const rows: readonly [name: string, file: string, bytes: Uint8Array | string, code: string, message: RegExp][] = [
    ['another kind than the name says', 'a.gif', png(3, 2), 'INVALID_IMAGE', /holds PNG, which its name does not say/],
    ['renamed JPEG as .png', 'a.png', imageBytes('jpeg', 3, 2, 40), 'INVALID_IMAGE', /holds JPEG, which its name does not say\. Rename or convert it/],
    ['truncated file: PNG', 'a.png', png(300, 200).slice(0, -20), 'INVALID_IMAGE', /cut off before its end/],
    ['truncated file: JPEG', 'a.jpg', imageBytes('jpeg', 30, 20, 40), 'INVALID_IMAGE', /cut off before its end/],
    ['truncated file: GIF', 'a.gif', imageBytes('gif', 30, 20, 40), 'INVALID_IMAGE', /cut off before its end/],
    ['truncated file: WebP', 'a.webp', Buffer.concat([Buffer.from('RIFF'), Buffer.from([0xff, 0, 0, 0]), imageBytes('webp', 30, 20, 40).slice(8)]), 'INVALID_IMAGE', /cut off before its end/],
    ['text', 'a.png', 'no image', 'INVALID_IMAGE', /none of PNG, JPEG, WebP and GIF/],
    ['a header that is cut off', 'a.png', png(3, 2).slice(0, 12), 'INVALID_IMAGE', /cut off/],
    ['an empty file', 'a.png', '', 'INVALID_IMAGE', /cut off/],
    ['40 MP + 1', 'a.png', startOfPng(40_000_001, 1), 'INVALID_IMAGE', /at most 40 million/],
    ['a side that is too long of what cannot be drawn', 'a.png', Buffer.concat([startOfPng(2_001, 10).slice(0, 33), png(1, 1).slice(33, -12), Buffer.from([0, 0, 0, 1]), Buffer.from('IDATx'), Buffer.alloc(4), png(1, 1).slice(-12)]), 'INVALID_IMAGE', /longer side may have 2000, and no smaller copy could be made/],
  ]
  it.each(rows)('%s is refused with what to do', async (_name, file, bytes, code, message) => {
    await put(file, bytes)
    expect(outcomeOf(await read(file))).toEqual(failed(code, message))
  })
  it('bytes of which no copy is made are refused before they are read', async () => {
    await put('a.png', png(3, 2))
    await truncate(join(folder, 'a.png'), 5_000_000_000)
    expect(outcomeOf(await read('a.png'))).toEqual(failed('FS_TOO_LARGE', /5000000000 bytes; at most 33554432/))
  })
  it('3.5 MiB + 1 of what cannot be drawn are refused', async () => {
    const broken = Buffer.concat([startOfPng(100, 100).slice(0, 33), chunkOf(3_670_017 - 33 - 12 - 12), png(1, 1).slice(-12)])
    expect(broken.length).toBe(3_670_017)
    await put('a.png', broken)
    expect(outcomeOf(await read('a.png'))).toEqual(failed('FS_TOO_LARGE', /3670017 bytes; at most 3670016/))
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
