import type { Editor } from '../capabilities/editor.ts'
import type { LanguageServers, LanguageServerState } from '../capabilities/language-servers.ts'
import type { Localization } from '../capabilities/localization.ts'

/** How the configured language servers stand and why; choosing one starts it again. */
export async function pickLanguageServer({ languageServers, editor, l10n }: { readonly languageServers: LanguageServers; readonly editor: Pick<Editor, 'pick' | 'openSettings'>; readonly l10n: Localization }): Promise<void> {
  const { t } = l10n
  const servers = languageServers.list()
  const picked = await editor.pick({
    title: t('Language servers'),
    placeholder: servers.length === 0 ? t('None is configured. Each is started for a language that no extension of the editor knows.') : t('Choose one to start it again'),
    items: [
      ...servers.map(({ name, command, state, reason }) => ({ id: `server:${name}`, label: name, description: stateWords(state, l10n), detail: reason ?? command })),
      { id: 'settings', label: t('Open Settings…'), detail: 'bosun.languageServers' },
    ],
  })
  if (picked === 'settings') await editor.openSettings('bosun.languageServers')
  else if (picked !== null) await languageServers.restart(picked.slice('server:'.length))
}

function stateWords(state: LanguageServerState, { t }: Localization): string {
  const words: Readonly<Record<LanguageServerState, string>> = {
    waiting: t('waits for the first question about its files'),
    unneeded: t('not needed'),
    starting: t('starting'),
    running: t('running'),
    restarting: t('ended, starting again'),
    failed: t('given up'),
    stopped: t('stopped'),
  }
  return words[state]
}
