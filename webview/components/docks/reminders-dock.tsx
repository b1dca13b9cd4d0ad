import type { ReminderView } from '../../../extension/protocol/view-state.ts'
import { language, plural, t } from '../../l10n.ts'
import { firstLine } from '../../text/format.ts'
import { useApp } from '../app-context.ts'
import { Icon } from '../icon.tsx'
import { IconButton } from '../icon-button.tsx'

/** Reminders of the session: the next one on a line, all of them when it is open. Nothing when there are none. */
export function RemindersDock() {
  const { store, actions, ui } = useApp()
  const { items, problem } = store.state.reminders.value
  const [next] = items
  if (next === undefined && problem === null) return null
  const foldId = 'reminders'
  const isOpen = ui.isOpen(foldId) ?? false
  return (
    <section class="dock reminders" role="region" aria-label={t('Reminders')}>
      <div class="reminders-head">
        <button type="button" class="dock-line" aria-expanded={isOpen} onClick={() => ui.setOpen(foldId, !isOpen)}>
          <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
          <span class="tasks-count">{plural(items.length, '{0} reminder', '{0} reminders')}</span>
          {!isOpen && next !== undefined && (
            <span class="dock-line-text" dir="auto">
              <NextTime reminder={next} /> · {firstLine(next.text, 200)}
            </span>
          )}
        </button>
        {isOpen && <IconButton icon="add" label={t('New reminder')} onPress={actions.newReminder} />}
      </div>
      {problem !== null && (
        <p class="reminders-problem">
          <Icon name="warning" /> {problem}
        </p>
      )}
      {isOpen && (
        <ul class="reminder-list">
          {items.map((reminder) => (
            <Reminder key={reminder.id} reminder={reminder} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Reminder({ reminder }: { readonly reminder: ReminderView }) {
  const { store, actions, now } = useApp()
  const { id, text, at, recurrence, isTask, isPaused, isSnoozed, skipsMissed } = reminder
  const canWrite = store.state.session.value?.access === 'write'
  const facts = [recurrence, isTask ? t('Bosun works by itself') : null, isSnoozed ? t('snoozed') : null, skipsMissed ? t('left out when missed') : null].filter((fact) => fact !== null)
  return (
    <li class={`reminder${isPaused ? ' is-paused' : ''}`}>
      <Icon name={isPaused ? 'debug-pause' : isTask ? 'rocket' : 'bell'} />
      <span class="reminder-words">
        <span class="reminder-text" dir="auto" title={text}>
          {firstLine(text, 300)}
        </span>
        <span class="reminder-when">
          <NextTime reminder={reminder} />
          {at !== null && <> · {dayAndTime(at, now.value)}</>}
          {facts.map((fact) => (
            <span key={fact}> · {fact}</span>
          ))}
        </span>
      </span>
      {canWrite && (
        <span class="reminder-actions">
          <IconButton icon="play" label={t('Run now: {0}', firstLine(text, 80))} onPress={() => actions.reminder(id, 'run')} />
          {!isPaused && <IconButton icon="history" label={t('Snooze: {0}', firstLine(text, 80))} onPress={() => actions.reminder(id, 'snooze')} />}
          {isPaused ? (
            <IconButton icon="debug-continue" label={t('Resume: {0}', firstLine(text, 80))} onPress={() => actions.reminder(id, 'resume')} />
          ) : (
            <IconButton icon="debug-pause" label={t('Pause: {0}', firstLine(text, 80))} onPress={() => actions.reminder(id, 'pause')} />
          )}
          <IconButton icon="edit" label={t('Edit: {0}', firstLine(text, 80))} onPress={() => actions.reminder(id, 'edit')} />
          <IconButton icon="trash" label={t('Delete: {0}', firstLine(text, 80))} onPress={() => actions.reminder(id, 'delete')} />
        </span>
      )}
    </li>
  )
}

/** How far away it is, once a minute anew; what waits is marked. */
function NextTime({ reminder: { at } }: { readonly reminder: ReminderView }) {
  const { now } = useApp()
  if (at === null) return <>{t('paused')}</>
  const left = at - now.value
  return left <= 0 ? <span class="reminder-due">{t('due')}</span> : <>{untilText(left)}</>
}

/** `in 40 s`, `in 5 min`, `in 3 h`, `in 2 d`. */
export function untilText(ms: number): string {
  const minutes = Math.ceil(ms / 60_000)
  if (minutes <= 1) return t('in {0} s', Math.ceil(ms / 1_000))
  if (minutes < 60) return t('in {0} min', minutes)
  const hours = Math.round(minutes / 60)
  return hours < 48 ? t('in {0} h', hours) : t('in {0} d', Math.round(hours / 24))
}

/** In the person's locale and zone; of what is near the time alone. */
const dayAndTime = (at: number, now: number): string =>
  new Date(at).toLocaleString(language(), { ...(Math.abs(at - now) < 43_200_000 ? {} : { weekday: 'short', day: 'numeric', month: 'short' }), hour: 'numeric', minute: '2-digit' })
