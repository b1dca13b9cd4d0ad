import type { SessionView } from '../../extension/protocol/view-state.ts'
import { t } from '../l10n.ts'
import { useApp } from './app-context.ts'
import { Icon } from './icon.tsx'

/** Whose agent the session on screen is, with the way back to that one. */
export function ChildBar() {
  const { store, actions } = useApp()
  const session = store.state.session.value
  if (session?.child === undefined) return null
  const { parentId, parentTitle, canTakeOver } = session.child
  return (
    <nav class="child-bar" aria-label={t('Where this agent belongs')}>
      <button type="button" class="link child-parent" title={t('Back to “{0}”', parentTitle)} onClick={() => actions.openSession(parentId)}>
        <Icon name="arrow-left" />
        <span dir="auto">{t('Agent of: {0}', parentTitle)}</span>
      </button>
      {canTakeOver && (
        <button type="button" class="link" title={t('Make it a session of your own')} onClick={() => actions.takeOverAgent(session.id)}>
          {t('Take over')}
        </button>
      )}
    </nav>
  )
}

/** In the place of the box: why no words reach this agent, and what stops it. */
export function ChildFoot({ session }: { readonly session: SessionView }) {
  const { actions } = useApp()
  return (
    <div class="child-foot">
      <span dir="auto">{session.child?.blockedBy}</span>
      {session.status !== 'idle' && (
        <button type="button" class="button-secondary" onClick={actions.stop}>
          {t('Interrupt')}
        </button>
      )}
    </div>
  )
}
