import ask from './shipped/ask.preset.json' with { type: 'json' }
import code from './shipped/code.preset.json' with { type: 'json' }
import creator from './shipped/creator.preset.json' with { type: 'json' }
import editor from './shipped/editor.preset.json' with { type: 'json' }
import minimal from './shipped/minimal.preset.json' with { type: 'json' }
import standard from './shipped/standard.preset.json' with { type: 'json' }
import team from './shipped/team.preset.json' with { type: 'json' }
import { presetFrom } from './preset-file.ts'
import type { Preset } from './preset.ts'

/** The presets that come with Bosun. Source: runtime specification 17; design decision "Default preset". */
export const shippedPresets: readonly Preset[] = Object.entries({ editor, standard, code, minimal, creator, team, ask }).map(([id, content]) => presetFrom(id, content))

/** Other names of shipped presets. */
const presetAliases: ReadonlyMap<string, string> = new Map([['cordis', 'creator']])

/** The id that a preset has in the list, by any of its names. */
export const presetIdOf = (name: string): string => presetAliases.get(name) ?? name
