import { plural, t } from '../../l10n.ts'
import { firstLine } from '../../text/format.ts'
import { useApp } from '../app-context.ts'
import { Icon } from '../icon.tsx'
import { IconButton } from '../icon-button.tsx'

/** Words that wait for their turn: change, send into what runs, or take back. */
export function QueueDock() {
  const { store, actions, composer, ui } = useApp()
  const queue = store.state.queue.value
  // What the host has not yet answered for, in this session.
  const sending = ui.sending.value.filter(({ sessionId }) => sessionId === store.state.session.value?.id)
  if (queue.length === 0 && sending.length === 0) return null
  return (
    <section class="dock queue" role="region" aria-label={t('Queued messages')}>
      <ul>
        {queue.map(({ id, text, target, images }) => (
          <li key={id} class={composer.editingQueued.value === id ? 'queued is-edited' : 'queued'}>
            <Icon name={target === 'next-step' ? 'arrow-up' : 'list-ordered'} />
            <span class="queued-text" dir="auto" title={text}>
              <span class="queued-when">{target === 'next-step' ? t('next step:') : t('queued:')}</span> {firstLine(text, 200)}
              {images !== undefined && <span class="queued-when"> {plural(images, '{0} image', '{0} images')}</span>}
            </span>
            <span class="queued-actions">
              <IconButton icon="edit" label={t('Edit the queued message')} onPress={() => composer.editQueued(id)} />
              {target === 'next-turn' && <IconButton icon="arrow-up" label={t('Steer with it now')} onPress={() => actions.steerQueued(id)} />}
              <IconButton icon="close" label={t('Delete the queued message')} onPress={() => actions.deleteQueued(id)} />
            </span>
          </li>
        ))}
        {sending.map(({ id, text }) => (
          <li key={id} class="queued is-sending">
            <Icon name="loading" spin />
            <span class="queued-text" dir="auto">
              <span class="queued-when">{t('sending:')}</span> {firstLine(text, 200)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
