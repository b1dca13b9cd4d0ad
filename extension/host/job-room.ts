import type { Undo } from '../base/undo.ts'
import { plainOutput } from '../base/plain-output.ts'
import { settings as specs } from '../core/settings/specs.ts'
import type { Job } from '../features/jobs/service.ts'
import type { TerminalResultView } from '../protocol/cards.ts'
import type { ViewMessage } from '../protocol/messages.ts'
import type { ToolRow } from '../protocol/view-state.ts'
import type { ChatState } from './chat-state.ts'
import type { JobCommand } from './job-commands.ts'
import { JobMarks } from './job-marks.ts'
import { JobPorts } from './job-ports.ts'
import { JobTabs } from './job-tabs.ts'
import { jobOfNode, jobTree, SHOWN_LINES, type TreeJob } from './job-tree.ts'
import { callEndWords, commandsView, endWords, isLive } from './job-words.ts'

/** Output comes often; a tree that is drawn anew more often than this cannot be read. */
const OUTPUT_PAUSE_MS = 500
/** Ages are told in minutes. */
const AGE_MS = 30_000
/** Of the end of a job's output; in UTF-16 units. */
const TAIL_CHARS = 4_000

type OwnedJob = ReturnType<ChatState['services']['jobs']['all']>[number]

/** Commands in the background before the person: the tree of jobs, the tabs of their output, their ports and problems, and what the cards of the chat know of them. */
export class JobRoom {
  readonly #chat: ChatState
  readonly #tabs: JobTabs
  readonly #ports: JobPorts
  readonly #marks: JobMarks
  /** The end of what each job showed, by id. */
  readonly #tails = new Map<string, string>()
  readonly #conditions = new Set<string>()
  #cancelOutput: Undo | null = null
  #cancelAge: Undo | null = null

  constructor(chat: ChatState) {
    const { terminalViews, problemMarks, attention, editor, l10n } = chat.world
    this.#chat = chat
    this.#tabs = new JobTabs({ terminalViews, l10n })
    this.#marks = new JobMarks({ jobs: chat.services.jobs, problemMarks, isOn: () => chat.services.settings.get(specs.jobsProblems) })
    this.#ports = new JobPorts({
      attention,
      editor,
      l10n,
      policy: () => chat.services.settings.get(specs.jobsPorts),
      isSeen: () => editor.isChatVisible() || chat.world.jobTree.isVisible(),
      onError: (error) => chat.logError(error),
    })
  }

  /** Follow the jobs until the undo is called. */
  attach(): Undo {
    const { jobs, settings } = this.#chat.services
    const undos = [
      jobs.onDidChange(() => this.refresh()),
      jobs.commands.onDidChange(() => this.#refreshCards()),
      jobs.onDidOutput(({ id, text }) => this.#heard(id, text)),
      jobs.onDidChangeProblems((id) => this.#marks.refresh(id)),
      settings.onDidChange(() => this.#settingsChanged()),
      this.#chat.world.jobTree.onDidChangeVisible(() => this.refresh()),
    ]
    this.refresh()
    return () => {
      for (const undo of undos) undo()
      this.#cancelOutput?.()
      this.#cancelAge?.()
      this.#tabs.dispose()
      this.#marks.dispose()
      this.#chat.world.jobTree.show({ nodes: [] })
    }
  }

  refresh(): void {
    const jobs = this.#chat.services.jobs.all()
    this.#forgetGone(jobs)
    this.#ports.note(jobs)
    this.#marks.note(jobs)
    for (const job of jobs) if (!isLive(job)) this.#tabs.end(job.id, endWords(job, this.#chat.world.l10n))
    this.#drawTree(jobs)
    this.#refreshCards()
    this.#refreshConditions(jobs)
    this.#chat.refresh.session()
  }

  /** How many run, for whoever counts them. */
  liveCount(): number {
    return this.#chat.services.jobs.all().filter(isLive).length
  }

  async focus(): Promise<void> {
    await this.#chat.world.jobTree.focus()
  }

  // What the person asks for

  /** A command of a menu, with the node that it was opened on, or of the palette, which asks for the job. */
  async run(command: JobCommand, nodeId: string | null): Promise<void> {
    if (command === 'forget-ended') return this.#forgetEnded()
    const node = nodeId === null ? null : jobOfNode(nodeId)
    const job = node === null ? await this.#pick(command) : (this.#chat.services.jobs.all().find(({ id }) => id === node.jobId) ?? null)
    if (job === null) return
    switch (command) {
      case 'show-output':
        return this.showOutput(job.id)
      case 'open-port':
      case 'copy-address':
        return await this.#withPort(job, node?.port ?? null, command)
      case 'show-problems':
        return await this.#chat.world.editor.showProblems()
      case 'send-input':
        return await this.#sendInput(job)
      case 'wake-when':
        return await this.#wakeWhen(job)
      case 'pin':
      case 'unpin':
        this.#chat.services.jobs.pin('person', job.id, command === 'pin')
        return
      case 'restart':
        return await this.restart(job.id)
      case 'kill':
        this.kill(job.id)
        return
      case 'forget':
        this.#chat.services.jobs.forget('person', job.id)
    }
  }

  /** What is pinned stays. */
  #forgetEnded(): void {
    const { jobs } = this.#chat.services
    for (const job of jobs.all()) if (!isLive(job) && job.isPinned !== true) jobs.forget('person', job.id)
  }

  showOutput(jobId: string): void {
    const { jobs } = this.#chat.services
    const job = jobs.all().find(({ id }) => id === jobId)
    if (job === undefined) return
    this.#tabs.show(jobId, () => ({ title: job.label, ...jobs.transcript(jobId), end: isLive(job) ? null : endWords(job, this.#chat.world.l10n) }))
  }

  kill(jobId: string): void {
    this.#chat.services.jobs.kill('person', jobId)
  }

  /** An open tab of the old one makes room for the new one's. */
  async restart(jobId: string): Promise<void> {
    const wasOpen = this.#tabs.isOpen(jobId)
    const { id } = await this.#chat.services.jobs.restart('person', jobId)
    if (!wasOpen) return
    this.#tabs.close(jobId)
    this.showOutput(id)
  }

  async openPort(jobId: string, port: number): Promise<void> {
    const job = this.#chat.services.jobs.all().find(({ id }) => id === jobId)
    if (job !== undefined) await this.#withPort(job, port, 'open-port')
  }

  async #withPort(job: Job, port: number | null, command: 'open-port' | 'copy-address'): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const ports = this.#ports.of(job)
    const chosen =
      port !== null || ports.length < 2
        ? (ports.find((each) => each.port === port) ?? ports[0])
        : await editor
            .pick({ title: l10n.t('Which port?'), items: ports.map((each) => ({ id: String(each.port), label: each.url })) })
            .then((picked) => ports.find((each) => String(each.port) === picked))
    if (chosen === undefined) return
    if (command === 'open-port') await editor.openExternal(chosen.url)
    else await editor.copy(await editor.externalAddress(chosen.url))
  }

  async #sendInput(job: Job): Promise<void> {
    const text = await this.askForInput(job.label, this.#tails.get(job.id) ?? '')
    if (text !== null) await this.#chat.services.jobs.sendInput('person', job.id, text)
  }

  /** A line that the person types for a program, with its end; null when they backed out. What it asks for a secret is not shown. */
  async askForInput(label: string, shown: string): Promise<string | null> {
    const { editor, l10n } = this.#chat.world
    const asks = lastLines(shown, 1)[0] ?? ''
    const typed = await editor.input({
      title: l10n.t('Send input to {command}', { command: label.split('\n', 1)[0] ?? '' }),
      prompt: asks === '' ? l10n.t('A line of text; Enter sends it.') : asks.slice(0, 200),
      isSecret: /pass(word|phrase|code)|secret|token|\bPIN\b/i.test(asks),
    })
    return typed === null ? null : `${typed}\n`
  }

  async #wakeWhen(job: Job): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const pattern = await editor.input({
      title: l10n.t('Wake the agent when the output of {command} matches', { command: job.label.split('\n', 1)[0] ?? '' }),
      prompt: l10n.t('A regular expression, tried on each line. Empty: do not wake it any more.'),
      value: job.wakesAt ?? '',
    })
    if (pattern !== null) this.#chat.services.jobs.wakeWhen('person', job.id, pattern === '' ? null : pattern)
  }

  async #pick(command: Exclude<JobCommand, 'forget-ended'>): Promise<OwnedJob | null> {
    const { editor, l10n } = this.#chat.world
    const fitting = this.#chat.services.jobs.all().filter((job) => fits(command, job, this.#ports.of(job).length > 0))
    if (fitting.length === 0) {
      this.#chat.notice('jobs', 'info', l10n.t('There is no job that this can be done with.'))
      return null
    }
    if (fitting.length === 1) return fitting[0]!
    const picked = await editor.pick({
      title: l10n.t('Which job?'),
      items: fitting.map((job) => ({ id: job.id, label: job.label.split('\n', 1)[0] ?? '', description: isLive(job) ? l10n.t('running') : endWords(job, l10n) })),
    })
    return fitting.find(({ id }) => id === picked) ?? null
  }

  // What the cards of the chat ask for

  async act({ of, action }: Extract<ViewMessage, { type: 'command' }>): Promise<void> {
    if ('jobId' in of) {
      if (action === 'to-background') return
      return await this.run(({ stop: 'kill', 'send-input': 'send-input', 'open-terminal': 'show-output', restart: 'restart' } as const)[action], `job:${of.jobId}`)
    }
    const { commands } = this.#chat.services.jobs
    const { callId } = of
    const sessionId = this.#chat.shown?.session.id
    if (sessionId === undefined) return
    switch (action) {
      case 'stop':
        commands.stop(sessionId, callId)
        return
      case 'to-background':
        commands.moveToBackground(sessionId, callId)
        return
      case 'open-terminal':
        return this.#showCall(callId)
      case 'send-input': {
        const row = this.#callRow(callId)
        const text = await this.askForInput(row === undefined ? callId : commandOf(row), row?.progress ?? '')
        if (text !== null) await commands.sendInput(sessionId, callId, text)
        return
      }
      case 'restart':
    }
  }

  /** A part of what the command of a call writes. */
  notePart(callId: string, text: string): void {
    this.#tabs.write(callKey(callId), text)
  }

  /** A call has its result: the tab of its command says how that ended. */
  noteResult(callId: string): void {
    const row = this.#tabs.isOpen(callKey(callId)) ? this.#callRow(callId) : undefined
    if (row !== undefined && row.endedAt !== null) this.#tabs.end(callKey(callId), this.#endOfCall(row))
  }

  #showCall(callId: string): void {
    const row = this.#callRow(callId)
    if (row === undefined) return
    const output = row.result?.card === 'terminal' ? row.result.output : undefined
    this.#tabs.show(callKey(callId), () => ({ title: commandOf(row), text: output ?? row.progress, omittedBytes: 0, end: row.endedAt === null ? null : this.#endOfCall(row) }))
  }

  #callRow(callId: string): ToolRow | undefined {
    const { shown } = this.#chat
    const place = shown?.transcript.call(callId)
    const row = place === undefined ? undefined : shown?.transcript.row(place.rowId)
    return row?.kind === 'tool' ? row : undefined
  }

  #endOfCall({ result, startedAt, endedAt }: ToolRow): string {
    const { l10n } = this.#chat.world
    const facts: Partial<TerminalResultView> = result?.card === 'terminal' ? result : {}
    if (facts.jobId !== undefined) return l10n.t('The command goes on in the background, as {job}.', { job: facts.jobId })
    return callEndWords(facts, facts.durationMs ?? (endedAt ?? startedAt) - startedAt, l10n)
  }

  // What is drawn

  #drawTree(jobs: readonly OwnedJob[]): void {
    const { clock, jobTree: view, l10n } = this.#chat.world
    this.#cancelAge?.()
    view.show(jobTree({ jobs: jobs.map((job) => this.#treeJob(job)), now: clock.now() }, l10n))
    this.#cancelAge = view.isVisible() && jobs.length > 0 ? clock.schedule(AGE_MS, () => this.#drawTree(this.#chat.services.jobs.all())) : null
  }

  #treeJob(job: OwnedJob): TreeJob {
    const { owner, problems, ...facts } = job
    const isOther = owner !== undefined && owner.id !== this.#chat.shown?.session.id
    return {
      ...facts,
      isPinned: job.isPinned === true,
      takesInput: job.takesInput === true && isLive(job),
      waitsForInput: job.waitsForInput !== undefined && isLive(job),
      canRestart: job.canRestart === true,
      ports: this.#ports.of(job),
      hasListened: this.#ports.hasListened(job),
      problems: problems ?? null,
      lastLines: lastLines(this.#tails.get(job.id) ?? '', SHOWN_LINES),
      session: isOther ? { id: owner.id, title: this.#chat.titleOf(owner.session) } : null,
    }
  }

  #refreshCards(): void {
    const { services, world, model, shown } = this.#chat
    const sessionId = shown?.session.id
    const jobs = sessionId === undefined ? [] : services.jobs.all().filter(({ owner }) => owner?.id === sessionId)
    const running = sessionId === undefined ? [] : services.jobs.commands.list(sessionId)
    model.set('commands', commandsView({ running, jobs: jobs.map((job) => ({ ...job, ports: this.#ports.of(job) })) }, world.l10n))
  }

  #refreshConditions(jobs: readonly OwnedJob[]): void {
    const live = jobs.filter(isLive)
    const facts = {
      'bosun.jobs': jobs.length > 0,
      'bosun.jobs.live': live.length > 0,
      'bosun.jobs.ended': live.length < jobs.length,
      'bosun.jobs.listening': jobs.some((job) => this.#ports.of(job).length > 0),
      'bosun.jobs.watching': jobs.some(({ problems }) => problems !== undefined),
      'bosun.jobs.taking': live.some(({ takesInput }) => takesInput === true),
      'bosun.jobs.pinned': jobs.some(({ isPinned }) => isPinned === true),
    }
    for (const [name, isTrue] of Object.entries(facts)) {
      if (this.#conditions.has(name) === isTrue) continue
      if (isTrue) this.#conditions.add(name)
      else this.#conditions.delete(name)
      this.#chat.world.editor.setCondition(name, isTrue)
    }
  }

  #heard(id: string, text: string): void {
    this.#tabs.write(id, text)
    this.#tails.set(id, ((this.#tails.get(id) ?? '') + text).slice(-TAIL_CHARS))
    if (this.#cancelOutput !== null || !this.#chat.world.jobTree.isVisible()) return
    this.#cancelOutput = this.#chat.world.clock.schedule(OUTPUT_PAUSE_MS, () => {
      this.#cancelOutput = null
      this.#drawTree(this.#chat.services.jobs.all())
    })
  }

  #settingsChanged(): void {
    for (const { id } of this.#chat.services.jobs.all()) this.#marks.refresh(id)
    this.refresh()
  }

  #forgetGone(jobs: readonly OwnedJob[]): void {
    const ids = new Set(jobs.map(({ id }) => id))
    for (const id of [...this.#tails.keys()]) if (!ids.has(id)) this.#tails.delete(id)
  }
}

function fits(command: Exclude<JobCommand, 'forget-ended'>, job: Job, listens: boolean): boolean {
  switch (command) {
    case 'show-output':
      return true
    case 'open-port':
    case 'copy-address':
      return listens
    case 'show-problems':
      return job.problems !== undefined
    case 'send-input':
      return isLive(job) && job.takesInput === true
    case 'pin':
      return job.isPinned !== true
    case 'unpin':
      return job.isPinned === true
    case 'restart':
      return job.canRestart === true
    case 'wake-when':
    case 'kill':
      return isLive(job)
    case 'forget':
      return !isLive(job)
  }
}

/** The last lines that say something, as a reader without a terminal sees them. */
function lastLines(tail: string, count: number): readonly string[] {
  return plainOutput(tail)
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(-count)
}

const callKey = (callId: string) => `call:${callId}`
const commandOf = ({ call, tool }: ToolRow) => call?.title ?? tool
