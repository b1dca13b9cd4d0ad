import { signal, type ReadonlySignal } from '@preact/signals'
import { assertNever } from '../../extension/base/assert-never.ts'
import { withoutMarks } from '../../extension/base/marked-code.ts'
import type { HostMessage } from '../../extension/protocol/messages.ts'
import type { Row } from '../../extension/protocol/view-state.ts'
import { plural, t } from '../l10n.ts'
import { firstLine } from '../text/format.ts'
import { plainLine, toolLine } from '../text/tool-line.ts'
import type { ChatStore } from './chat-store.ts'

/** What a screen reader is told. Summaries only: an answer when it is whole, a step that failed, what waits, the end. */
export interface Announcements {
  readonly current: ReadonlySignal<string>
  /** Called with what was just applied to the store. */
  note(messages: readonly HostMessage[]): void
}

const MAX_ANSWER_CHARS = 300

/** Words for what patches changed; a snapshot says nothing, since nothing happened just now. */
export function createAnnouncements(store: ChatStore): Announcements {
  const current = signal('')
  const told = new Set<string>()
  return {
    current,
    note: (messages) => {
      const lines = messages.flatMap((message) => {
        if (message.type === 'snapshot') message.state.transcript.rows.forEach((row) => told.add(keyOf(row)))
        return message.type === 'patch' ? message.changes : []
      }).flatMap((change) => {
        if (change.change === 'row') return told.has(keyOf(change.row)) ? [] : tell(change.row)
        if (change.change !== 'state') return []
        if (change.key === 'approvals') return change.value.filter(isNew).map(({ effect }) => t('Approval needed: {0}', withoutMarks(effect)))
        if (change.key === 'questions') return change.value.filter(isNew).map(({ questions }) => t('Bosun asks: {0}', questions[0]?.question ?? ''))
        return change.key === 'notices' ? change.value.filter(isNew).map(({ text }) => text) : []
      })
      if (lines.length > 0) current.value = lines.map((line, index) => (index === lines.length - 1 || /[.!?…:]$/.test(line) ? line : `${line}.`)).join(' ')
      if (store.entries.peek().length === 0) told.clear()
    },
  }

  function isNew({ id }: { readonly id: string }): boolean {
    return !told.has(`state:${id}`) && told.add(`state:${id}`) !== undefined
  }

  function tell(row: Row): readonly string[] {
    const line = summary(row)
    if (line === null) return []
    told.add(keyOf(row))
    return [line]
  }
}

/** A row is told once in each way it ends. */
const keyOf = (row: Row): string => (row.kind === 'tool' || row.kind === 'compaction' ? `${row.id}:${row.state}` : row.id)

function summary(row: Row): string | null {
  switch (row.kind) {
    case 'text':
      return row.isStreaming ? null : t('Bosun: {0}', firstLine(row.text, MAX_ANSWER_CHARS))
    case 'tool':
      return row.state === 'failed' || row.state === 'denied' ? plainLine(toolLine(row)) : null
    case 'retry':
      return row.resumesAt === null ? null : t('Waiting to try again: {0}', row.reason)
    case 'notice':
      return row.text
    case 'command':
      return row.state === 'running' ? null : `/${row.name}: ${firstLine(row.text ?? t('done'), MAX_ANSWER_CHARS)}`
    case 'compaction':
      return row.state === 'running' ? null : row.state === 'ok' ? t('Older messages were summarized for the model') : (row.error ?? t('The conversation could not be compacted'))
    case 'turn-end':
      return row.outcome === 'completed' ? t('Bosun is done, {0}', plural(row.steps, '{0} step', '{0} steps')) : (row.message ?? t('The turn ended'))
    case 'prompt':
    case 'reasoning':
    case 'context':
    case 'round':
      return null
    default:
      return assertNever(row, 'row')
  }
}
