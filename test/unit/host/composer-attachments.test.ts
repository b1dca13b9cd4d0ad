import { expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import { UnresolvedReference } from '../../../extension/features/references/service.ts'
import { ComposerAttachments } from '../../../extension/host/composer-attachments.ts'
import { DraftAttachments } from '../../../extension/host/draft-attachments.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { memoryMemento } from '../../support/memory-memento.ts'

it.each([
  ['nothing is selected, in the language of the person', new UnresolvedReference('NOTHING_THERE', '@selection: nothing is selected.'), '»Nothing is selected in an editor. Select something, then attach it.'],
  ['it may not be shown', new UnresolvedReference('NOT_ALLOWED', '@selection: it holds secrets.'), '@selection: it holds secrets.'],
])('says that %s', async (_why, error, words) => {
  const said: string[] = []
  const l10n = { t: (text: string, args?: Parameters<typeof fillIn>[1]) => `»${fillIn(text, args)}` }
  const composer = new ComposerAttachments({
    drafts: new DraftAttachments({ blobs: createMemoryBlobStore(), machine: createFakeMachine(), memento: memoryMemento(), l10n, onError: (problem) => said.push(String(problem)) }),
    references: { selection: () => Promise.reject(error), spelling: (path) => path },
    l10n,
    place: () => ({ sessionId: null, cwd: '/w' }),
    imagesRefused: async () => null,
    onChange: () => said.push('changed'),
    say: (problem) => said.push(problem),
  })
  await composer.attachSelection()
  expect(said).toEqual([words])
})
