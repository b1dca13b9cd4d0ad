import { useSignal, type ReadonlySignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { PageMessage, WorkflowMemberView, WorkflowRunView } from '../../extension/protocol/editor-page.ts'
import { Icon } from '../components/icon.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { language, plural, t } from '../l10n.ts'
import { formatSeconds } from '../text/format.ts'

interface Props {
  readonly post: (message: PageMessage) => void
  readonly now: ReadonlySignal<number>
}

const states = {
  queued: { icon: 'circle-outline', text: 'Waiting for a place' },
  running: { icon: 'loading', text: 'Running' },
  completed: { icon: 'pass', text: 'Completed' },
  failed: { icon: 'error', text: 'Failed' },
  cancelled: { icon: 'circle-slash', text: 'Canceled' },
  interrupted: { icon: 'debug-disconnect', text: 'Cut off' },
} as const

/**
 * One run of a workflow: what it is for, how far it came, each member by its phase, and what it said.
 *
 * Phases stand under each other and not side by side: beside the chat there is room for one column, and a run may have many of them.
 */
export function WorkflowPage({ run, post, now }: Props & { readonly run: WorkflowRunView | null }) {
  if (run === null)
    return (
      <main class="page-empty">
        <h1>{t('The session of this run is not open.')}</h1>
        <button type="button" class="button-primary" onClick={() => post({ type: 'open-session' })}>
          {t('Open session')}
        </button>
      </main>
    )
  return (
    <main class="run" data-state={run.state}>
      <RunHead run={run} post={post} now={now} />
      {run.error !== null && run.state !== 'completed' && (
        <p class={run.state === 'failed' ? 'run-error' : 'run-note'} dir="auto">
          {run.error}
        </p>
      )}
      {run.state === 'interrupted' && run.resumedBy === null && <p class="run-note">{t('The window closed while it ran. Resume asks only for what is not finished.')}</p>}
      <div class="run-body">
        <div class="run-phases">
          {run.phases.length === 0 && <p class="run-note">{t('No agent has started yet.')}</p>}
          {run.kind === 'ralph' ? (
            <ul aria-label={t('Rounds')}>
              {run.phases.flatMap(({ members }) => members.map((member) => <Member key={member.seq} member={member} post={post} now={now} />))}
            </ul>
          ) : (
            run.phases.map(({ title, members }) => <Phase key={title === null ? 'none' : `titled ${title}`} title={title} members={members} post={post} now={now} />)
          )}
        </div>
        {run.log.length > 0 && <RunLog lines={run.log} />}
      </div>
    </main>
  )
}

function RunHead({ run, post, now }: Props & { readonly run: WorkflowRunView }) {
  const { icon, text } = states[run.state]
  const elapsedMs = (run.endedAt ?? (run.state === 'running' ? now.value : null)) ?? null
  const facts = [
    t(text),
    t('{0} of {1} finished', run.finished, run.total),
    ...(run.failed > 0 ? [t('{0} failed', run.failed)] : []),
    ...(run.reused > 0 ? [t('{0} taken over', run.reused)] : []),
    ...(elapsedMs === null ? [] : [formatSeconds(elapsedMs - run.startedAt)]),
    ...(run.cost === null ? [] : [run.cost]),
  ]
  const resume = run.state === 'completed' || run.state === 'failed' ? t('Retry failed') : t('Resume')
  return (
    <header class="run-head">
      <div class="run-title">
        <span class={`run-state state-${run.state}`}>
          <Icon name={icon} spin={run.state === 'running'} />
        </span>
        <h1 dir="auto">{run.kind === 'ralph' ? 'Ralph' : run.name}</h1>
        <div class="run-buttons">
          <IconButton icon="code" label={t('Show script')} onPress={() => post({ type: 'workflow', action: 'show-script' })} />
          {run.state === 'running' && (
            <button type="button" class="button-secondary" onClick={() => post({ type: 'workflow', action: 'cancel' })}>
              {t('Cancel')}
            </button>
          )}
          {run.canResume && run.resumedBy === null && (
            <button type="button" class="button-primary" onClick={() => post({ type: 'workflow', action: 'resume' })}>
              {resume}
            </button>
          )}
        </div>
      </div>
      {run.description !== '' && (
        <p class="run-description" dir="auto">
          {run.description}
        </p>
      )}
      <p class="run-facts" role="status">
        {facts.map((fact, index) => (
          <span key={index}>{index === facts.length - 1 ? fact : `${fact} · `}</span>
        ))}
      </p>
      {run.total > 0 && (
        <div class="run-bar" role="progressbar" aria-label={t('Finished agents')} aria-valuemin={0} aria-valuemax={run.total} aria-valuenow={run.finished}>
          <svg width="100%" height="2" aria-hidden="true">
            <rect class="run-bar-done" width={`${(100 * run.finished) / run.total}%`} height="2" />
            <rect class="run-bar-failed" x={`${(100 * run.finished) / run.total}%`} width={`${(100 * run.failed) / run.total}%`} height="2" />
          </svg>
        </div>
      )}
    </header>
  )
}

function Phase({ title, members, post, now }: Props & { readonly title: string | null; readonly members: readonly WorkflowMemberView[] }) {
  const finished = members.filter(({ state }) => state === 'completed').length
  const name = title === null ? t('Without a phase') : title
  const isClean = finished === members.length
  // Open while there is something to see; it closes once when all went well, opens once when not, and is the person's after that.
  const isOpen = useSignal(!isClean)
  const wasClean = useRef(isClean)
  if (wasClean.current !== isClean) {
    wasClean.current = isClean
    isOpen.value = !isClean
  }
  return (
    <section class="phase" aria-label={name}>
      <h2>
        <button type="button" class="phase-toggle" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
          <Icon name={isOpen.value ? 'chevron-down' : 'chevron-right'} />
          <span class="phase-name" dir="auto">
            {name}
          </span>
          <span class="phase-count">{t('{0} of {1}', finished, members.length)}</span>
        </button>
      </h2>
      {isOpen.value && (
        <ul>
          {members.map((member) => (
            <Member key={member.seq} member={member} post={post} now={now} />
          ))}
        </ul>
      )}
    </section>
  )
}

function Member({ member, post, now }: Props & { readonly member: WorkflowMemberView }) {
  const { seq, label, state, startedAt, endedAt, isReused, hasResult, canOpen, files, lastLine, cost } = member
  const { icon, text } = states[state]
  const untilMs = endedAt ?? (state === 'running' ? now.value : null)
  const facts = [...(files > 0 ? [plural(files, '{0} file', '{0} files')] : []), ...(isReused ? [t('Taken over')] : untilMs === null ? [] : [formatSeconds(untilMs - startedAt)]), ...(cost === null ? [] : [cost])]
  return (
    <li class="member" data-state={state} aria-label={`${label}: ${t(text)}`}>
      <span class={`run-state state-${state}`} title={t(text)}>
        <Icon name={icon} spin={state === 'running'} />
      </span>
      <span class="member-words">
        <span class="member-label" dir="auto" title={label}>
          {label}
        </span>
        {lastLine !== null && (
          <span class="member-line" dir="auto">
            {lastLine}
          </span>
        )}
      </span>
      {facts.length > 0 && <span class="member-facts">{facts.join(' · ')}</span>}
      <span class="member-buttons">
        {files > 0 && <IconButton icon="diff-multiple" label={t('Show changes of {0}', label)} onPress={() => post({ type: 'workflow-member', seq, open: 'changes' })} />}
        {files > 0 && <IconButton icon="discard" label={t('Restore to before {0}', label)} onPress={() => post({ type: 'workflow-restore', seq })} />}
        {hasResult && <IconButton icon="output" label={t('Show result of {0}', label)} onPress={() => post({ type: 'workflow-member', seq, open: 'result' })} />}
        {canOpen && <IconButton icon="comment-discussion" label={t('Open transcript of {0}', label)} onPress={() => post({ type: 'workflow-member', seq, open: 'transcript' })} />}
      </span>
    </li>
  )
}

/** What the script said, the newest line in sight while the person does not look at older ones. */
function RunLog({ lines }: { readonly lines: WorkflowRunView['log'] }) {
  const box = useRef<HTMLOListElement>(null)
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    if (box.current !== null && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight
  }, [lines])
  return (
    <section class="run-log" aria-label={t('Log')}>
      <h2>{plural(lines.length, 'Log, {0} line', 'Log, {0} lines')}</h2>
      <ol
        ref={box}
        tabIndex={0}
        onScroll={({ currentTarget }) => (isAtEnd.current = currentTarget.scrollHeight - currentTarget.scrollTop - currentTarget.clientHeight < 8)}
      >
        {lines.map(({ at, text, isPhase }, index) => (
          <li key={index} class={isPhase ? 'log-phase' : 'log-line'} dir="auto" title={new Date(at).toLocaleTimeString(language())}>
            {text}
          </li>
        ))}
      </ol>
    </section>
  )
}
