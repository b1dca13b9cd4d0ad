import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import { shownBytes, storageDocument } from '../../../extension/host/storage-document.ts'
import { chatRig } from './chat-rig.ts'

describe('the page of storage', () => {
  const use = (sessionId: string, spill: number) => ({ sessionId, attachments: 1_500, before: 0, log: 20_000, spill })
  it('says what takes how much, and what limits it', () =>
    expect(
      storageDocument(
        { usage: [use('a', 7_000_000), use('draft', 0)], sessions: [{ id: 'a', title: 'Fix | it', updatedAt: Date.UTC(2026, 2, 29) }], maxSpillMb: 500, retentionDays: 0 },
        { t: fillIn },
      ),
    ).toBe(`# Storage

Bosun’s sessions take **7.0 MB**. Deleting a session frees all of it.

- Long output: 7.0 MB of 500 MB (\`bosun.sessions.maxSpillMb\`). More makes that of the sessions untouched for longest go.
- Every session is kept (\`bosun.sessions.retentionDays\`).

| Session | Last touched | Total | Talk | Attachments | Earlier versions of files | Long output |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
| Fix \\| it | 2026-03-29 | 7.0 MB | 20 kB | 1.5 kB | 0 B | 7.0 MB |
| (no session: draft) |  | 22 kB | 20 kB | 1.5 kB | 0 B | 0 B |
`))
  it('says that there is no limit, and when sessions go', () => {
    const page = storageDocument({ usage: [], sessions: [], maxSpillMb: 0, retentionDays: 30 }, { t: fillIn })
    expect([page.includes('Long output: 0 B, without a limit'), page.includes('nobody touched for 30 days are deleted')]).toEqual([true, true])
  })
  it('puts what is too much for a page in one row', () => {
    const page = storageDocument({ usage: Array.from({ length: 203 }, (_none, index) => use(`s${index}`, 1_000)), sessions: [], maxSpillMb: 1, retentionDays: 0 }, { t: fillIn })
    expect(page).toContain('| 3 more |  | 68 kB | 60 kB | 4.5 kB | 0 B | 3.0 kB |')
  })
  it.each([[0, '0 B'], [999, '999 B'], [1_000, '1.0 kB'], [12_345, '12 kB'], [1_500_000, '1.5 MB'], [2_000_000_000, '2.0 GB']])('shows %d bytes as %s', (bytes, shown) => expect(shownBytes(bytes)).toBe(shown))
})

it('opens as a page, with the titles of the sessions', async () => {
  const rig = await chatRig({ secrets: { DEEPSEEK_API_KEY: 'k' } })
  await rig.send('hello')
  await rig.blobs.putSpill('s1', 'x.txt', 'long')
  await rig.controller.run('show-storage')
  expect(rig.editor.shown.filter(({ kind }) => kind === 'text')).toMatchObject([{ value: { name: 'storage/Storage.md', language: 'markdown', text: expect.stringMatching(/\| s1 \| 1970-01-01 \| 4 B \|/) } }])
})

it('what retention took is told once, with a way to its setting', async () => {
  const rig = await chatRig({ secrets: { DEEPSEEK_API_KEY: 'k' } })
  rig.controller.noteSpillDropped({ bytes: 3_000_000, sessions: 2 })
  await rig.settle()
  expect(rig.state().notices).toMatchObject([{ id: 'spill-dropped', text: expect.stringMatching(/^Long output of 2 older sessions was deleted \(3\.0 MB\)/), actions: [{ label: 'Open the settings' }] }])
})

it.each([
  [0, 'Bosun has none of your terminals.'],
  [1, 'Your terminal is yours alone again.'],
  [3, 'Your 3 terminals are yours alone again.'],
])('taking %d terminals back says so', async (lentTerminals, text) => {
  const rig = await chatRig({ secrets: { DEEPSEEK_API_KEY: 'k' }, lentTerminals })
  await rig.controller.run('take-back-terminals')
  await rig.settle()
  expect(rig.state().notices).toMatchObject([{ id: 'terminals', text }])
})
