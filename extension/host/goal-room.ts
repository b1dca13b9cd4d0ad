import type { Undo } from '../base/undo.ts'
import { isErrorOf, isHarnessError } from '../base/harness-error.ts'
import type { Agent } from '../core/session/agent.ts'
import type { Session } from '../core/session/session.ts'
import { GoalError } from '../features/goals/error.ts'
import type { GoalRef } from '../features/goals/events.ts'
import type { GoalState } from '../features/goals/service.ts'
import { extended, isLimit } from '../features/goals/terms.ts'
import type { GoalForm, ViewMessage } from '../protocol/messages.ts'
import type { ChatState } from './chat-state.ts'
import type { GoalCommand } from './goal-commands.ts'
import { goalStatus, goalView } from './goal-view.ts'
import type { PageWords } from './page-words.ts'
import type { Sending } from './sending.ts'

type GoalAction = Extract<ViewMessage, { type: 'goal' }>['action']

interface Parts {
  readonly chat: ChatState
  readonly words: Pick<PageWords, 'say' | 'forgetHidden'>
  readonly sending: Pick<Sending, 'agentHere'>
}

/**
 * The goal of the session on screen before the person: its panel, its item in the status bar, its commands and notifications.
 *
 * One action at a time; each is about the goal as it was seen at the click, and one that has changed since is shown anew instead.
 * Source: agent tools specification 1 "VS Code mapping".
 */
export class GoalRoom {
  readonly #chat: ChatState
  readonly #words: Parts['words']
  readonly #sending: Parts['sending']
  /** Sessions whose resting goal the person was asked about. */
  readonly #asked = new Set<string>()
  /** Revisions of goals whose used-up budget the person was told of, by session. */
  readonly #toldLimits = new Map<string, string>()
  #isBusy = false

  constructor({ chat, words, sending }: Parts) {
    this.#chat = chat
    this.#words = words
    this.#sending = sending
  }

  /** Follow the goals until the undo is called. */
  attach(): Undo {
    const undo = this.#chat.services.goals.onDidChange((agent) => this.note(agent.session))
    this.refresh()
    return () => {
      undo()
      this.#chat.world.editor.setGoalStatus(null)
    }
  }

  /** Something of the goal of that session changed. */
  note(session: Session): void {
    if (session.id === this.#chat.shown?.session.id) this.refresh()
    const state = this.#read(session)
    const { blockedReason } = state?.goal ?? {}
    if (state !== null && isLimit(blockedReason?.code)) void this.#tellLimit(session, state)
  }

  refresh(): void {
    const { editor, l10n } = this.#chat.world
    const session = this.#chat.shown?.session ?? null
    const state = session === null ? null : this.#read(session)
    const view = state === null ? null : goalView(state, { nowMs: this.#chat.world.clock.now(), canCheckErrors: this.#chat.services.goals.knowsErrors })
    this.#chat.model.set('goal', view)
    editor.setGoalStatus(goalStatus(view, l10n))
    editor.setCondition('bosun.goal', view !== null)
    editor.setCondition('bosun.goal.unfinished', view !== null && view.phase !== 'complete')
    editor.setCondition('bosun.goal.active', view?.phase === 'active')
    editor.setCondition('bosun.goal.resumable', view !== null && (view.phase === 'paused' || view.phase === 'blocked' || (view.phase === 'active' && !view.isArmed)))
  }

  /** A session was opened: its goal never goes on by itself, so the person is asked, once. */
  async opened(session: Session): Promise<void> {
    const { attention, editor, l10n } = this.#chat.world
    const { t } = l10n
    const state = this.#read(session)
    if (state === null || state.goal.phase !== 'active' || state.activation === 'armed' || this.#agentOf(session) === null || this.#asked.has(session.id)) return
    this.#asked.add(session.id)
    const answer = await attention.tell({
      level: 'info',
      text: t('The goal of “{title}” waits, round {round} of {max}: {objective}', { title: this.#chat.titleOf(session), round: state.goal.roundsStarted, max: state.goal.maxGoalRounds, objective: short(state.goal.objective) }),
      actions: [{ id: 'resume', label: t('Resume') }, { id: 'pause', label: t('Keep paused') }, { id: 'open', label: t('Open') }],
    })
    if (answer === 'open') {
      await this.#chat.world.editor.showChat()
      this.#words.say({ type: 'show-goal', form: 'none' })
    } else if (answer === 'resume' || answer === 'pause') await this.#perform(answer, session, state.goal)
    if (answer === 'resume' && !this.#chat.world.workspace.isTrusted()) await editor.manageTrust()
  }

  // What the person asks for

  async run(command: GoalCommand): Promise<void> {
    switch (command) {
      case 'create':
      case 'edit':
      case 'show':
        this.#words.forgetHidden()
        await this.#chat.world.editor.showChat()
        this.#words.say({ type: 'show-goal', form: command === 'show' ? 'none' : command })
        return
      default: {
        const state = this.#chat.shown === null ? null : this.#read(this.#chat.shown.session)
        if (state === null) return this.#chat.notice('goal', 'info', this.#chat.world.l10n.t('This session has no goal.'))
        await this.act(command, state.goal)
      }
    }
  }

  async act(action: GoalAction, ref: GoalRef): Promise<void> {
    const { shown } = this.#chat
    if (shown !== null) await this.#perform(action, shown.session, ref)
  }

  async create(form: GoalForm): Promise<void> {
    await this.#alone(async () => {
      const blocked = this.#chat.blockedBy()
      if (blocked !== null) return this.#chat.notice('goal', 'warning', blocked)
      const agent = await this.#sending.agentHere()
      if (agent === null) return this.#chat.notice('goal', 'warning', this.#chat.world.l10n.t('Choose a folder to work in, then set the goal again.'))
      this.#chat.services.goals.create(agent, { objective: form.objective, ...(form.maxRounds !== null && { maxGoalRounds: form.maxRounds }), terms: termsOf(form) })
    })
  }

  async edit(ref: GoalRef, form: GoalForm): Promise<void> {
    const { goals } = this.#chat.services
    await this.#alone(() => {
      const agent = this.#chat.shown?.agent ?? null
      const state = agent === null ? null : this.#read(agent.session)
      if (agent === null || state === null) return
      const { goal } = state
      const hasNew = form.objective.trim() !== goal.objective || (form.maxRounds !== null && form.maxRounds !== goal.maxGoalRounds)
      // The terms first: they keep the revision, and are refused before anything is changed.
      const { goal: current } = goals.setTerms(agent, ref, termsOf(form))
      if (hasNew) goals.edit(agent, current, { objective: form.objective, ...(form.maxRounds !== null && { maxGoalRounds: form.maxRounds }) })
    })
  }

  async #perform(action: GoalAction, session: Session, ref: GoalRef): Promise<void> {
    await this.#alone(async () => {
      const agent = this.#agentOf(session)
      if (agent === null) return this.#chat.notice('goal', 'warning', this.#chat.blockedBy() ?? this.#chat.world.l10n.t('This session is closed. Open it again first.'))
      if (action === 'clear') return await this.#clear(agent, ref)
      if (action === 'extend') return this.#extend(agent, ref)
      this.#chat.services.goals[action](agent, ref)
    })
  }

  /** Asked about first; a round that runs is stopped with it. */
  async #clear(agent: Agent, ref: GoalRef): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    const state = this.#read(agent.session)
    const isUnfinished = state !== null && state.goal.phase !== 'complete'
    const text = isUnfinished ? t('Stop and clear this goal?') : t('Clear this goal?')
    const detail = [state === null ? '' : short(state.goal.objective), t('What was done stays. The goal cannot be brought back; a new one can be set.')].filter((line) => line !== '').join('\n\n')
    if (!(await editor.confirm({ text, detail, yes: isUnfinished ? t('Stop and Clear') : t('Clear') }))) return
    const runs = this.#chat.services.goals.isInRound(agent)
    this.#chat.services.goals.clear(agent, ref)
    if (runs) agent.cancel({ kind: 'user' }, { keepInbox: true })
  }

  /** As much again of what ran out, and on. */
  #extend(agent: Agent, ref: GoalRef): void {
    const { goals } = this.#chat.services
    const state = this.#read(agent.session)
    const code = state?.goal.blockedReason?.code
    if (state === null || !isLimit(code)) return goals.resume(agent, ref) && undefined
    const { maxTokens, maxCost, maxMinutes, checks, used } = state
    const terms = extended({ ...(maxTokens !== undefined && { maxTokens }), ...(maxCost !== undefined && { maxCost }), ...(maxMinutes !== undefined && { maxMinutes }), checks }, code, used)
    const { goal } = goals.setTerms(agent, ref, terms)
    goals.resume(agent, goal)
  }

  async #tellLimit(session: Session, { goal }: GoalState): Promise<void> {
    const { attention, l10n } = this.#chat.world
    const { t } = l10n
    const key = `${goal.id}@${goal.revision}`
    if (this.#toldLimits.get(session.id) === key || this.#agentOf(session) === null) return
    this.#toldLimits.set(session.id, key)
    const answer = await attention.tell({ level: 'warning', text: t('The goal is blocked. {reason}', { reason: goal.blockedReason?.message ?? '' }), actions: [{ id: 'extend', label: t('Extend') }, { id: 'clear', label: t('Stop') }] })
    if (answer === 'extend' || answer === 'clear') await this.#perform(answer, session, goal)
  }

  /** A second click while the first is being carried out does nothing. */
  async #alone(work: () => void | Promise<void>): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    try {
      await work()
      this.#chat.notices.close('goal')
    } catch (error) {
      if (!isHarnessError(error)) throw error
      const { t } = this.#chat.world.l10n
      const isStale = isErrorOf(GoalError, error, 'GOAL_STALE_REVISION') || isErrorOf(GoalError, error, 'GOAL_NOT_FOUND')
      this.#chat.notice('goal', 'warning', isStale ? t('The goal has changed since you saw it, so nothing was done. It is shown as it is now.') : error.message)
    } finally {
      this.#isBusy = false
      this.refresh()
    }
  }

  #agentOf(session: Session): Agent | null {
    const agent = this.#chat.services.agents.live(session.id)
    return agent !== undefined && agent.session.access === 'write' ? agent : null
  }

  /** A log that contradicts itself is said once in the chat, and shows no goal. */
  #read(session: Session): GoalState | null {
    try {
      return this.#chat.services.goals.read(session)
    } catch (error) {
      if (!isErrorOf(GoalError, error)) throw error
      this.#chat.notice('goal-log', 'error', error.message)
      return null
    }
  }
}

const termsOf = ({ maxTokens, maxCost, maxMinutes, checks }: GoalForm) => ({
  ...(maxTokens !== null && { maxTokens }),
  ...(maxCost !== null && { maxCost }),
  ...(maxMinutes !== null && { maxMinutes }),
  checks,
})

const short = (text: string): string => (text.length > 160 ? `${text.slice(0, 159)}…` : text)
