import { clipped } from '../base/text.ts'
import { assertNever } from '../base/assert-never.ts'
import type { Undo } from '../base/undo.ts'
import type { Agent } from '../core/session/agent.ts'
import { isDue, targetOf } from '../features/schedule/due.ts'
import type { FullSchedule } from '../features/schedule/events.ts'
import { isRecurring, type ScheduleEntry } from '../features/schedule/fold.ts'
import type { SchedulesView } from '../features/schedule/projection.ts'
import { settings as specs } from '../core/settings/specs.ts'
import { isFailure, type ScheduleEdit, type ScheduleFailure, type ScheduleView } from '../features/schedule/service.ts'
import type { ReminderView, RemindersView } from '../protocol/view-state.ts'
import type { ChatState } from './chat-state.ts'
import { REMINDERS_KEY, type ReminderCommand } from './reminder-commands.ts'
import { recurrenceWords, refusalWords, typedClock, typedTime, untilWords } from './reminder-words.ts'
import type { SessionOpening } from './session-opening.ts'

const MINUTE = 60_000
/** How far away the next one is, is told in minutes; and so soon a machine that slept is noticed. */
const LOOK_AGAIN_MS = 30_000
/** From the notification. */
const SNOOZE_MS = 10 * MINUTE
/** Sessions that are looked at for missed reminders, newest first. */
const MAX_LOOKED_AT = 300

/** Reminders before the person: the panel, the clock in the status bar, notifications, and what was missed while no window was open. */
export class RemindersRoom {
  readonly #chat: ChatState
  readonly #opening: Pick<SessionOpening, 'open'>
  #stopLooking: Undo | null = null
  #hasAny = false

  constructor(chat: ChatState, opening: Pick<SessionOpening, 'open'>) {
    this.#chat = chat
    this.#opening = opening
  }

  attach(): Undo {
    const { schedules } = this.#chat.services
    const { workspace } = this.#chat.world
    const undos = [
      schedules.onDidChange(() => this.refresh()),
      schedules.onDidDeliver(({ agent, delivered }) => void this.#delivered(agent, delivered).catch((error: unknown) => this.#chat.logError(error))),
      workspace.onDidChangeTrust(() => this.refresh()),
    ]
    this.refresh()
    return () => {
      for (const undo of undos) undo()
      this.#stopLooking?.()
      this.#chat.world.editor.setReminder(null)
    }
  }

  refresh(): void {
    const agent = this.#chat.shown?.agent
    this.#chat.model.set('reminders', agent == null ? { items: [], problem: null } : this.#view(agent))
    this.#drawStatus()
  }

  // What the person asks for

  async run(command: ReminderCommand): Promise<void> {
    switch (command) {
      case 'new':
        return await this.#make()
      case 'show':
        return await this.#show()
      case 'snooze':
      case 'pause':
      case 'resume':
      case 'run':
      case 'edit':
      case 'delete': {
        const picked = await this.#pick(command)
        if (picked !== null) await this.act(command, picked)
        return
      }
      default:
        assertNever(command, 'command')
    }
  }

  /** On a reminder of the session on screen. */
  async act(action: Exclude<ReminderCommand, 'new' | 'show'>, id: string): Promise<void> {
    const agent = this.#chat.shown?.agent
    const entry = agent == null ? undefined : this.#entries(agent).find(({ schedule }) => schedule.id === id)
    if (agent == null || entry === undefined) return
    const { schedules } = this.#chat.services
    switch (action) {
      case 'run':
        return this.#told(await schedules.runNow(agent, id))
      case 'pause':
        return this.#told(await schedules.pause(agent, id))
      case 'resume':
        return this.#told(await schedules.resume(agent, id))
      case 'snooze': {
        const until = await this.#askUntil()
        if (until !== null) this.#told(await schedules.snooze(agent, id, until))
        return
      }
      case 'edit': {
        const edit = await this.#askEdit(entry.schedule)
        if (edit !== null) this.#told(await schedules.edit(agent, id, edit))
        return
      }
      case 'delete': {
        const outcome = await schedules.remove(agent, id, new AbortController().signal)
        if ('message' in outcome) this.#told(outcome)
      }
    }
  }

  async #make(): Promise<void> {
    const { l10n, editor } = this.#chat.world
    const { t } = l10n
    const agent = this.#chat.shown?.agent
    if (agent == null) return this.#chat.notice('reminders', 'info', t('A reminder belongs to a session. Begin or open one first.'))
    const prompt = await editor.input({ title: t('New reminder'), prompt: t('What Bosun reminds you of, or does') })
    if (prompt === null || prompt.trim() === '') return
    const selector = await this.#askSelector()
    if (selector === null) return
    const action = await editor.pick({
      title: t('What happens then?'),
      items: [
        { id: 'tell', label: t('Bosun tells you'), detail: t('It presents your words and does nothing else.') },
        { id: 'do', label: t('Bosun does it'), detail: t('It works on your words by itself, with the permissions that this session has then.') },
      ],
    })
    if (action !== 'tell' && action !== 'do') return
    const catch_up = 'calendar' in selector ? await this.#askCatchUp() : 'once'
    if (catch_up === null) return
    const { schedules } = this.#chat.services
    const request = schedules.read({ prompt, action, catch_up, ...selector })
    this.#told(isFailure(request) ? request : await schedules.create(agent, request, new AbortController().signal))
  }

  /** Only of what recurs: what comes once is never to be lost. */
  async #askCatchUp(): Promise<'once' | 'skip' | null> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    const picked = await editor.pick({
      title: t('And when its time goes by while nobody is here?'),
      items: [
        { id: 'once', label: t('It comes once, when the session is open again') },
        { id: 'skip', label: t('That time is left out') },
      ],
    })
    return picked === 'once' || picked === 'skip' ? picked : null
  }

  async #askSelector(): Promise<Parameters<ChatState['services']['schedules']['read']>[0] extends infer Args ? Omit<Args, 'prompt' | 'action' | 'catch_up'> | null : never> {
    const { editor, l10n, clock } = this.#chat.world
    const { t } = l10n
    const time_zone = ownZone()
    const when = await editor.pick({
      title: t('When?'),
      items: [
        { id: 'minutes', label: t('In 10 minutes') },
        { id: 'hour', label: t('In an hour') },
        { id: 'moment', label: t('At a time…') },
        { id: 'daily', label: t('Every day at…') },
        { id: 'weekdays', label: t('On weekdays at…') },
        { id: 'weekly', label: t('Every week, today’s weekday, at…') },
        { id: 'rule', label: t('By a rule…'), detail: t('Five cron fields, or a recurrence rule of calendars') },
      ],
    })
    switch (when) {
      case 'minutes':
        return { after_seconds: 600 }
      case 'hour':
        return { after_seconds: 3_600 }
      case 'moment': {
        const at = await this.#askTime(t('When does it come?'), '')
        return at === null ? null : { at: new Date(at).toISOString() }
      }
      case 'daily':
      case 'weekdays':
      case 'weekly': {
        const typed = await editor.input({ title: t('At which time?'), prompt: t('Such as 09:00, in your time zone'), value: '09:00' })
        const fields = typed === null ? null : typedClock(typed)
        if (typed !== null && fields === null) this.#chat.notice('reminders', 'warning', t('“{text}” is no time of day. Write it as 09:00.', { text: typed }))
        const days = { daily: '*', weekdays: '1-5', weekly: String(new Date(clock.now()).getDay()) }[when]
        return fields === null ? null : { calendar: { rule: `${fields} * * ${days}`, time_zone } }
      }
      case 'rule': {
        const rule = await editor.input({ title: t('The rule'), prompt: t('Such as 0 9 * * 1-5, or FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=16') })
        const zone = rule === null ? null : await editor.input({ title: t('The time zone of the rule'), prompt: t('Such as Europe/Berlin'), value: time_zone })
        return rule === null || zone === null ? null : { calendar: { rule, time_zone: zone.trim() } }
      }
      default:
        return null
    }
  }

  async #askEdit(schedule: FullSchedule): Promise<ScheduleEdit | null> {
    const { editor, l10n } = this.#chat.world
    const { t } = l10n
    // An input has one line; what the person leaves as it is shown keeps its lines.
    const line = schedule.prompt.replaceAll(/\s*[\r\n]+\s*/g, ' ')
    const typedPrompt = await editor.input({ title: t('Edit the reminder'), prompt: t('What it says'), value: line })
    if (typedPrompt === null) return null
    const prompt = typedPrompt === line ? schedule.prompt : typedPrompt
    if (schedule.kind === 'every') {
      const minutes = await editor.input({ title: t('How often?'), prompt: t('Minutes between two'), value: String(schedule.everySeconds / 60) })
      if (minutes === null) return null
      return Number(minutes) * 60 === schedule.everySeconds ? { prompt } : { prompt, when: { everySeconds: Math.round(Number(minutes) * 60) } }
    }
    if (schedule.kind === 'calendar') {
      const { rule, timeZone } = schedule.calendar
      const next = await editor.input({ title: t('The rule'), prompt: t('Five cron fields, or a recurrence rule; {zone}', { zone: timeZone }), value: rule })
      if (next === null) return null
      return next.trim() === rule ? { prompt } : { prompt, when: { rule: next, timeZone } }
    }
    const shown = localTime(Date.parse(schedule.scheduledAt))
    const typed = await editor.input({ title: t('When does it come?'), prompt: t('Such as 20m, 14:30 or 2027-01-31 09:00'), value: shown })
    if (typed === null) return null
    if (typed.trim() === shown) return { prompt }
    const at = this.#timeFrom(typed)
    return at === null ? null : { prompt, when: { atMs: at } }
  }

  async #askUntil(): Promise<number | null> {
    const { editor, l10n, clock } = this.#chat.world
    const { t } = l10n
    const now = new Date(clock.now())
    const tomorrow = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1, 9).getTime()
    const picked = await editor.pick({
      title: t('Put off until when?'),
      items: [
        { id: String(now.getTime() + SNOOZE_MS), label: t('In 10 minutes') },
        { id: String(now.getTime() + 60 * MINUTE), label: t('In an hour') },
        { id: String(tomorrow), label: t('Tomorrow at 9:00') },
        { id: 'other', label: t('At another time…') },
      ],
    })
    if (picked === null) return null
    return picked === 'other' ? await this.#askTime(t('Put off until when?'), '') : Number(picked)
  }

  async #askTime(title: string, value: string): Promise<number | null> {
    const { editor, l10n } = this.#chat.world
    const typed = await editor.input({ title, prompt: l10n.t('Such as 20m, 14:30 or 2027-01-31 09:00'), value })
    return typed === null ? null : this.#timeFrom(typed)
  }

  #timeFrom(typed: string): number | null {
    const at = typedTime(typed, new Date(this.#chat.world.clock.now()))
    if (at === null) this.#chat.notice('reminders', 'warning', this.#chat.world.l10n.t('“{text}” is no time. Write 20m, 14:30 or 2027-01-31 09:00.', { text: typed }))
    return at
  }

  async #pick(command: Exclude<ReminderCommand, 'new' | 'show'>): Promise<string | null> {
    const { editor, l10n } = this.#chat.world
    const agent = this.#chat.shown?.agent
    const fitting = (agent == null ? [] : this.#entries(agent)).filter(({ isPaused }) => (command === 'resume' ? isPaused : command === 'pause' || command === 'snooze' ? !isPaused : true))
    if (fitting.length === 0) {
      this.#chat.notice('reminders', 'info', l10n.t('There is no reminder in this session that this can be done with.'))
      return null
    }
    if (fitting.length === 1) return fitting[0]?.schedule.id ?? null
    return await editor.pick({ title: l10n.t('Which reminder?'), items: fitting.map((entry) => ({ id: entry.schedule.id, label: shortened(entry.schedule.prompt), description: this.#whenWords(entry) })) })
  }

  /** Those of all open sessions; the chosen one's session comes up. */
  async #show(): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const all = this.#chat.services.agents.list().flatMap((agent) => this.#entries(agent).map((entry) => ({ agent, entry })))
    if (all.length === 0) return this.#chat.notice('reminders', 'info', l10n.t('There are no reminders in the sessions that are open.'))
    const others = all.filter(({ agent }) => agent.id !== this.#chat.shown?.session.id)
    if (others.length > 0) {
      const picked = await editor.pick({
        title: l10n.t('Reminders'),
        items: all.map(({ agent, entry }, index) => ({ id: String(index), label: shortened(entry.schedule.prompt), description: this.#whenWords(entry), detail: this.#chat.titleOf(agent.session) })),
      })
      const chosen = picked === null ? undefined : all[Number(picked)]
      if (chosen === undefined) return
      await this.#opening.open(chosen.agent.id)
    }
    await editor.showChat()
  }

  #told(outcome: ScheduleView | ScheduleFailure): void {
    if (isFailure(outcome)) this.#chat.notice('reminders', 'warning', refusalWords(outcome, this.#chat.world.l10n))
    else this.#chat.notices.close('reminders')
  }

  // What happens by itself

  /** A turn begins because of it. Whoever does not look hears of it, and can put it off. */
  async #delivered(agent: Agent, delivered: readonly FullSchedule[]): Promise<void> {
    const { attention, clock, editor, l10n } = this.#chat.world
    if ((editor.isWindowFocused() && editor.isChatVisible()) || !this.#isNotified()) return
    const [first] = delivered
    if (first === undefined) return
    const what = shortened(first.prompt)
    const text =
      delivered.length > 1
        ? l10n.t('{count} reminders are due: {text}, …', { count: delivered.length, text: what })
        : first.action === 'do'
          ? l10n.t('Bosun begins a planned task: {text}', { text: what })
          : l10n.t('Reminder: {text}', { text: what })
    const choice = await attention.tell({ level: 'info', text, actions: [{ id: 'open', label: l10n.t('Open') }, { id: 'snooze', label: l10n.t('Snooze') }] })
    if (choice === 'snooze') for (const schedule of delivered) this.#told(await this.#chat.services.schedules.again(agent, schedule, clock.now() + SNOOZE_MS))
    if (choice !== 'open') return
    await this.#opening.open(agent.id)
    await editor.showChat()
  }

  /** What fell due in sessions that are not open, in one notification; they themselves do nothing until somebody opens them. */
  async tellMissed(): Promise<void> {
    const { attention, clock, editor, l10n, memento, workspace } = this.#chat.world
    const { sessions } = this.#chat.services
    const folders = new Set(workspace.folders().map(({ path }) => path))
    const now = clock.now()
    let hasStored = false
    const missed: { readonly id: string; readonly title: string; readonly entry: ScheduleEntry }[] = []
    for (const { id, title, cwd, isLive, isArchived, problem } of (await sessions.list()).slice(0, MAX_LOOKED_AT)) {
      if (isLive || isArchived || problem !== undefined || cwd === undefined || !folders.has(cwd)) continue
      const view = (await sessions.keptValueOf(id, 'schedules')) as SchedulesView | undefined
      hasStored ||= view !== undefined && view.entries.length > 0
      for (const entry of view?.entries ?? []) if (isDue(entry, now)) missed.push({ id, title, entry })
    }
    // The last ones may have gone since this was kept.
    if (!hasStored && !this.#hasAny) await memento.set(REMINDERS_KEY, undefined)
    const [first] = missed
    if (first === undefined || !this.#isNotified()) return
    const text =
      missed.length === 1
        ? l10n.t('A reminder came due while its session was closed: {text}', { text: shortened(first.entry.schedule.prompt) })
        : l10n.t('{count} reminders came due while their sessions were closed: {text}, …', { count: missed.length, text: shortened(first.entry.schedule.prompt) })
    if ((await attention.tell({ level: 'info', text, actions: [{ id: 'open', label: l10n.t('Open') }] })) !== 'open') return
    const ids = [...new Set(missed.map(({ id }) => id))]
    const chosen =
      ids.length === 1
        ? first.id
        : await editor.pick({
            title: l10n.t('Open a session with missed reminders'),
            items: ids.map((id) => {
              const own = missed.filter((each) => each.id === id)
              return { id, label: own[0]?.title ?? id, detail: own.map(({ entry }) => shortened(entry.schedule.prompt)).join('; ') }
            }),
          })
    if (chosen === null) return
    await this.#opening.open(chosen)
    await editor.showChat()
  }

  /** The person wants to hear of reminders while they do not look. */
  #isNotified(): boolean {
    return this.#chat.services.settings.get(specs.notificationsWhenHidden).includes('reminders')
  }

  // What is drawn

  #view(agent: Agent): RemindersView {
    const { l10n } = this.#chat.world
    const { t } = l10n
    const state = this.#chat.services.schedules.state(agent)
    const order = ({ at }: ReminderView) => at ?? Infinity
    const items = (state?.entries ?? [])
      .map(
        (entry): ReminderView => ({
          id: entry.schedule.id,
          text: entry.schedule.prompt,
          at: targetOf(entry),
          recurrence: recurrenceWords(entry.schedule, ownZone(), l10n),
          isTask: entry.schedule.action === 'do',
          isPaused: entry.isPaused,
          isSnoozed: entry.instead !== null && !entry.instead.isRun,
          skipsMissed: entry.schedule.catchUp === 'skip' && isRecurring(entry.schedule),
        }),
      )
      .sort((a, b) => order(a) - order(b) || 0)
    const problem =
      state === null || state.delivery === 'running'
        ? null
        : state.problem !== null
          ? refusalWords({ code: 'corrupt_schedule_log', message: '' }, l10n)
          : state.delivery === 'faulted'
            ? t('Reminders of this session are not delivered any more in this window. Reload it to go on.')
            : this.#chat.world.workspace.isTrusted()
              ? null
              : t('This folder is not trusted, so no reminder is delivered.')
    return { items, problem: items.length === 0 && state?.problem == null ? null : problem }
  }

  #drawStatus(): void {
    const { clock, editor, l10n, memento } = this.#chat.world
    const now = clock.now()
    const all = this.#chat.services.agents.list().flatMap((agent) => this.#entries(agent))
    const next = all.map((entry) => ({ entry, at: targetOf(entry) })).filter((each): each is typeof each & { at: number } => each.at !== null).sort((a, b) => a.at - b.at)[0]
    editor.setCondition('bosun.reminders', all.length > 0)
    editor.setReminder(
      next === undefined
        ? null
        : {
            text: `$(${next.at <= now ? 'bell' : 'clock'}) ${untilWords(next.at - now, l10n)}`,
            tooltip: [l10n.t('Bosun reminder: {text}', { text: shortened(next.entry.schedule.prompt) }), new Date(next.at).toLocaleString(), ...(all.length > 1 ? [l10n.t('{count} reminders in open sessions', { count: all.length })] : [])].join('\n'),
          },
    )
    this.#stopLooking?.()
    this.#stopLooking = all.length === 0 ? null : clock.schedule(LOOK_AGAIN_MS, () => this.#lookAgain())
    if (this.#hasAny || all.length === 0) return
    this.#hasAny = true
    memento.set(REMINDERS_KEY, true).catch((error: unknown) => this.#chat.logError(error))
  }

  #lookAgain(): void {
    this.#chat.services.schedules.look()
    this.#drawStatus()
  }

  #entries(agent: Agent): readonly ScheduleEntry[] {
    return this.#chat.services.schedules.state(agent)?.entries ?? []
  }

  #whenWords({ schedule, isPaused, ...rest }: ScheduleEntry): string {
    const { clock, l10n } = this.#chat.world
    const at = targetOf({ schedule, isPaused, ...rest })
    const next = at === null ? l10n.t('paused') : untilWords(at - clock.now(), l10n)
    const recurrence = recurrenceWords(schedule, ownZone(), l10n)
    return recurrence === null ? next : `${next}, ${recurrence}`
  }
}

const shortened = (prompt: string): string => clipped(prompt.replaceAll(/\s+/g, ' '), 80)

const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone

/** As it can be typed again. */
function localTime(ms: number): string {
  const at = new Date(ms)
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())} ${pad(at.getHours())}:${pad(at.getMinutes())}`
}
