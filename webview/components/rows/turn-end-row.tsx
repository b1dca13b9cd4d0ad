import type { TurnEndRow } from '../../../extension/protocol/view-state.ts'
import { formatNumber, language, plural, t } from '../../l10n.ts'
import type { RowEntry } from '../../store/chat-store.ts'
import { formatDuration, formatSeconds, formatShare, formatTokens } from '../../text/format.ts'
import { useApp } from '../app-context.ts'
import { FileLink } from '../file-link.tsx'
import { Icon } from '../icon.tsx'
import { IconButton } from '../icon-button.tsx'

const outcomes = {
  completed: { icon: 'check', tone: 'quiet', text: '' },
  stopped: { icon: 'debug-stop', tone: 'quiet', text: 'You stopped it.' },
  blocked: { icon: 'circle-slash', tone: 'quiet', text: 'It could not go on.' },
  failed: { icon: 'error', tone: 'bad', text: 'The turn failed.' },
  'max-tokens': { icon: 'warning', tone: 'warn', text: 'The answer reached the length that the model allows.' },
  interrupted: { icon: 'warning', tone: 'warn', text: 'The turn was interrupted.' },
  paused: { icon: 'debug-pause', tone: 'warn', text: 'Bosun paused.' },
} as const

const FILES_SHOWN = 6

/** The end of a turn: how it ended and what can be done next, what changed, what it took. */
export function TurnEndRowView({ entry }: { readonly entry: RowEntry }) {
  const row = entry.row.value as TurnEndRow
  const { icon, tone, text } = outcomes[row.outcome]
  const message = row.message ?? (text === '' ? '' : t(text))
  return (
    <article class="turn-end" aria-label={message === '' ? t('End of the turn') : message}>
      {message !== '' && (
        <div class={`ending tone-${tone}`}>
          <Icon name={icon} />
          <span class="ending-text" dir="auto">
            {message}
          </span>
          <MayGoOn row={row} />
          <NextStep row={row} />
        </div>
      )}
      {row.changedFiles.length > 0 && <ChangedFiles row={row} />}
      {/* A turn that was held up before its first step has nothing to sum up. */}
      {row.steps > 0 && <TurnFoot row={row} />}
    </article>
  )
}

/** When the provider lets requests through again, counted down. */
function MayGoOn({ row }: { readonly row: TurnEndRow }) {
  const { store, now } = useApp()
  if (row.resumesAt === null || store.entries.value.at(-1)?.id !== row.id) return null
  const left = row.resumesAt - now.value
  const at = new Date(row.resumesAt).toLocaleTimeString(language(), { hour: 'numeric', minute: '2-digit' })
  return <span class="may-go-on">{left <= 0 ? t('It may go on now.') : t('It may go on at {0}, in {1}.', at, formatSeconds(left))}</span>
}

function NextStep({ row }: { readonly row: TurnEndRow }) {
  const { store, actions } = useApp()
  const isLast = store.entries.value.at(-1)?.id === row.id
  if (row.next === 'none' || !isLast || store.state.session.value?.access !== 'write') return null
  return row.next === 'continue' ? (
    <button type="button" class="button-primary" onClick={actions.continueTurn}>
      {t('Continue')}
    </button>
  ) : (
    <span class="buttons">
      <button type="button" class="button-primary" onClick={actions.retry}>
        {t('Retry')}
      </button>
      <button type="button" class="link" onClick={actions.pickModel}>
        {t('Choose another model')}
      </button>
    </span>
  )
}

function ChangedFiles({ row }: { readonly row: TurnEndRow }) {
  const { actions, store } = useApp()
  const shown = row.changedFiles.slice(0, FILES_SHOWN)
  const cwd = store.state.session.value?.cwd ?? ''
  const state = store.state.review.value?.turns.find(({ turn }) => turn === row.turn)?.state
  return (
    <div class="changed">
      <div class="changed-head">
        <span>{plural(row.changedFiles.length, '{0} file changed', '{0} files changed')}</span>
        <span class="changed-actions">
          <button type="button" class="link" onClick={() => actions.reviewTurn(row.turn)}>
            {t('Review')}
          </button>
          {state === 'pending' && (
            <>
              <button type="button" class="link" onClick={() => actions.keepTurn(row.turn)}>
                {t('Keep')}
              </button>
              <button type="button" class="link" onClick={() => actions.undoTurn(row.turn)}>
                {t('Undo turn')}
              </button>
            </>
          )}
          {state === 'kept' && <span class="changed-state">{t('Kept')}</span>}
          {state === 'undone' && <span class="changed-state">{t('Undone')}</span>}
        </span>
      </div>
      <ul>
        {shown.map(({ path, added, removed }) => (
          <li key={path}>
            <FileLink location={{ path }} text={shortPath(path, cwd)} onOpen={() => actions.reviewTurn(row.turn, path)} />
            {added > 0 && <span class="outcome outcome-added">+{formatNumber(added)}</span>}
            {removed > 0 && <span class="outcome outcome-removed">−{formatNumber(removed)}</span>}
          </li>
        ))}
      </ul>
      {row.changedFiles.length > shown.length && <div class="body-more">{plural(row.changedFiles.length - shown.length, '{0} more file', '{0} more files')}</div>}
    </div>
  )
}

/** As tools spell it. */
const shortPath = (path: string, cwd: string) => (cwd !== '' && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path)

function TurnFoot({ row }: { readonly row: TurnEndRow }) {
  const { actions, ui, store } = useApp()
  const { inputTokens, cacheRead, outputTokens, reasoning } = row.usage
  const read = inputTokens + cacheRead
  const tokens = read + outputTokens + reasoning
  const foldId = `turn:${row.turn}`
  const detailId = `usage:${row.turn}`
  const isLastTurn = store.entries.value.at(-1)?.turn === row.turn
  const isOpen = ui.isOpen(foldId) ?? isLastTurn
  const isDetailed = ui.isOpen(detailId) ?? false
  const cached = read === 0 ? null : t('{0} from the cache', formatShare(cacheRead, read))
  const facts = [
    t('{0} tokens: {1} read ({2} from the cache), {3} written', formatNumber(tokens), formatNumber(read), formatShare(cacheRead, read), formatNumber(outputTokens + reasoning)),
    ...(row.cost === null ? [] : [t('Cost: {0}', row.cost)]),
  ]
  const lines = [...facts, ...row.cacheMisses]
  return (
    <>
      <div class="turn-foot">
        <button type="button" class="turn-fact" aria-expanded={isOpen} title={isOpen ? t('Fold the steps of this turn') : t('Show the steps of this turn')} onClick={() => ui.setOpen(foldId, !isOpen)}>
          {plural(row.steps, '{0} step', '{0} steps')}
        </button>
        <span>{formatDuration(row.durationMs)}</span>
        {tokens > 0 && (
          <button type="button" class="turn-fact" aria-expanded={isDetailed} title={lines.join('\n')} onClick={() => ui.setOpen(detailId, !isDetailed)}>
            {t('{0} tokens', formatTokens(tokens))}
            {cached !== null && <span class="turn-cached">{`, ${cached}`}</span>}
            {row.cacheMisses.length > 0 && <Icon name="info" />}
            {row.cacheMisses.length > 0 && <span class="sr-only"> {t('The cache was missed.')}</span>}
          </button>
        )}
        <IconButton class="turn-fork" icon="repo-forked" label={t('Fork from here')} onPress={() => actions.forkSession(row.id)} />
      </div>
      {isDetailed && tokens > 0 && (
        <ul class="turn-detail">
          {facts.map((line) => (
            <li key={line}>{line}</li>
          ))}
          {row.cacheMisses.map((line, index) => (
            <li key={`miss ${index}`}>
              <Icon name="info" />
              {line}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
