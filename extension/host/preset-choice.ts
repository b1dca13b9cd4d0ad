import type { Editor } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import { PresetError } from '../core/presets/preset.ts'
import type { Presets } from '../core/presets/preset.ts'

interface Parts {
  readonly presets: Presets
  readonly editor: Pick<Editor, 'pick' | 'input' | 'openLocation'>
  readonly l10n: Localization
}

export type PickedPreset = { readonly id: string } | { readonly problem: string }

/** What the person does with presets, their files read anew each time. */
export function createPresetChoice({ presets, editor, l10n }: Parts) {
  const pickFrom = async (title: string, placeholder: string, current: string | null) => {
    await presets.discover()
    const all = presets.list()
    const origins = { shipped: '', user: l10n.t('yours'), workspace: l10n.t('of this workspace') }
    // Two files may claim one name; each has its own line.
    const lineIds = all.map(({ id, path }, index) => (all.findIndex((other) => other.id === id) === index ? id : (path ?? id)))
    const picked = await editor.pick({
      title,
      placeholder,
      items: all.map(({ id, name, description, problem, root }, index) => ({
        id: lineIds[index] ?? id,
        label: name,
        description: problem ?? origins[root],
        detail: description,
        isCurrent: id === current && problem === undefined,
      })),
    })
    return picked === null ? undefined : all[lineIds.indexOf(picked)]
  }

  return {
    /** Null: none was picked, or the one that is there already. */
    async pick(current: string): Promise<PickedPreset | null> {
      const preset = await pickFrom(l10n.t('Choose a preset'), l10n.t('Which tools and words Bosun works with'), current)
      if (preset === undefined || (preset.id === current && preset.problem === undefined)) return null
      return preset.problem === undefined ? { id: preset.id } : { problem: preset.problem }
    },

    /** Copy one into the person's folder and open the file. Gives words for the person when that failed. */
    async copy(cwd: string): Promise<string | null> {
      const preset = await pickFrom(l10n.t('Copy a preset'), l10n.t('The copy is yours to change'), null)
      if (preset === undefined) return null
      const newId = await editor.input({ title: l10n.t('Copy a preset'), prompt: l10n.t('Name of the copy: lower-case letters, digits and hyphens'), value: `my-${preset.id}` })
      if (newId === null) return null
      try {
        return await editor.openLocation({ path: await presets.copy(preset.id, newId.trim()), line: 1 }, cwd)
      } catch (error) {
        if (error instanceof PresetError) return error.message
        throw error
      }
    },
  }
}
