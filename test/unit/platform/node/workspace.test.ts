import { expect, it } from 'vitest'
import { createFolderWorkspace } from '../../../../extension/platform/node/workspace.ts'

it('is one trusted folder', async () => {
  const workspace = createFolderWorkspace('/a/b')
  expect([workspace.folders(), workspace.isTrusted(), await workspace.snapshot()]).toEqual([[{ name: 'b', path: '/a/b' }], true, { openEditors: [], unsavedFiles: [] }])
})

it('the root of the disk has a name too', () => expect(createFolderWorkspace('/').folders()).toEqual([{ name: '/', path: '/' }]))
