import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { TaskView } from '../../../extension/protocol/view-state.ts'
import { plural, t } from '../../l10n.ts'
import { placeAfterMove } from '../../store/task-order.ts'
import { useApp } from '../app-context.ts'
import { isComposing } from '../form-keys.ts'
import { Icon } from '../icon.tsx'
import { IconButton } from '../icon-button.tsx'
import { LinkedText } from '../linked-text.tsx'

const icons = { pending: 'circle-large-outline', in_progress: 'circle-large-filled', completed: 'pass-filled' } as const
const words = { pending: 'to do', in_progress: 'in progress', completed: 'done' } as const

/**
 * The tasks, one row each, the marks of which are one stop of the Tab key: arrows go through them, Space ticks, Alt with an arrow moves,
 * Delete removes, F2 writes a note. Rows can be dragged too.
 */
export function TaskList({ tasks, canEdit }: { readonly tasks: readonly TaskView[]; readonly canEdit: boolean }) {
  const { actions } = useApp()
  const current = useSignal<string | null>(null)
  const noting = useSignal<string | null>(null)
  const dragged = useSignal<string | null>(null)
  const list = useRef<HTMLUListElement>(null)
  const wanted = useRef<string | null>(null)
  const stop = tasks.some(({ id }) => id === current.value) ? current.value : (tasks[0]?.id ?? null)
  useLayoutEffect(() => {
    // A row that moved, or the neighbour of one that went, has the focus again.
    if (wanted.current === null) return
    list.current?.querySelector<HTMLElement>(`[data-task="${CSS.escape(wanted.current)}"] .task-mark`)?.focus()
    wanted.current = null
  }, [tasks])
  const focus = (id: string | undefined) => {
    if (id === undefined) return
    current.value = id
    list.current?.querySelector<HTMLElement>(`[data-task="${CSS.escape(id)}"] .task-mark`)?.focus()
  }
  const move = (id: string, before: string | null) => {
    wanted.current = id
    current.value = id
    actions.editTasks({ do: 'move', id, before })
  }
  const press = (event: KeyboardEvent, index: number) => {
    const task = tasks[index]
    if (task === undefined || event.ctrlKey || event.metaKey) return
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      if (!event.altKey) return focus(tasks[index + step]?.id)
      const before = canEdit ? placeAfterMove(tasks, index, step) : undefined
      if (before !== undefined) move(task.id, before)
      return
    }
    if (!canEdit || event.altKey) return
    if (event.key === 'Delete' || event.key === 'Backspace') {
      event.preventDefault()
      wanted.current = (tasks[index + 1] ?? tasks[index - 1])?.id ?? null
      current.value = wanted.current
      actions.editTasks({ do: 'remove', id: task.id })
    } else if (event.key === 'F2') {
      event.preventDefault()
      noting.value = task.id
    }
  }
  return (
    <>
      <ul class="task-list" ref={list}>
        {tasks.map((task, index) => (
          <li
            key={task.id}
            data-task={task.id}
            class={`task task-${task.status}${dragged.value === task.id ? ' is-dragged' : ''}`}
            draggable={canEdit && noting.value !== task.id}
            onDragStart={(event) => {
              dragged.value = task.id
              event.dataTransfer?.setData('text/plain', task.content)
            }}
            onDragEnd={() => (dragged.value = null)}
            onDragOver={(event) => {
              if (dragged.value !== null) event.preventDefault()
            }}
            onDrop={(event) => {
              const id = dragged.value
              if (id === null || id === task.id) return
              event.preventDefault()
              const { top, height } = event.currentTarget.getBoundingClientRect()
              const before = event.clientY < top + height / 2 ? task.id : (tasks[index + 1]?.id ?? null)
              if (before !== id) move(id, before)
            }}
          >
            <button
              type="button"
              class="task-mark"
              role="checkbox"
              aria-checked={task.status === 'completed' ? 'true' : task.status === 'in_progress' ? 'mixed' : 'false'}
              aria-label={`${task.content} (${t(words[task.status])})`}
              aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown Delete F2"
              aria-disabled={!canEdit}
              tabIndex={task.id === stop ? 0 : -1}
              onFocus={() => (current.value = task.id)}
              onKeyDown={(event) => press(event, index)}
              onClick={() => {
                if (canEdit) actions.editTasks({ do: 'tick', id: task.id, isDone: task.status !== 'completed' })
              }}
            >
              <Icon name={icons[task.status]} />
            </button>
            <div class="task-words">
              <span class="task-content" dir="auto">
                <LinkedText text={task.content} />
              </span>
              {task.changes !== undefined && (
                <button type="button" class="link task-changes" title={t('Review what changed while it was worked on')} onClick={() => actions.reviewTurn(task.changes!.turn)}>
                  {plural(task.changes.files, '{0} file', '{0} files')}
                </button>
              )}
              {noting.value === task.id ? (
                <LineForm
                  label={t('Note to {0}', task.content)}
                  value={task.note ?? ''}
                  onDone={(note) => {
                    noting.value = null
                    wanted.current = task.id
                    if (note !== null && note !== (task.note ?? '')) actions.editTasks({ do: 'note', id: task.id, note })
                    else focus(task.id)
                  }}
                />
              ) : (
                task.note !== undefined && (
                  <div class="task-note" dir="auto">
                    <LinkedText text={task.note} />
                  </div>
                )
              )}
            </div>
            {canEdit && (
              <span class="task-actions">
                <IconButton icon="note" label={t('Write a note')} onPress={() => (noting.value = task.id)} />
                <IconButton icon="close" label={t('Remove the task')} onPress={() => actions.editTasks({ do: 'remove', id: task.id })} />
              </span>
            )}
          </li>
        ))}
      </ul>
      {canEdit && <AddTask />}
    </>
  )
}

function AddTask() {
  const { actions } = useApp()
  const text = useSignal('')
  return (
    <input
      class="input task-add"
      dir="auto"
      value={text.value}
      maxLength={2_000}
      aria-label={t('Add a task')}
      placeholder={t('Add a task')}
      onInput={({ currentTarget }) => (text.value = currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || isComposing(event) || text.value.trim() === '') return
        event.preventDefault()
        actions.editTasks({ do: 'add', content: text.value })
        text.value = ''
      }}
    />
  )
}

/** One line to write; Enter keeps it, Escape does not. Null: it stays as it was. */
function LineForm({ label, value, onDone }: { readonly label: string; readonly value: string; readonly onDone: (text: string | null) => void }) {
  const box = useRef<HTMLInputElement>(null)
  const isDone = useRef(false)
  useLayoutEffect(() => box.current?.focus(), [])
  const end = (text: string | null) => {
    if (isDone.current) return
    isDone.current = true
    onDone(text)
  }
  return (
    <input
      ref={box}
      class="input task-note-form"
      dir="auto"
      defaultValue={value}
      maxLength={2_000}
      aria-label={label}
      placeholder={t('Write a note')}
      onKeyDown={(event) => {
        if (isComposing(event)) return
        if (event.key === 'Enter') end(event.currentTarget.value)
        else if (event.key === 'Escape') {
          event.stopPropagation()
          end(null)
        }
      }}
      onBlur={(event) => end(event.currentTarget.value)}
    />
  )
}
