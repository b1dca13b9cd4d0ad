import { t } from '../../l10n.ts'
import { useApp } from '../app-context.ts'
import { Icon } from '../icon.tsx'
import { IconButton } from '../icon-button.tsx'
import { noticeIcons } from '../rows/small-rows.tsx'

/** Lines over the composer that stay until they are mended or closed. */
export function Notices() {
  const { store, actions } = useApp()
  const session = store.state.session.value
  return (
    <>
      {!store.state.isTrusted.value && (
        <div class="notice level-info">
          <Icon name="workspace-untrusted" />
          <span class="notice-text">{t('This folder is not trusted: Bosun can look around, but not change or run anything.')}</span>
          <span class="notice-actions">
            <button type="button" class="link" onClick={actions.manageTrust}>
              {t('Manage trust')}
            </button>
          </span>
        </div>
      )}
      {session?.access === 'read-only' && session.child === undefined && (
        <div class="notice level-info">
          <Icon name="lock" />
          <span class="notice-text">
            {session.writer === undefined ? t('This session is read-only here.') : t('This session is open in {0}. Here it is read-only.', session.writer)}
          </span>
        </div>
      )}
      {store.state.notices.value.map(({ id, level, text, actions: offered }) => (
        <div key={id} class={`notice level-${level}`}>
          <Icon name={noticeIcons[level]} />
          <span class="notice-text" dir="auto">
            {text}
          </span>
          <IconButton icon="close" label={t('Close')} onPress={() => actions.closeNotice(id)} />
          {offered.length > 0 && (
            <span class="notice-actions">
              {offered.map((action) => (
                <button key={action.id} type="button" class="link" onClick={() => actions.noticeAction(id, action.id)}>
                  {action.label}
                </button>
              ))}
            </span>
          )}
        </div>
      ))}
    </>
  )
}
