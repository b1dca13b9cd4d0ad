import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { TalkReference } from '../../../extension/capabilities/editor-chat.ts'
import { messageWith } from '../../../extension/host/editor-chat-references.ts'
import { imageBytes } from '../../support/image-bytes.ts'

const needs = { spelling: (path: string) => `@${path.slice(3)}`, sessionId: 's1', l10n: { t: fillIn }, blobs: { putAttachment: async (sessionId: string) => ({ attachmentId: `sha256:${sessionId}` }) as never } }
const file = (path: string, range: readonly [number, number] | null = null, lines: readonly [number, number] | null = null): TalkReference => ({ kind: 'file', path, range, lines })

describe('what a message of the editor’s chat points at', () => {
  const rows: readonly [why: string, text: string, references: readonly TalkReference[], words: string][] = [
    ['is a reference in its place', 'see #file:a.ts now', [file('/w/a.ts', [4, 14])], 'see @a.ts now'],
    ['keeps its place beside others', '#one and #two', [file('/w/a.ts', [0, 4]), file('/w/b.ts', [9, 13], [3, 7])], '@a.ts and @b.ts (lines 3-7)'],
    ['stands behind the words where it has no place', 'see', [file('/w/a.ts'), file('/w/b.ts')], 'see\n\n@a.ts\n\n@b.ts'],
    ['is not named twice', 'see @a.ts', [file('/w/a.ts')], 'see @a.ts'],
    ['is taken without words too', '', [file('/w/a.ts')], '@a.ts'],
    ['is put behind where its place is none', 'see', [file('/w/a.ts', [2, 99])], 'see\n\n@a.ts'],
  ]
  it.each(rows)('%s', async (_why, text, references, words) => expect(await messageWith({ text, references }, needs)).toEqual({ text: words, blocks: [] }))

  it('goes beside the words when it is a text, an image, or nothing that can be handed on', async () => {
    const references: readonly TalkReference[] = [
      { kind: 'text', name: 'Terminal', text: '@selection', range: null },
      { kind: 'image', bytes: imageBytes('png', 2, 3), mediaType: 'image/png', range: null },
      { kind: 'other', name: 'A thing', range: null },
    ]
    const { text, blocks } = await messageWith({ text: 'see', references }, needs)
    expect([text, blocks]).toEqual([
      'see',
      [
        { type: 'text', text: 'Terminal:\n@selection' },
        { type: 'image', attachment: { attachmentId: 'sha256:s1', mediaType: 'image/png', bytes: expect.any(Number), width: 2, height: 3 } },
        { type: 'text', text: '[A thing, which the editor’s chat cannot hand on.]' },
      ],
    ])
  })
  it('is cut where a text is long, and says so', async () => {
    const { blocks } = await messageWith({ text: 'see', references: [{ kind: 'text', name: 'T', text: 'x'.repeat(70_000), range: null }] }, needs)
    expect(JSON.stringify(blocks)).toContain('[4464 more characters are left out.]')
  })
  it('is refused when it is no image', async () => {
    await expect(messageWith({ text: 'see', references: [{ kind: 'image', bytes: Uint8Array.of(1), mediaType: 'image/bmp', range: null }] }, needs)).rejects.toMatchObject({ code: 'NOT_AN_IMAGE' })
  })
})
