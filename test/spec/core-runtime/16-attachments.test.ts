import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { BlobStore } from '../../../extension/capabilities/blob-store.ts'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import { checkedImage, checkRoom } from '../../../extension/features/attachments/check-image.ts'
import { DraftAttachments } from '../../../extension/host/draft-attachments.ts'
import { imageLimits } from '../../../extension/protocol/image-limits.ts'
import { root } from '../../../scripts/root.ts'
import { imageBytes } from '../../support/image-bytes.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { memoryMemento } from '../../support/memory-memento.ts'
import { startModelServer, type ModelServer } from '../../support/model-server.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 16.6 with its mapping: images that go with a message. */

const MiB = 1024 * 1024
const l10n = { t: fillIn }

describe('one image', () => {
  it.each(['png', 'jpeg', 'webp', 'gif'] as const)('may be %s', (kind) => expect(checkedImage(imageBytes(kind, 20, 10), l10n).mediaType).toBe(`image/${kind}`))
  it('is what its bytes say, whatever it is called', () => expect(() => checkedImage(new TextEncoder().encode('<svg/>'), l10n)).toThrow(expect.objectContaining({ code: 'NOT_AN_IMAGE' })))
  it('has 3.5 MiB at most', () => {
    const head = imageBytes('png', 20, 10).length
    expect(checkedImage(imageBytes('png', 20, 10, 3.5 * MiB - head), l10n).width).toBe(20)
    expect(() => checkedImage(imageBytes('png', 20, 10, 3.5 * MiB - head + 1), l10n)).toThrow(expect.objectContaining({ code: 'IMAGE_TOO_LARGE' }))
  })
  it('has 2 000 pixels on its longer side at most', () => {
    expect(checkedImage(imageBytes('png', 2_000, 2_000), l10n).height).toBe(2_000)
    for (const [width, height] of [[2_001, 10], [10, 2_001]] as const) expect(() => checkedImage(imageBytes('png', width, height), l10n)).toThrow(expect.objectContaining({ code: 'IMAGE_TOO_WIDE' }))
  })
  it('has 40 million pixels at most, which its header says before anything is drawn', () =>
    expect(() => checkedImage(imageBytes('png', 8_000, 5_001), l10n)).toThrow(expect.objectContaining({ code: 'TOO_MANY_PIXELS', message: expect.stringContaining('40 million') })))
})

describe('the images of a message', () => {
  it('are 20 at most', () => {
    expect(checkRoom(Array.from({ length: 19 }, () => 1), 1, l10n)).toBeUndefined()
    expect(() => checkRoom(Array.from({ length: 20 }, () => 1), 1, l10n)).toThrow(expect.objectContaining({ code: 'TOO_MANY_IMAGES' }))
  })
  it('have 100 MiB together at most', () => {
    expect(checkRoom([99 * MiB], MiB, l10n)).toBeUndefined()
    expect(() => checkRoom([99 * MiB], MiB + 1, l10n)).toThrow(expect.objectContaining({ code: 'MESSAGE_TOO_LARGE' }))
  })
  it('are counted one by one as they are attached, so that one too many is refused and the others stay', async () => {
    const drafts = new DraftAttachments({ blobs: createMemoryBlobStore(), machine: { randomId: () => Math.random().toString(36) }, memento: memoryMemento(), l10n, onError: () => undefined })
    for (let width = 1; width <= imageLimits.maxImages; width++) await drafts.addImage('s', { bytes: imageBytes('png', width, 1), name: '' })
    await expect(drafts.addImage('s', { bytes: imageBytes('png', 99, 1), name: '' })).rejects.toMatchObject({ code: 'TOO_MANY_IMAGES' })
    expect(drafts.views('s')).toHaveLength(20)
  })
})

describe('an image in a talk', () => {
  let server: ModelServer | undefined
  let application: WholeApplication | undefined
  afterEach(async () => {
    await application?.dispose()
    await server?.close()
    application = server = undefined
  })

  async function talk(images: boolean) {
    server = await startModelServer({ steps: [{ answer: { parts: [{ text: 'A bosun.' }] }, repeat: true }] })
    let blobs: BlobStore | undefined
    application = await wholeApplication({
      alter: (world) => {
        blobs = world.blobs
        return world
      },
      settings: { providers: { own: { baseUrl: server.url, keyName: null, models: { eye: { images } } } }, 'model.provider': 'own', 'model.name': 'eye', 'model.reasoningEffort': null, 'llm.retry.maxRetries': 0 },
    })
    const whole = application
    const bytes = new Uint8Array(await readFile(join(root, 'media/bosun.png')))
    const agent = await whole.ctx.agents.create({ cwd: whole.folder })
    const { mediaType, width, height } = checkedImage(bytes, l10n)
    const stored = await blobs!.putAttachment(agent.id, bytes, { mediaType, name: 'bosun.png' })
    const message: UserMessage = { id: 'm1', role: 'user', content: [{ type: 'text', text: 'What is it?' }, { type: 'image', attachment: { ...stored, width, height } }], source: { kind: 'user' } }
    agent.followup(message)
    await agent.whenIdle()
    await agent.session.flush()
    return { agent, bytes, stored, blobs: blobs!, server }
  }

  it('is named in the log by the digest of its bytes, and its bytes stand nowhere in it', async () => {
    const { agent, bytes, stored, blobs } = await talk(true)
    expect(stored.attachmentId).toBe(`sha256:${createHash('sha256').update(bytes).digest('hex')}`)
    const line = JSON.stringify(agent.session.events())
    expect(line).toContain(stored.attachmentId)
    expect(line).not.toContain(Buffer.from(bytes.subarray(0, 60)).toString('base64').slice(0, 40))
    expect(await blobs.getAttachment(agent.id, stored.attachmentId)).toEqual(Buffer.from(bytes))
  })
  it('reaches the wire whole, behind its words', async () => {
    const { bytes, server: served } = await talk(true)
    const request = served.chats().at(-1)!.body
    expect(request).toContain(`data:image/png;base64,${Buffer.from(bytes).toString('base64')}`)
    expect(request.indexOf('What is it?')).toBeLessThan(request.indexOf('data:image/png'))
  })
  it('ends the turn with UNSUPPORTED_CONTENT for a model that reads text only, and asks nobody', async () => {
    const { agent, server: served } = await talk(false)
    const end = agent.session.events().findLast((event) => event.type === 'turn/end')
    expect(end?.data.reason).toMatchObject({ kind: 'error', failure: { code: 'UNSUPPORTED_CONTENT', message: expect.stringContaining('Choose a model that reads images') } })
    expect(served.chats()).toEqual([])
  })
})
