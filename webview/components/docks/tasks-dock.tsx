import type { TaskView } from '../../../extension/protocol/view-state.ts'
import { t } from '../../l10n.ts'
import { useApp } from '../app-context.ts'
import { Icon } from '../icon.tsx'

const icons = { pending: 'circle-large-outline', in_progress: 'circle-large-filled', completed: 'pass-filled' } as const
const words = { pending: 'to do', in_progress: 'in progress', completed: 'done' } as const

/** What the model set itself to do: one line, and the whole list when open. Nothing when there is none. */
export function TasksDock() {
  const { store, ui } = useApp()
  const tasks = store.state.tasks.value
  if (tasks === null || tasks.length === 0) return null
  const foldId = 'tasks'
  const isOpen = ui.isOpen(foldId) ?? false
  return (
    <section class="dock tasks" role="region" aria-label={t('Tasks')}>
      <button type="button" class="dock-line" aria-expanded={isOpen} onClick={() => ui.setOpen(foldId, !isOpen)}>
        <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
        <span class="tasks-count">{countsText(tasks)}</span>
        {!isOpen && <span class="dock-line-text" dir="auto">{activeText(tasks)}</span>}
      </button>
      {isOpen && (
        <ul class="task-list">
          {tasks.map(({ content, status }) => (
            <li key={content} class={`task task-${status}`}>
              <Icon name={icons[status]} />
              <span dir="auto">{content}</span>
              <span class="sr-only">({t(words[status])})</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

/** `2 of 4 done`, with the counts that are not zero in the title of each. */
export function countsText(tasks: readonly TaskView[]): string {
  const completed = tasks.filter(({ status }) => status === 'completed').length
  return t('{0} of {1} done', completed, tasks.length)
}

/** The first task under way, and how many more are. */
export function activeText(tasks: readonly TaskView[]): string {
  const active = tasks.filter(({ status }) => status === 'in_progress')
  const [first] = active
  if (first === undefined) return ''
  return active.length === 1 ? first.content : t('{0}, and {1} more', first.content, active.length - 1)
}
