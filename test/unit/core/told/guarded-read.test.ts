import { expect, it } from 'vitest'
import { ioError } from '../../../../extension/capabilities/file-system.ts'
import { guardedRead, type GuardedRead } from '../../../../extension/core/told/guarded-read.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { MemoryFileSystem } from '../../../support/memory-file-system.ts'

const files = new MemoryFileSystem({ '/w/a.md': 'text', '/w/big.md': 'x'.repeat(11), '/w/nul.md': Uint8Array.of(0, 1), '/w/.env': 'KEY=1', '/other/b.md': 'b' })
const read = async (path: string, wanted: Partial<GuardedRead> = {}, fake: Partial<MemoryFileSystem> = {}) => {
  const reading = {
    resolve: files.resolve.bind(files),
    stat: files.stat.bind(files),
    readText: files.readText.bind(files),
    ...fake,
  }
  return await guardedRead(
    { files: reading, machine: createFakeMachine() },
    { path, base: '/w', fence: { folders: ['/w'], closedBy: (one) => (one.endsWith('.env') ? '**/.env' : null) }, maxBytes: 10, ...wanted },
  )
}

it('gives the text with what it was read from', async () => expect(await read('a.md')).toMatchObject({ kind: 'text', text: 'text', target: { path: '/w/a.md' }, stat: { size: 4 } }))
it('gives what is known already, unread', async () => expect(await read('a.md', { known: () => 'old' }, { readText: () => Promise.reject(new Error('read')) })).toMatchObject({ text: 'old' }))
it('says that there is none', async () => expect(await read('none.md')).toEqual({ kind: 'absent' }))
it.each([
  ['a folder', '/w', 'It is a folder, not a file.', null],
  ['one over the cap', 'big.md', 'It has 11 bytes; at most 10 are read.', 11],
  ['one outside the fence', '/other/b.md', "It leads to /other/b.md, outside the workspace and Bosun's own folder.", null],
  ['one that no tool may read', '.env', 'It is one of the paths that no tool may read.', null],
])('refuses %s', async (_name, path, reason, bytes) => expect(await read(path)).toEqual({ kind: 'refused', reason, bytes, isUnreadable: false }))
it('refuses bytes that are no text', async () => expect(await read('nul.md')).toMatchObject({ kind: 'refused', reason: expect.stringContaining('binary') }))
it('lets the person’s own file be anywhere, but never a closed path', async () => {
  expect(await read('/other/b.md', { mayBeAnywhere: true })).toMatchObject({ kind: 'text' })
  expect(await read('.env', { mayBeAnywhere: true })).toMatchObject({ kind: 'refused' })
})
it('tells what may be readable in a moment', async () =>
  expect(await read('a.md', {}, { readText: () => Promise.reject(ioError('a.md', 'is busy')) })).toEqual({ kind: 'refused', reason: 'a.md: is busy.', bytes: null, isUnreadable: true }))
it('ends with the reason of its signal, and with what is no failure of a file', async () => {
  await expect(read('a.md', { signal: AbortSignal.abort(new Error('stopped')) })).rejects.toThrow('stopped')
  await expect(read('a.md', {}, { stat: () => Promise.reject(new Error('a fault')) })).rejects.toThrow('a fault')
})
