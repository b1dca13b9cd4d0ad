import { t } from '../l10n.ts'
import { useApp } from './app-context.ts'
import { Icon } from './icon.tsx'

const suggestions = ['Explain how this project is built', 'Find the cause of a failing test and fix it', 'Review the changes that are not committed'] as const

/** Before the first word: what can be done here, or what has to be done first. */
export function Welcome() {
  const { store, actions, composer } = useApp()
  const { model } = store.state.composer.value
  if (model === null) {
    return (
      <div class="welcome">
        <Icon name="chip" />
        <h2>{t('Choose a model to begin')}</h2>
        <p>{t('Bosun works with a model of your choice: one of the editor, one on this machine, or one behind an API key. There is a scripted tour that needs none.')}</p>
        <button type="button" class="button-primary" onClick={actions.pickModel}>
          {t('Choose a model')}
        </button>
      </div>
    )
  }
  if (model.isScripted) {
    return (
      <div class="welcome">
        <Icon name="compass" />
        <h2>{t('A tour of Bosun')}</h2>
        <p>{t('What answers here is a script, not a model. It shows how Bosun reads, edits and runs, in a new file of its own, and asks before it does.')}</p>
        <button type="button" class="button-primary" onClick={() => composer.insert('start')}>
          {t('Write “start”')}
        </button>
        <button type="button" class="link" onClick={actions.pickModel}>
          {t('Choose a model instead')}
        </button>
      </div>
    )
  }
  return (
    <div class="welcome">
      <Icon name="comment-discussion" />
      <h2>{t('What shall be done?')}</h2>
      <p>{store.state.isTrusted.value ? t('Bosun reads, edits and runs things in this workspace, and asks before it does what may harm.') : t('Bosun can read and search in this workspace.')}</p>
      <ul class="suggestions">
        {suggestions.map((suggestion) => (
          <li key={suggestion}>
            <button type="button" class="suggestion" onClick={() => composer.insert(t(suggestion))}>
              {t(suggestion)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
