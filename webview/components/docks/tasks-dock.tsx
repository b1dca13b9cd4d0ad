import type { TaskView } from '../../../extension/protocol/view-state.ts'
import { plural, t } from '../../l10n.ts'
import { useApp } from '../app-context.ts'
import { Icon } from '../icon.tsx'
import { IconButton } from '../icon-button.tsx'
import { TaskList } from './task-list.tsx'

/** What is to be done, shared with the model: one line, and the whole list when open. Nothing when there is none. */
export function TasksDock() {
  const { store, ui, actions } = useApp()
  const tasks = store.state.tasks.value ?? []
  const dropped = store.state.droppedTasks.value
  if (tasks.length === 0 && dropped.length === 0) return null
  const foldId = 'tasks'
  const isOpen = ui.isOpen(foldId) ?? false
  const canEdit = store.state.session.value?.access === 'write'
  return (
    <section class="dock tasks" role="region" aria-label={t('Tasks')}>
      <div class="tasks-head">
        <button type="button" class="dock-line" aria-expanded={isOpen} title={statusText(tasks)} onClick={() => ui.setOpen(foldId, !isOpen)}>
          <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
          <span class="tasks-count">{countsText(tasks)}</span>
          {!isOpen && (
            <span class="dock-line-text" dir="auto">
              {activeText(tasks)}
            </span>
          )}
        </button>
        {isOpen && <IconButton icon="history" label={t('Show what became of the tasks')} onPress={() => actions.showTaskHistory()} />}
        {isOpen && canEdit && <IconButton icon="close" label={t('Dismiss the list')} onPress={() => actions.editTasks({ do: 'dismiss' })} />}
      </div>
      {isOpen && <TaskList tasks={tasks} canEdit={canEdit} />}
      {dropped.length > 0 && <DroppedTasks dropped={dropped} canEdit={canEdit} />}
    </section>
  )
}

/** A quiet word about what the model left out before it was done. */
function DroppedTasks({ dropped, canEdit }: { readonly dropped: readonly { readonly id: string; readonly content: string }[]; readonly canEdit: boolean }) {
  const { actions } = useApp()
  const [first] = dropped
  if (first === undefined) return null
  return (
    <div class="tasks-dropped">
      <Icon name="info" />
      <span class="dock-line-text" dir="auto" title={dropped.map(({ content }) => content).join('\n')}>
        {dropped.length === 1 ? t('Bosun left out: {0}', first.content) : plural(dropped.length, 'Bosun left out {0} task', 'Bosun left out {0} tasks')}
      </span>
      {canEdit && (
        <>
          <button type="button" class="link" onClick={() => dropped.forEach(({ id }) => actions.editTasks({ do: 'take-back', id }))}>
            {t('Take back')}
          </button>
          <button type="button" class="link" onClick={() => actions.editTasks({ do: 'let-go' })}>
            {t('Let go')}
          </button>
        </>
      )}
    </div>
  )
}

/** `2 of 4`. */
function countsText(tasks: readonly TaskView[]): string {
  const completed = tasks.filter(({ status }) => status === 'completed').length
  return t('{0} of {1}', completed, tasks.length)
}

/** The counts that are not zero, in words. */
export function statusText(tasks: readonly TaskView[]): string {
  const count = (status: TaskView['status']) => tasks.filter((task) => task.status === status).length
  const [done, active, open] = [count('completed'), count('in_progress'), count('pending')]
  return [...(done > 0 ? [t('{0} done', done)] : []), ...(active > 0 ? [t('{0} in progress', active)] : []), ...(open > 0 ? [t('{0} to do', open)] : [])].join(', ')
}

/** The first task under way, else the first that is open, and how many more are under way. */
function activeText(tasks: readonly TaskView[]): string {
  const active = tasks.filter(({ status }) => status === 'in_progress')
  const [first] = active
  if (first === undefined) return tasks.find(({ status }) => status === 'pending')?.content ?? ''
  return active.length === 1 ? first.content : t('{0}, and {1} more', first.content, active.length - 1)
}
