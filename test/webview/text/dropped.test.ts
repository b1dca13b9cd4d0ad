import { expect, it } from 'vitest'
import { carriesFiles, droppedFrom } from '../../../webview/text/dropped.ts'

const transfer = (data: Readonly<Record<string, string>>, files: readonly File[] = []) => droppedFrom({ getData: (type) => data[type] ?? '', files: files as unknown as FileList })
const picture = new File(['x'], 'a.png', { type: 'image/png' })

it('the addresses of the editor’s own lists, and nothing beside them', () =>
  expect(transfer({ 'application/vnd.code.uri-list': 'file:///w/a.ts\r\nfile:///w/b.ts', 'text/uri-list': 'file:///w/a.ts' }, [picture])).toEqual({ uris: ['file:///w/a.ts', 'file:///w/b.ts'], images: [], others: [] }))
it('addresses of a remote workspace', () => expect(transfer({ 'text/uri-list': 'vscode-remote://ssh/w/a.ts' }).uris).toEqual(['vscode-remote://ssh/w/a.ts']))
it('no links of a web page', () => expect(transfer({ 'text/uri-list': 'https://example.com/' })).toEqual({ uris: [], images: [], others: [] }))
it('images from elsewhere, and the names of what is none', () => expect(transfer({}, [picture, new File(['x'], 'b.zip', { type: 'application/zip' })])).toEqual({ uris: [], images: [picture], others: ['b.zip'] }))
it('is seen coming', () => expect([['Files'], ['text/plain', 'text/uri-list'], ['CodeFiles'], ['text/plain']].map((types) => carriesFiles({ types }))).toEqual([true, true, true, false]))
