import type { GoalView } from '../../../extension/protocol/view-state.ts'
import { BodyText } from '../../cards/body-text.tsx'
import { t } from '../../l10n.ts'
import { draftOfGoal, emptyGoalDraft } from '../../store/goal-form.ts'
import { formatDuration } from '../../text/format.ts'
import { goalMeters, goalSentence, goalStanding, type GoalMeter } from '../../text/goal-words.ts'
import { useApp } from '../app-context.ts'
import { Icon } from '../icon.tsx'
import { GoalForm } from './goal-form.tsx'

const FOLD_ID = 'goal'

/** What Bosun works towards by itself: one line, and the whole panel when open. Nothing when there is none and none is being set. */
export function GoalDock() {
  const { store, ui, actions, goalForm } = useApp()
  const goal = store.state.goal.value
  const session = store.state.session.value
  const form = goalForm.value
  const canWrite = session === null || session.access === 'write'
  if (form === 'create' && canWrite && (goal === null || goal.phase === 'complete'))
    return (
      <section class="dock goal is-open" role="region" aria-label={t('Goal')}>
        <GoalForm
          draft={emptyGoalDraft}
          canCheckErrors={goal?.canCheckErrors ?? true}
          submit={t('Set goal')}
          onSubmit={(data) => {
            actions.createGoal(data)
            goalForm.value = null
            ui.setOpen(FOLD_ID, false)
          }}
          onCancel={() => (goalForm.value = null)}
        />
      </section>
    )
  if (goal === null) return null
  const isEditing = form !== null && canWrite
  const isOpen = isEditing || (ui.isOpen(FOLD_ID) ?? false)
  return (
    <section class={`dock goal is-${stateClass(goal)}${isOpen ? ' is-open' : ''}`} role="region" aria-label={t('Goal')}>
      <div class="goal-head">
        <button type="button" class="dock-line" aria-expanded={isOpen} onClick={() => (isEditing ? (goalForm.value = null) : ui.setOpen(FOLD_ID, !isOpen))}>
          <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
          <Icon name="target" />
          <span class="goal-standing">{goalStanding(goal)}</span>
          <span class="goal-round">
            {goal.round}/{goal.maxRounds}
          </span>
          {!isOpen && (
            <span class="dock-line-text" dir="auto">
              {goal.objective}
            </span>
          )}
        </button>
        {!isOpen && canWrite && canResume(goal) && <MainButton goal={goal} isQuiet />}
      </div>
      {isEditing ? (
        <GoalForm
          key={`${goal.id}@${goal.revision}`}
          draft={draftOfGoal(goal)}
          canCheckErrors={goal.canCheckErrors}
          submit={t('Save')}
          onSubmit={(data) => {
            actions.editGoal(goal, data)
            goalForm.value = null
          }}
          onCancel={() => (goalForm.value = null)}
        />
      ) : (
        isOpen && <GoalPanel goal={goal} canWrite={canWrite} />
      )}
    </section>
  )
}

const stateClass = ({ phase, isArmed, heldBy }: GoalView): string => (phase !== 'active' ? phase : isArmed && heldBy !== 'trust' ? 'armed' : 'disarmed')

const canResume = ({ phase, isArmed }: GoalView): boolean => phase === 'paused' || phase === 'blocked' || (phase === 'active' && !isArmed)

function GoalPanel({ goal, canWrite }: { readonly goal: GoalView; readonly canWrite: boolean }) {
  const { actions, goalForm } = useApp()
  const { phase } = goal
  const sentence = goalSentence(goal)
  return (
    <div class="goal-panel">
      <div class="goal-objective" dir="auto">
        {goal.objective}
      </div>
      {sentence !== null && <p class="goal-sentence">{sentence}</p>}
      {goal.blocked !== null && (
        <p class="goal-blocked" dir="auto">
          <Icon name="error" />
          <span>{goal.blocked.message}</span>
        </p>
      )}
      <Meters goal={goal} />
      <Checks goal={goal} />
      {canWrite && (
        <div class="buttons">
          {canResume(goal) && <MainButton goal={goal} />}
          {phase === 'complete' && (
            <button type="button" class="button-primary" onClick={() => (goalForm.value = 'create')}>
              {t('New goal')}
            </button>
          )}
          {phase === 'active' && (
            <button type="button" class="button-secondary" onClick={() => actions.goal('pause', goal)}>
              {t('Pause')}
            </button>
          )}
          {phase !== 'complete' && (
            <>
              <button type="button" class="button-secondary" onClick={() => (goalForm.value = 'edit')}>
                {t('Edit')}
              </button>
              <button type="button" class="button-secondary" onClick={() => actions.goal('complete', goal)}>
                {t('Complete')}
              </button>
            </>
          )}
          <button type="button" class="link" onClick={() => actions.goal('clear', goal)}>
            {phase === 'complete' ? t('Clear') : t('Stop')}
          </button>
        </div>
      )}
    </div>
  )
}

/** The one thing to do next for a goal that stands still. */
function MainButton({ goal, isQuiet = false }: { readonly goal: GoalView; readonly isQuiet?: boolean }) {
  const { actions } = useApp()
  const isLimit = goal.blocked?.isLimit === true
  return (
    <button type="button" class={isQuiet ? 'link goal-main' : 'button-primary'} onClick={() => actions.goal(isLimit ? 'extend' : 'resume', goal)}>
      {isLimit ? t('Extend') : t('Resume')}
    </button>
  )
}

/** Time is looked at only while it goes on. */
function Meters({ goal }: { readonly goal: GoalView }) {
  return goal.used.countsSince === null ? <MeterList meters={goalMeters(goal, 0)} /> : <RunningMeters goal={goal} />
}

function RunningMeters({ goal }: { readonly goal: GoalView }) {
  const { now } = useApp()
  return <MeterList meters={goalMeters(goal, now.value)} />
}

const NEAR = 0.8

const MeterList = ({ meters }: { readonly meters: readonly GoalMeter[] }) => (
  <dl class="goal-meters">
    {meters.map(({ name, words, share }) => (
      <div key={name} class={share !== null && share >= NEAR ? 'goal-meter is-near' : 'goal-meter'}>
        <dt>{name}</dt>
        <dd>{words}</dd>
        {share !== null && (
          <span class="goal-bar" aria-hidden="true">
            <span style={{ width: `${Math.min(100, Math.round(share * 100))}%` }} />
          </span>
        )}
      </div>
    ))}
  </dl>
)

/** The checks, with what became of each when they were run last. */
function Checks({ goal: { checks, results } }: { readonly goal: GoalView }) {
  const { ui } = useApp()
  if (checks.length === 0) return null
  return (
    <ul class="goal-checks" aria-label={t('Checks')}>
      {checks.map((check) => {
        const result = results?.find((one) => one.check === check)
        const foldId = `goal-check ${check}`
        const isOpen = ui.isOpen(foldId) ?? false
        const hasOutput = result !== undefined && result.output !== ''
        const outcome = result?.outcome ?? t('not run yet')
        const hint = result === undefined ? outcome : `${outcome} · ${formatDuration(result.durationMs)}`
        const line = (
          <>
            <Icon name={result === undefined ? 'circle-large-outline' : result.isOk ? 'pass-filled' : 'error'} />
            <span class="goal-check-name" dir="ltr">
              {check === 'no-new-errors' ? t('No new errors in the editor') : <code>{check}</code>}
            </span>
            {/* The icon says it; words stand there for what did not pass, and for those who hear the page. */}
            <span class={result?.isOk === false ? 'goal-check-outcome' : 'sr-only'}>{outcome}</span>
          </>
        )
        return (
          <li key={check} title={`${check}\n${hint}`} class={result === undefined ? '' : result.isOk ? 'is-ok' : 'is-bad'}>
            {hasOutput ? (
              <button type="button" class="goal-check" aria-expanded={isOpen} onClick={() => ui.setOpen(foldId, !isOpen)}>
                {line}
              </button>
            ) : (
              <div class="goal-check">{line}</div>
            )}
            {hasOutput && isOpen && <BodyText text={result.output} label={t('Output of {0}', check)} />}
          </li>
        )
      })}
    </ul>
  )
}
