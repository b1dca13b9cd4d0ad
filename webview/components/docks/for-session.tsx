import { t } from '../../l10n.ts'
import { useApp } from '../app-context.ts'

/** Whose it is, when another session is on screen; a press leads there. */
export function ForSession({ who, sessionId }: { readonly who: string | null | undefined; readonly sessionId: string | undefined }) {
  const { actions } = useApp()
  if (who === null || who === undefined) return null
  return (
    <div class="waiting-who" dir="auto">
      {sessionId === undefined ? (
        t('For {0}.', who)
      ) : (
        <button type="button" class="link" title={t('Open this session')} onClick={() => actions.openSession(sessionId)}>
          {t('For {0}.', who)}
        </button>
      )}
    </div>
  )
}
