import type { WordValues } from '../base/fill-in.ts'

/** Words for the person in the editor's language. `t('{count} files', { count })` gives the English text where no translation is there. */
export interface Localization {
  t(text: string, values?: WordValues): string
}
