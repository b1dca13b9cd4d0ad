import { describe, expect, it } from 'vitest'
import { pathOf } from '../../../extension/host/composer-attachments.ts'
import { queueView } from '../../../extension/host/docks.ts'
import { createScriptedAdapter } from '../../support/scripted-adapter.ts'
import { imageBytes } from '../../support/image-bytes.ts'
import { chatRig, realModel } from './chat-rig.ts'

const seeing = { ...createScriptedAdapter([], { provider: 'deepseek-official', model: { name: 'Deep', input: ['text', 'image'] } }), provider: realModel.provider }
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const attach = (bytes: Uint8Array, name = 'a.png') => ({ type: 'attach-image', id: 'i1', name, data: base64(bytes) }) as const
const problemOf = (rig: Awaited<ReturnType<typeof chatRig>>) => rig.replies.findLast((reply) => reply.type === 'attached')

describe('a message that refers to something', () => {
  it('goes with what was looked up', async () => {
    const rig = await chatRig()
    await rig.send('explain @changes')
    expect(rig.agent('s1').received[0]?.message.content).toEqual([{ type: 'text', text: 'explain @changes' }, { type: 'text', text: 'the diff', source: { kind: 'plugin', plugin: 'references' } }])
  })
  it('comes back with the reason when it cannot be looked up, and begins no session', async () => {
    const rig = await chatRig()
    expect(await rig.send('explain @terminal')).toBe('@terminal: nothing is selected in a terminal.')
    expect([rig.calls, rig.state().session]).toEqual([[], null])
  })
  it('shows its words alone while it waits', () => {
    const content = [{ type: 'text' as const, text: 'explain' }, { type: 'image' as const, attachment: { attachmentId: 'sha256:1', mediaType: 'image/png', bytes: 1 } }, { type: 'text' as const, text: 'the diff', source: { kind: 'plugin' as const, plugin: 'references' } }]
    expect(queueView({ nextTurn: [{ id: 'm', role: 'user', content, source: { kind: 'user' } }], nextStep: [] })).toMatchObject([{ text: 'explain', images: 1 }])
    expect(queueView({ nextTurn: [{ id: 'm', role: 'user', content, source: { kind: 'coordinator', form: 'relay', senderSessionId: 's' } }], nextStep: [] })).toMatchObject([{ text: 'explain', target: 'next-turn' }])
  })
})

describe('a queued message that is edited', () => {
  const image = { type: 'image', attachment: { attachmentId: 'sha256:1', mediaType: 'image/png', bytes: 1 } } as const
  const source = { kind: 'plugin', plugin: 'references' } as const
  const beside = { type: 'text', text: '<reference name="selection">\na\n</reference>', source } as const
  const named = { type: 'text', text: '<reference name="@problems">\nb\n</reference>', source } as const
  const queued = async () => {
    const rig = await chatRig()
    await rig.send('begin')
    const waiting = { id: 'm9', role: 'user', content: [{ type: 'text', text: 'see @problems' }, image, beside, named], source: { kind: 'user' } } as const
    Object.assign(rig.agent('s1'), { inbox: { nextTurn: [waiting], nextStep: [] } })
    return rig
  }

  it('names anew what its words name, and keeps what was put beside them', async () => {
    const rig = await queued()
    await rig.say({ type: 'queue-edit', id: 'm9', text: 'see @changes' })
    expect(rig.calls.at(-1)).toEqual(['edit', 'm9', [{ type: 'text', text: 'see @changes' }, { type: 'text', text: 'the diff', source }, image, beside]])
  })
  it('stays as it was when that cannot be looked up, and the new words come back', async () => {
    const rig = await queued()
    await rig.say({ type: 'queue-edit', id: 'm9', text: 'see @terminal' })
    expect(rig.calls.filter((call) => Array.isArray(call) && call[0] === 'edit')).toEqual([])
    expect(rig.replies.at(-1)).toEqual({ type: 'insert-text', text: 'see @terminal' })
    expect(rig.state().notices.map(({ text }) => text)).toContain('@terminal: nothing is selected in a terminal.')
  })
})

describe('an image', () => {
  it('waits with the message and goes with it', async () => {
    const rig = await chatRig({ adapters: [seeing] })
    await rig.say(attach(imageBytes('png', 20, 10)))
    expect([problemOf(rig), rig.state().composer.attachments?.map(({ kind, label, detail }) => [kind, label, detail])]).toEqual([
      { type: 'attached', id: 'i1', problem: null },
      [['image', 'a.png', '20 × 10, 1 kB']],
    ])
    expect(await rig.send('what is it?')).toBe(null)
    expect(rig.agent('s1').received[0]?.message.content.map(({ type }) => type)).toEqual(['text', 'image'])
    expect(await rig.blobs.listAttachments('s1')).toHaveLength(1)
    expect(rig.state().composer.attachments).toEqual([])
  })
  it('can go without words', async () => {
    const rig = await chatRig({ adapters: [seeing] })
    await rig.say(attach(imageBytes('png', 20, 10)))
    expect(await rig.send('')).toBe(null)
  })
  it('can be taken out again', async () => {
    const rig = await chatRig({ adapters: [seeing] })
    await rig.say(attach(imageBytes('png', 20, 10)))
    await rig.say({ type: 'detach', id: rig.state().composer.attachments![0]!.id })
    expect(rig.state().composer.attachments).toEqual([])
  })
  it('is drawn as a thumbnail while it waits', async () => {
    const rig = await chatRig({ adapters: [seeing] })
    await rig.say(attach(imageBytes('png', 20, 10)))
    await rig.say({ type: 'need-image', attachmentId: rig.state().composer.attachments![0]!.attachmentId! })
    expect(rig.replies.at(-1)).toMatchObject({ type: 'image', uri: expect.stringContaining('image/png') })
  })
  it('is refused for a model that reads text only, with what to do', async () => {
    const rig = await chatRig()
    await rig.say(attach(imageBytes('png', 20, 10)))
    expect(problemOf(rig)).toEqual({ type: 'attached', id: 'i1', problem: 'Tour reads text only. Choose a model that reads images, or send the message without them.' })
    expect(rig.state().composer.attachments).toEqual([])
  })
  it('stays with the words when the model was changed to one that reads text only', async () => {
    const sight = { current: ['text', 'image'] as ('text' | 'image')[] }
    const adapter = { ...seeing, resolveModel: async (id: string) => ({ ...(await seeing.resolveModel(id)), input: sight.current }) }
    const rig = await chatRig({ adapters: [adapter], secrets: { DEEPSEEK_API_KEY: 'k' } })
    await rig.say(attach(imageBytes('png', 20, 10)))
    sight.current = ['text']
    expect(await rig.send('look')).toContain('reads text only')
    expect(rig.state().composer.attachments).toHaveLength(1)
  })
  it.each([
    ['no image', new TextEncoder().encode('hello'), /is no image/],
    ['no Base64', null, /is no image/],
    ['too wide', imageBytes('png', 2_001, 10), /longer side/],
  ] as const)('that is %s is refused by its name', async (_name, bytes, words) => {
    const rig = await chatRig({ adapters: [seeing] })
    await rig.say(bytes === null ? { ...attach(new Uint8Array()), data: '§§' } : attach(bytes))
    const reply = problemOf(rig)
    expect(reply?.type === 'attached' && reply.problem).toMatch(words)
    expect(reply?.type === 'attached' && reply.problem).toMatch(/^a\.png was not attached\./)
  })
  it('waits on over a reload of the window', async () => {
    const first = await chatRig({ adapters: [seeing] })
    await first.say(attach(imageBytes('png', 20, 10)))
    const kept = Object.fromEntries(['draftArea', 'attachments:'].map((key) => [key, first.memento.get(key)!]))
    const second = await chatRig({ adapters: [seeing], memento: kept })
    expect(second.state().composer.attachments).toHaveLength(1)
  })
})

describe('the menus of the editor', () => {
  it('put files into the message by their names', async () => {
    const rig = await chatRig()
    await rig.controller.run('add-files', ['/project/src/a.ts', '/project/my notes.md'])
    await rig.settle()
    expect(rig.replies.at(-1)).toEqual({ type: 'insert-text', text: '@src/a.ts @"my notes.md" ' })
    expect(rig.editor.take().map(({ kind }) => kind)).toContain('chat')
  })
  it('put the selection beside it', async () => {
    const rig = await chatRig()
    await rig.controller.run('ask-about-selection')
    await rig.settle()
    expect(rig.state().composer.attachments?.map(({ kind, label, detail }) => [kind, label, detail])).toEqual([['selection', 'date.ts', 'lines 3 to 4']])
    expect(rig.replies.at(-1)).toEqual({ type: 'focus-composer' })
  })
  it('names what was dropped from the lists of the editor', async () => {
    const rig = await chatRig()
    await rig.say({ type: 'mention', uris: ['file:///project/src/a.ts'] })
    expect(rig.replies.at(-1)).toEqual({ type: 'insert-text', text: '@src/a.ts ' })
  })
})

it.each([
  ['file:///w/a%20b.ts', '/w/a b.ts'],
  ['file:///c:/w/a.ts', 'c:/w/a.ts'],
  ['vscode-remote://ssh/w/a.ts', '/w/a.ts'],
  ['memfs:/w/a.ts', 'memfs:///w/a.ts'],
  ['memfs://host/w/a.ts', 'memfs://host/w/a.ts'],
  ['/w/a.ts', '/w/a.ts'],
])('the path of %s', (uri, path) => expect(pathOf(uri)).toBe(path))
