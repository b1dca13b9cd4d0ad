import { Emitter } from '../base/emitter.ts'
import { formatDollars } from '../base/money.ts'
import type { Undo } from '../base/undo.ts'
import type { MemberFacts, RunFacts } from '../features/workflow/projection.ts'
import type { PageKey, PageMessage, WorkflowMemberView, WorkflowRunView, WorkflowState } from '../protocol/editor-page.ts'
import type { WorkflowCardView } from '../protocol/view-state.ts'
import { restoreBeforeAgent, showAgentChanges } from './agent-changes.ts'
import type { ChatState } from './chat-state.ts'
import { keptNames } from './kept-names.ts'
import type { PageSource } from './page-feed.ts'

/** Runs of workflows as cards and pages show them: folds of the log, with what is known of members that are at work. */
export class WorkflowRoom {
  readonly #chat: ChatState
  readonly #open: (sessionId: string) => Promise<unknown>
  readonly #changes: Emitter<void>
  readonly #undos: readonly Undo[]

  constructor(chat: ChatState, open: (sessionId: string) => Promise<unknown>) {
    this.#chat = chat
    this.#open = open
    this.#changes = new Emitter((error) => chat.logError(error))
    const { projections, subagents, workflows, costs } = chat.services
    const changed = () => this.#changes.emit()
    this.#undos = [
      projections.onDidChange(({ key, sessionId }) => {
        if (key !== 'workflows') return
        changed()
        if (sessionId === chat.shown?.session.id) this.refresh()
      }),
      workflows.onDidChange(() => {
        changed()
        this.refresh()
      }),
      subagents.onDidChange(changed),
      costs.onDidChange(changed),
    ]
  }

  dispose(): void {
    for (const undo of this.#undos) undo()
  }

  /** The cards of the session on screen. */
  refresh(): void {
    const sessionId = this.#chat.shown?.session.id
    const runs = sessionId === undefined ? [] : this.#runs(sessionId)
    this.#chat.model.set('workflows', runs.flatMap((run) => (run.callId === undefined ? [] : [this.#card(run.callId, newest(runs, run))])))
  }

  openRun(runId: string): void {
    const sessionId = this.#chat.shown?.session.id
    if (sessionId === undefined) return
    const run = this.#runs(sessionId).find((one) => one.runId === runId)
    if (run !== undefined) this.#chat.world.pages.open({ kind: 'workflow', sessionId, id: runId }, this.#chat.world.l10n.t('Run: {name}', { name: run.name }))
  }

  source({ sessionId, id }: PageKey): PageSource {
    // Where a person resumed it, the page shows the run that goes on.
    const current = () => {
      const runs = this.#runs(sessionId)
      const run = runs.find(({ runId }) => runId === id)
      return run === undefined ? id : newest(runs, run).runId
    }
    return {
      view: () => ({ kind: 'workflow', run: this.#view(sessionId, current()) }),
      onDidChange: (listener) => this.#changes.listen(listener),
      handle: (message) => this.#handle(message, sessionId, current()),
    }
  }

  async #handle(message: Parameters<PageSource['handle']>[0], sessionId: string, runId: string): Promise<void> {
    const { services, world } = this.#chat
    const agent = services.agents.live(sessionId)
    if (message.type === 'open-session' || agent === undefined) {
      await this.#open(sessionId)
      return
    }
    if (message.type === 'workflow-member') {
      await this.#openMember(message, sessionId, runId)
      return
    }
    if (message.type === 'workflow-restore') {
      const member = this.#memberOf(sessionId, runId, message.seq)
      if (member !== undefined) await restoreBeforeAgent(this.#chat, { id: member.childId, label: member.label })
      return
    }
    if (message.type !== 'workflow') return
    if (message.action === 'cancel') {
      services.workflows.cancel(runId, 'The person cancelled it.')
      return
    }
    if (message.action === 'resume') {
      services.workflows.resume(agent, runId)
      return
    }
    const script = services.workflows.scriptOf(agent, runId)
    if (script !== undefined) await world.editor.openText({ name: keptNames.workflow(sessionId, runId, 'script', 'workflow.js'), text: script, language: 'javascript' })
  }

  async #openMember({ seq, open }: Extract<PageMessage, { type: 'workflow-member' }>, sessionId: string, runId: string): Promise<void> {
    const { editor } = this.#chat.world
    const member = this.#memberOf(sessionId, runId, seq)
    if (member === undefined) return
    if (open === 'changes') return showAgentChanges(this.#chat, { id: member.childId, label: member.label })
    if (open === 'transcript') return void (await this.#open(member.childId))
    const text = this.resultText(sessionId, runId, seq)
    if (text === null) return
    await editor.openText({ name: keptNames.workflow(sessionId, runId, String(seq), `${member.label.replaceAll(/[^\p{L}\p{N} ._-]/gu, '').trim() || `agent-${seq}`}.txt`), text })
  }

  #memberOf(sessionId: string, runId: string, seq: number): MemberFacts | undefined {
    return this.#runs(sessionId).find((run) => run.runId === runId)?.members.find((one) => one.seq === seq)
  }

  /** Also for an editor that outlived the window. */
  resultText(sessionId: string, runId: string, what: number | 'script'): string | null {
    const { agents, workflows } = this.#chat.services
    const agent = agents.live(sessionId)
    if (agent === undefined) return null
    return (what === 'script' ? workflows.scriptOf(agent, runId) : workflows.resultOf(agent, runId, what)) ?? null
  }

  #runs(sessionId: string): readonly RunFacts[] {
    return (this.#chat.services.projections.snapshot(sessionId).values['workflows'] ?? []) as readonly RunFacts[]
  }

  #stateOf({ runId, stopReason }: RunFacts): WorkflowState {
    if (stopReason !== undefined) return stopReason === 'error' ? 'failed' : stopReason
    return this.#chat.services.workflows.isRunning(runId) ? 'running' : 'interrupted'
  }

  #card(callId: string, run: RunFacts): WorkflowCardView {
    const phase = run.members.findLast((member) => member.phase !== undefined)?.phase
    return {
      callId,
      runId: run.runId,
      state: this.#stateOf(run),
      total: run.members.length,
      finished: run.members.filter(({ outcome }) => outcome !== undefined).length,
      failed: run.members.filter(({ outcome }) => outcome === 'failed').length,
      phase: phase ?? null,
      isResumed: run.callId !== callId,
    }
  }

  #view(sessionId: string, runId: string): WorkflowRunView | null {
    if (this.#chat.services.agents.live(sessionId) === undefined) return null
    const runs = this.#runs(sessionId)
    const run = runs.find((one) => one.runId === runId)
    if (run === undefined) return null
    const state = this.#stateOf(run)
    // Who started first is chance; the script asked for them in this order.
    const asked = run.members.toSorted((a, b) => a.seq - b.seq)
    const members = asked.map((member) => this.#member(member, state))
    const titles = [...new Set(run.members.map(({ phase }) => phase))]
    const known = new Map(members.map((member) => [member.seq, member]))
    const amounts = run.members.flatMap(({ childId, isReused }) => (isReused ? [] : [this.#amountOf(childId)]))
    const failed = run.members.filter(({ outcome }) => outcome === 'failed').length
    return {
      runId,
      name: run.name,
      kind: run.kind,
      description: run.description,
      state,
      error: run.error ?? null,
      startedAt: run.startedAt,
      endedAt: run.endedAt ?? null,
      phases: titles.map((title) => ({ title: title ?? null, members: asked.flatMap(({ seq, phase }) => (phase === title ? [known.get(seq)!] : [])) })),
      log: run.log.map(({ at, text, isPhase = false }) => ({ at, text, isPhase })),
      total: members.length,
      finished: run.members.filter(({ outcome }) => outcome === 'completed').length,
      failed,
      reused: run.members.filter(({ isReused }) => isReused).length,
      cost: amounts.some((amount) => amount !== null) ? formatDollars(amounts.reduce<number>((sum, amount) => sum + (amount ?? 0), 0)) : null,
      canResume: state !== 'running' && (state !== 'completed' || failed > 0),
      resumedBy: runs.find(({ resumedFrom }) => resumedFrom === runId)?.runId ?? null,
    }
  }

  #member(member: MemberFacts, run: WorkflowState): WorkflowMemberView {
    const { seq, label, childId, startedAt, endedAt, outcome, isReused = false, hasResult = false, files = 0 } = member
    const live = this.#chat.services.subagents.facts(childId)
    const amount = this.#amountOf(childId)
    return {
      seq,
      label,
      state: outcome ?? (run !== 'running' ? 'interrupted' : live?.status === 'queued' ? 'queued' : 'running'),
      startedAt,
      endedAt: endedAt ?? null,
      isReused,
      hasResult,
      canOpen: childId !== '',
      files: childId === '' ? 0 : files,
      lastLine: outcome === undefined && run === 'running' ? (live?.lastLine ?? null) : null,
      cost: amount === null || isReused ? null : formatDollars(amount),
    }
  }

  #amountOf(childId: string): number | null {
    const cost = this.#chat.services.costs.ownCost(childId)
    return cost === undefined || cost.total.amount === 0 ? null : cost.total.amount
  }
}

/** The run that went on last from `run`. */
function newest(runs: readonly RunFacts[], run: RunFacts): RunFacts {
  let last = run
  for (const one of runs) if (one.resumedFrom === last.runId && one.callId === undefined) last = one
  return last
}
