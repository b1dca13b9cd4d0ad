import { expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import { DraftAttachments } from '../../../extension/host/draft-attachments.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { imageBytes } from '../../support/image-bytes.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { memoryMemento } from '../../support/memory-memento.ts'

function rig(kept: Parameters<typeof memoryMemento>[0] = {}) {
  const memento = memoryMemento(kept)
  const blobs = createMemoryBlobStore()
  const errors: unknown[] = []
  const open = () => new DraftAttachments({ blobs, machine: createFakeMachine(), memento, l10n: { t: (text, args) => `»${fillIn(text, args)}` }, onError: (error) => errors.push(error) })
  return { memento, blobs, errors, open, drafts: open() }
}
const png = (width: number) => imageBytes('png', width, 10)
const block = { type: 'text' as const, text: 'let a', source: { kind: 'plugin' as const, plugin: 'references' } }
const selection = { label: 'a.ts', detail: 'lines 1 to 2', block }
const labels = (drafts: DraftAttachments, id: string | null) => drafts.views(id).map(({ label, detail }) => `${label} ${detail}`)

it('keeps images and selections over a reload of the window, per session', async () => {
  const { drafts, open } = rig()
  await drafts.addImage('s1', { bytes: png(20), name: 'a.png' })
  await drafts.addSelection('s1', selection)
  await drafts.addSelection(null, { ...selection, label: 'b.ts' })
  expect([labels(open(), 's1'), labels(open(), null), labels(open(), 's2')]).toEqual([['a.png 20 × 10, 1 kB', 'a.ts lines 1 to 2'], ['b.ts lines 1 to 2'], []])
})

it('gives the parts of a message, the images in the folder of the session it goes to', async () => {
  const { drafts, blobs } = rig()
  await drafts.addImage(null, { bytes: png(20), name: '' })
  await drafts.addSelection(null, selection)
  const [image, text] = await drafts.blocks(null, 's9')
  expect(text).toEqual(block)
  const { attachment } = image as Extract<typeof image, { type: 'image' }>
  expect(attachment).toMatchObject({ mediaType: 'image/png', width: 20, height: 10, bytes: png(20).length })
  expect(await blobs.getAttachment('s9', attachment.attachmentId)).toEqual(png(20))
})

it('stores an image of a session where the session keeps its own', async () => {
  const { drafts, blobs } = rig()
  await drafts.addImage('s1', { bytes: png(20), name: 'a.png' })
  expect(await blobs.listAttachments('s1')).toHaveLength(1)
})

it('leaves no image behind that waits no longer', async () => {
  const { drafts, blobs, memento } = rig()
  await drafts.addImage(null, { bytes: png(20), name: 'a.png' })
  await drafts.addImage(null, { bytes: png(21), name: 'b.png' })
  const area = memento.get('draftArea') as string
  await drafts.remove(null, drafts.views(null)[0]!.id)
  expect(await blobs.listAttachments(area)).toEqual([drafts.views(null)[0]!.attachmentId])
  await drafts.clear(null)
  expect([await blobs.listAttachments(area), memento.get('attachments:')]).toEqual([[], undefined])
})

it('takes the same image once', async () => {
  const { drafts } = rig()
  await Promise.all([drafts.addImage('s1', { bytes: png(20), name: 'a.png' }), drafts.addImage('s1', { bytes: png(20), name: 'again.png' })])
  expect(labels(drafts, 's1')).toHaveLength(1)
})

it('takes the same place once, as it was selected last', async () => {
  const { drafts } = rig()
  await drafts.addSelection('s1', selection)
  await drafts.addSelection('s1', { ...selection, block: { ...block, text: 'let b' } })
  expect(await drafts.blocks('s1', 's1')).toEqual([{ ...block, text: 'let b' }])
})

it('refuses what is no image and keeps what there was', async () => {
  const { drafts } = rig()
  await drafts.addImage('s1', { bytes: png(20), name: 'a.png' })
  await expect(drafts.addImage('s1', { bytes: new Uint8Array([1, 2, 3]), name: 'b.png' })).rejects.toMatchObject({ code: 'NOT_AN_IMAGE' })
  expect(labels(drafts, 's1')).toHaveLength(1)
})

it('reads nothing out of what another window has broken', () => {
  const broken = [null, 3, { id: 'a' }, { id: 'a', kind: 'image', image: { bytes: 'many' } }, { id: 'b', kind: 'selection', label: 'a', detail: 'b', block: { type: 'image' } }]
  const { drafts } = rig({ 'attachments:s1': broken as never, 'attachments:s2': 'no list' })
  expect([drafts.views('s1'), drafts.views('s2')]).toEqual([[], []])
})

it.each([
  ['no image', new TextEncoder().encode('<svg/>'), '»This is no image that a model can read. Use PNG, JPEG, WebP or GIF.'],
  ['a wide image', imageBytes('png', 2_001, 10), '»This image is 2001 × 10 pixels; its longer side may have 2000. Make it smaller first.'],
  ['one of too many pixels', imageBytes('png', 8_000, 5_001), '»This image has 8000 × 5001 pixels; at most 40 million can be sent. Make it smaller first.'],
  ['a heavy image', imageBytes('png', 20, 10, 3.5 * 1_024 * 1_024), '»This image has 3.7 MB; at most 3.7 MB can be sent. Make it smaller first.'],
])('refuses %s in the language of the person', async (_why, bytes, words) => {
  await expect(rig().drafts.addImage('s1', { bytes, name: '' })).rejects.toThrow(words)
})

it('refuses an image more than a message takes in the language of the person', async () => {
  const { drafts } = rig()
  for (let width = 1; width <= 20; width += 1) await drafts.addImage('s1', { bytes: png(width), name: '' })
  await expect(drafts.addImage('s1', { bytes: png(99), name: '' })).rejects.toThrow('»A message can have 20 images. Take one out, or send the others with the next message.')
})

it.each([
  ['a.png', '»The image a.png is not kept any more. Take it out, then send again.'],
  ['', '»An image of this message is not kept any more. Take it out, then send again.'],
])('fails for an image that is gone, rather than send without it, and says so: %j', async (name, words) => {
  const { drafts, blobs, memento } = rig()
  await drafts.addImage(null, { bytes: png(20), name })
  await blobs.keepAttachments(memento.get('draftArea') as string, [])
  await expect(drafts.blocks(null, 's1')).rejects.toThrow(new Error(words))
})
