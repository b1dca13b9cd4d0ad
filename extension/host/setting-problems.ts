import type { ChatServices } from './chat-services.ts'

/** Of these, each good entry holds, and each bad one is named on its own. */
const readEntryByEntry: ReadonlySet<string> = new Set(['providers', 'model.facts'])

/** Everything that is wrong with the settings now, in words for the person, with the setting it is about. */
export function settingProblems({ settings, modelProblems }: Pick<ChatServices, 'settings' | 'modelProblems'>): readonly { readonly key: string; readonly message: string }[] {
  return [...settings.problems().filter(({ key }) => !readEntryByEntry.has(key)), ...modelProblems.list().map((message) => ({ key: 'providers', message }))]
}
