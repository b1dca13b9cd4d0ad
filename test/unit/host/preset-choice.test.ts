import { expect, it } from 'vitest'
import { createPresetChoice } from '../../../extension/host/preset-choice.ts'
import { PresetError } from '../../../extension/core/presets/preset.ts'
import type { WorkspaceFolder } from '../../../extension/capabilities/workspace.ts'
import type { Presets, PresetSummary } from '../../../extension/core/presets/preset.ts'
import { createFakeEditor } from '../../support/fake-editor.ts'

const all = [
  { id: 'editor', name: 'Editor', description: 'Everything.', root: 'shipped' },
  { id: 'mine', name: 'Mine', description: '', root: 'user', path: '/home/.bosun/presets/mine.preset.json' },
  { id: 'mine', name: 'mine', description: '', root: 'workspace', path: '/w/.bosun/presets/mine.preset.json', problem: 'The name is taken.' },
] as const

function setUp(answers: readonly (string | boolean | null)[], folders: readonly WorkspaceFolder[] = [], isTrusted = true, listed: readonly PresetSummary[] = all) {
  const editor = createFakeEditor()
  editor.answers.push(...answers)
  const presets: Pick<Presets, 'discover' | 'list' | 'copy'> = {
    discover: async () => undefined,
    list: () => listed,
    copy: async (id, newId, root) => {
      if (newId === 'editor') throw new PresetError('PRESET_EXISTS', 'There is one.')
      return `/${root}/${id}-${newId}`
    },
  }
  const l10n = { t: (text: string) => text }
  // Only what the choice uses.
  return { editor, choice: createPresetChoice({ presets: presets as Presets, workspace: { folders: () => folders, isTrusted: () => isTrusted }, editor, l10n }) }
}

it.each([
  ['mine', { id: 'mine' }],
  ['editor', null],
  [null, null],
  ['/w/.bosun/presets/mine.preset.json', { problem: 'The preset “{name}” cannot be chosen. {reason}', path: '/w/.bosun/presets/mine.preset.json' }],
])('picking %j gives %j', async (answer, picked) => expect(await setUp([answer]).choice.pick('editor')).toEqual(picked))

it.each([
  [['mine', 'my-own'], null, ['location']],
  [['editor', 'editor'], 'There is one.', []],
  [['mine', null], null, []],
  [[null], null, []],
])('copying with the answers %j says %j', async (answers, problem, opened) => {
  const { editor, choice } = setUp(answers)
  expect(await choice.copy('/w')).toBe(problem)
  expect(editor.shown.map(({ kind }) => kind).filter((kind) => kind === 'location')).toEqual(opened)
})

const folder = { name: 'w', path: '/w' }
it.each([
  [['mine', 'my-own', 'workspace'], true, '/workspace/mine-my-own'],
  [['mine', 'my-own', 'user'], true, '/user/mine-my-own'],
  [['mine', 'my-own', null], true, undefined],
  // A folder that is not trusted keeps no presets, so nothing is asked.
  [['mine', 'my-own'], false, '/user/mine-my-own'],
])('a copy goes where the answers %j say, in a trusted folder: %s', async (answers, isTrusted, path) => {
  const { editor, choice } = setUp(answers, [folder], isTrusted)
  await choice.copy('/w')
  expect(editor.shown.filter(({ kind }) => kind === 'location').map(({ value }) => value)).toEqual(path === undefined ? [] : [{ cwd: '/w', location: { path, line: 1 } }])
})

const broken = '/w/.bosun/presets/mine.preset.json'
it.each([
  ['mine', '/home/.bosun/presets/mine.preset.json'],
  [broken, broken],
  [null, null],
])('editing %j opens %j, and offers only those with a file', async (answer, path) => {
  const { editor, choice } = setUp([answer])
  expect(await choice.edit('/w')).toBeNull()
  const [picked, opened] = editor.shown
  expect((picked!.value as { readonly items: readonly { readonly id: string; readonly description: string; readonly detail: string }[] }).items.map(({ id, description, detail }) => [id, description, detail])).toEqual([['mine', 'yours', ''], [broken, 'cannot be chosen', 'The name is taken.']])
  expect(opened?.value).toEqual(path === null ? undefined : { cwd: '/w', location: { path, line: 1 } })
})

const file = '/home/.bosun/presets/mine.preset.json'
it.each<[string, readonly (string | boolean | null)[], boolean, readonly unknown[], string | null]>([
  ['goes into the trash after a yes', ['mine', true], true, [{ path: file, isForGood: false }], `The preset “{name}” was deleted. Its file {path} is in the trash, from where you can put it back.`],
  ['is deleted for good only after a second yes where there is no trash', ['mine', true, true], false, [{ path: file, isForGood: false }, { path: file, isForGood: true }], 'The preset “{name}” was deleted with its file {path}.'],
  ['stays without that second yes', ['mine', true, false], false, [{ path: file, isForGood: false }], null],
  ['stays without a yes', ['mine', false], true, [], null],
  ['stays when none is picked', [null], true, [], null],
])('a preset %s', async (_what, answers, hasTrash, deleted, words) => {
  const { editor, choice } = setUp(answers)
  if (!hasTrash) editor.withoutTrash()
  expect(await choice.remove()).toBe(words)
  expect(editor.shown.filter(({ kind }) => kind === 'delete').map(({ value }) => value)).toEqual(deleted)
})

it('says so where there is none of one’s own', async () => {
  const { editor, choice } = setUp([], [], true, all.slice(0, 1))
  expect([await choice.edit('/w'), await choice.remove()]).toEqual([expect.stringContaining('no preset of your own yet'), expect.stringContaining('no preset of your own yet')])
  expect(editor.shown).toEqual([])
})
