import type { Editor } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { Workspace } from '../capabilities/workspace.ts'
import { PresetError } from '../core/presets/preset.ts'
import type { Presets, PresetSummary } from '../core/presets/preset.ts'

interface Parts {
  readonly presets: Presets
  readonly workspace: Pick<Workspace, 'folders' | 'isTrusted'>
  readonly editor: Pick<Editor, 'confirm' | 'deleteFile' | 'input' | 'openLocation' | 'pick'>
  readonly l10n: Localization
}

/** `path`: the file that can be mended. */
export type PickedPreset = { readonly id: string } | { readonly problem: string; readonly path: string | undefined }

/** What the person does with presets, their files read anew each time. */
export function createPresetChoice({ presets, workspace, editor, l10n }: Parts) {
  const pickFrom = async (title: string, placeholder: string, current: string | null, all: readonly PresetSummary[]) => {
    const origins = { shipped: '', user: l10n.t('yours'), workspace: l10n.t('of this workspace') }
    // Two files may claim one name; each has its own line.
    const lineIds = all.map(({ id, path }, index) => (all.findIndex((other) => other.id === id) === index ? id : (path ?? id)))
    const picked = await editor.pick({
      title,
      placeholder,
      items: all.map(({ id, name, description, problem, root }, index) => ({
        id: lineIds[index] ?? id,
        label: name,
        // The line beneath has room for the reason; the one beside the name would cut it.
        description: problem === undefined ? origins[root] : l10n.t('cannot be chosen'),
        detail: problem ?? description,
        isCurrent: id === current && problem === undefined,
      })),
    })
    return picked === null ? undefined : all[lineIds.indexOf(picked)]
  }

  const listed = async () => {
    await presets.discover()
    return presets.list()
  }

  /** With their files: those of the person and of the workspace, broken ones too. */
  const pickOwn = async (title: string, placeholder: string) => {
    const own = (await listed()).filter(({ path }) => path !== undefined)
    return own.length === 0 ? 'none' : await pickFrom(title, placeholder, null, own)
  }
  const noOwn = l10n.t('There is no preset of your own yet. Copy one with “Bosun: Copy Preset…”; the copy is yours to change.')

  /** Asked only where there is a choice. */
  const pickRoot = async (): Promise<'user' | 'workspace' | null> => {
    const [first] = workspace.folders()
    if (first === undefined || !workspace.isTrusted()) return 'user'
    const picked = await editor.pick({
      title: l10n.t('Copy a preset'),
      placeholder: l10n.t('Where the copy is kept'),
      items: [
        { id: 'user', label: l10n.t('My presets'), description: '~/.bosun/presets', detail: l10n.t('For you, in every folder') },
        { id: 'workspace', label: l10n.t('This workspace'), description: `${first.name}/.bosun/presets`, detail: l10n.t('For everyone who opens this folder') },
      ],
    })
    return picked === 'user' || picked === 'workspace' ? picked : null
  }

  return {
    /** Null: none was picked, or the one that is there already. */
    async pick(current: string): Promise<PickedPreset | null> {
      const preset = await pickFrom(l10n.t('Choose a preset'), l10n.t('Which tools and words Bosun works with'), current, await listed())
      if (preset === undefined || (preset.id === current && preset.problem === undefined)) return null
      const { id, name, problem, path } = preset
      if (problem === undefined) return { id }
      // What comes with Bosun names itself in its reason.
      return { problem: path === undefined ? problem : l10n.t('The preset “{name}” cannot be chosen. {reason}', { name, reason: problem }), path }
    },

    /** Copy one into the person's folder, or into that of the workspace where it has one that is read, and open the file. Gives words for the person when that failed. */
    async copy(cwd: string): Promise<string | null> {
      const preset = await pickFrom(l10n.t('Copy a preset'), l10n.t('The copy is yours to change'), null, await listed())
      if (preset === undefined) return null
      const newId = await editor.input({ title: l10n.t('Copy a preset'), prompt: l10n.t('Name of the copy: lower-case letters, digits and hyphens'), value: `my-${preset.id}` })
      if (newId === null) return null
      const root = await pickRoot()
      if (root === null) return null
      try {
        return await editor.openLocation({ path: await presets.copy(preset.id, newId.trim(), root), line: 1 }, cwd)
      } catch (error) {
        if (error instanceof PresetError) return error.message
        throw error
      }
    },

    /** Open the file of one, also of a broken one. Gives words for the person when that failed. */
    async edit(cwd: string): Promise<string | null> {
      const preset = await pickOwn(l10n.t('Edit a preset'), l10n.t('Sessions that run keep it as it was when they began'))
      if (preset === 'none') return noOwn
      if (preset?.path === undefined) return null
      return await editor.openLocation({ path: preset.path, line: 1 }, cwd)
    },

    /** Delete the file of one, into the trash where there is one. Gives words for the person; null: they backed out. Errors: `Error` in words for the person. */
    async remove(): Promise<string | null> {
      const preset = await pickOwn(l10n.t('Delete a preset'), l10n.t('Sessions that run keep it'))
      if (preset === 'none') return noOwn
      if (preset?.path === undefined) return null
      const { name, path } = preset
      const text = l10n.t('Delete the preset “{name}”?', { name })
      if (!(await editor.confirm({ text, detail: l10n.t('{path} goes into the trash. Sessions that run keep the preset.', { path }), yes: l10n.t('Delete') }))) return null
      const isInTrash = await editor.deleteFile(path, { isForGood: false })
      if (!isInTrash) {
        if (!(await editor.confirm({ text: l10n.t('The preset “{name}” cannot be put into the trash here. Delete it for good?', { name }), detail: path, yes: l10n.t('Delete for Good') }))) return null
        await editor.deleteFile(path, { isForGood: true })
      }
      await presets.discover()
      return isInTrash ? l10n.t('The preset “{name}” was deleted. Its file {path} is in the trash, from where you can put it back.', { name, path }) : l10n.t('The preset “{name}” was deleted with its file {path}.', { name, path })
    },
  }
}
