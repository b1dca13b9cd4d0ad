import type { Clock } from '../../capabilities/clock.ts'
import type { TerminalProcess, TerminalSignal, TerminalSize } from '../../capabilities/terminal.ts'
import type { TerminalViewHandle, TerminalViews } from '../../capabilities/terminal-view.ts'
import type { ScreenMark, TerminalScreen } from '../../capabilities/terminal-screen.ts'
import type { Agent } from '../../core/session/agent.ts'
import type { JobEnd, JobWork } from '../jobs/service.ts'
import { isSecretKey, PersonKeys } from './person-keys.ts'
import { TerminalSessionError, TerminalStopped, type SendRequest, type SendResult, type TerminalInfo, type TerminalStatus, type TypingState, type WaitReason } from './service.ts'

/** How often is looked whether a wait is over; less often the longer it is silent. */
const POLL_MS = 50
const SLOWEST_POLL_MS = 1_000
/** Silence after which the system is asked who waits for keys. */
const PROBE_AFTER_MS = 150
/** Silence after which a program counts as idle where nobody can say. */
const IDLE_AFTER_MS = 3_000
export const SEND_DEADLINE_MS = 30_000
/** Few: a program that took the shell's place gets each of them. */
const MAX_INTERRUPTS = 3
/** Output that waits for the screen; more makes the program wait, and it goes on below the second. */
const HELD_ABOVE_BYTES = 1_000_000
const FREED_BELOW_BYTES = 200_000

export interface TerminalSessionParts {
  readonly id: string
  readonly type: string
  readonly name: string | undefined
  readonly owner: Agent
  /** Null where nobody knows. */
  readonly folder: string | null
  /** A terminal of the person's: there is no telling what stands on its line but right at a prompt. */
  readonly isAdopted?: true
  /** Absent where the shell itself says at each prompt where it stands. */
  readonly folderNow?: () => string | null
  readonly screen: TerminalScreen
  readonly clock: Clock
  /** What the prompt's own sequence begins with: no program can know it beforehand. */
  readonly nonce: string
  readonly onChange: () => void
  /** The person closed what they saw of it, which ends it; `isAwaited`: a call waits here and tells of it. */
  readonly onClosedByPerson: (facts: { readonly isAwaited: boolean }) => void
  /** Absent where nobody looks. */
  readonly views?: TerminalViews
}


/** One terminal: its program, its screen, and whether somebody waits for it. */
export class TerminalSession {
  readonly id: string
  readonly owner: Agent
  readonly name: string | undefined
  readonly #parts: TerminalSessionParts
  #process: TerminalProcess | undefined
  #status: TerminalStatus = { kind: 'running' }
  #lastOutputAt: number
  #isHeld = false
  #isSending = false
  #closing: Promise<void> | undefined
  #isAtPrompt = false
  #pendingLine: string | null = ''
  #folder: string | null
  readonly #personKeys = new PersonKeys()
  #keysToWrite = ''
  #isWritingKeys = false
  #isClosedByPerson = false
  #wake: () => void = () => {}
  readonly #view: TerminalViewHandle | undefined

  constructor(parts: TerminalSessionParts) {
    this.#parts = parts
    this.id = parts.id
    this.owner = parts.owner
    this.name = parts.name
    this.#folder = parts.folder
    this.#lastOutputAt = parts.clock.monotonicMs()
    parts.screen.onMessage((data) => this.#hear(data))
    parts.screen.onReply((text) => void this.#process?.write(text))
    this.#view = parts.views?.show({
      name: `Bosun: ${parts.name ?? parts.id}`,
      onInput: (text) => this.#typeForPerson(text),
      onResize: (size) => this.#resize(size),
      onClose: () => this.#closeForPerson(),
    })
  }

  /** Raw output of its program. */
  readonly receive = (chunk: Uint8Array): void => {
    const { screen, clock } = this.#parts
    this.#lastOutputAt = clock.monotonicMs()
    screen.write(chunk)
    this.#view?.write(chunk)
    if (this.#isHeld || screen.pendingBytes < HELD_ABOVE_BYTES) return
    this.#isHeld = true
    this.#process?.pauseOutput()
    void this.#freeOutput()
  }

  attach(process: TerminalProcess): void {
    this.#process = process
    void process.exit.then(({ exitCode, signal }) => {
      this.#status = { kind: 'exited', exitCode, signal, ...(this.#isClosedByPerson && { closedBy: 'person' as const }) }
      this.#isAtPrompt = false
      this.#wake()
      this.#view?.end(exitCode)
      this.#parts.onChange()
    })
  }

  get status(): TerminalStatus {
    return this.#status
  }

  get info(): TerminalInfo {
    const { id, type, name, isAdopted } = this.#parts
    return { sessionId: id, type, pid: this.#process?.pid ?? 0, status: this.#status, ...(name !== undefined && { name }), ...(isAdopted && { isAdopted }) }
  }

  get isAdopted(): boolean {
    return this.#parts.isAdopted === true
  }

  get typing(): TypingState {
    return { isAtPrompt: this.#isAtPrompt, pendingLine: this.#pendingLine, folder: this.#parts.folderNow === undefined ? this.#folder : this.#parts.folderNow(), type: this.#parts.type }
  }

  get screen(): TerminalScreen {
    return this.#parts.screen
  }

  /** What the person typed since this was last asked. */
  takePersonTyped(): string {
    return this.#personKeys.take()
  }

  /** Somebody else began a command: the shell is at no prompt any more. */
  leavePrompt(): void {
    this.#isAtPrompt = false
  }

  /** The person wants it back, or has closed it. */
  endForPerson(): void {
    this.#closeForPerson()
  }

  /** What the program shows when it is there. */
  async start(): Promise<string> {
    const signal = new AbortController().signal
    await this.#wait({ since: this.#parts.clock.monotonicMs(), deadlineMs: IDLE_AFTER_MS, infersIdle: true, signal })
    await this.screen.settled()
    return this.screen.snapshot().text
  }

  async send({ text, submit, signal, onText }: SendRequest & { readonly signal: AbortSignal; readonly onText: (text: string) => void }): Promise<SendResult> {
    const mark = this.#begin()
    const isTyped = text !== '' && (!submit || !this.#isAtPrompt)
    try {
      await this.#type(text, submit)
      const waitReason = await this.#wait({ since: this.#parts.clock.monotonicMs(), deadlineMs: SEND_DEADLINE_MS, infersIdle: true, signal })
      await this.screen.settled()
      const { text: viewport, isLost } = this.screen.since(mark)
      onText(viewport)
      const personTyped = this.takePersonTyped()
      return { viewport: viewport.trimEnd(), waitReason, sessionStatus: this.#status, truncated: isLost, ...(personTyped !== '' && { personTyped }), ...(isTyped && { isTyped }) }
    } catch (error) {
      if (!signal.aborted) throw error
      await this.#interrupt()
      await this.screen.settled()
      throw new TerminalStopped(this.screen.since(mark).text.trimEnd())
    } finally {
      mark.dispose()
      this.#isSending = false
    }
  }

  sendInBackground({ text, submit }: SendRequest): JobWork {
    let mark = this.#begin()
    let isCancelled = false
    const work = async (): Promise<JobEnd> => {
      try {
        await this.#type(text, submit)
        const reason = await this.#wait({ since: this.#parts.clock.monotonicMs(), infersIdle: false, signal: new AbortController().signal })
        await this.screen.settled()
        return { status: isCancelled ? 'killed' : 'completed', detail: reason }
      } finally {
        this.#isSending = false
      }
    }
    return {
      done: work(),
      cancel: () => {
        isCancelled = true
        void this.#interrupt()
      },
      readOutput: () => {
        const { text: fresh, isLost } = this.screen.since(mark)
        mark.dispose()
        mark = this.screen.mark()
        return `${isLost ? '[The beginning is gone.]\n' : ''}${fresh}`
      },
    }
  }

  async signal(signal: TerminalSignal): Promise<number | null> {
    return (await this.#process?.signalForeground(signal)) ?? null
  }

  /** Idempotent; the second caller learns that it is under way. */
  async close(): Promise<'closed' | 'already-closing'> {
    const outcome = this.#closing === undefined ? 'closed' : 'already-closing'
    this.#closing ??= this.#end()
    await this.#closing
    return outcome
  }

  async #end(): Promise<void> {
    await this.#process?.terminate()
    await this.#process?.exit
    await this.screen.settled()
    this.screen.dispose()
    this.#view?.dispose()
  }

  #typeForPerson(text: string): void {
    // Until the next prompt nobody knows what stands on the line.
    this.#pendingLine = null
    this.#keysToWrite += text
    if (!this.#isWritingKeys) void this.#writeKeys()
  }

  /** Whether a key is a secret is asked before it reaches the program, which may show keys again as soon as it has it. */
  async #writeKeys(): Promise<void> {
    this.#isWritingKeys = true
    while (this.#keysToWrite !== '') {
      const echo = (await this.#process?.keyEcho()) ?? null
      await this.screen.settled()
      const keys = this.#keysToWrite
      this.#keysToWrite = ''
      this.#personKeys.add(keys, { isSecret: isSecretKey(echo, this.screen.lines({ offset: 0, count: 1 }).text) })
      await this.#process?.write(keys)
    }
    this.#isWritingKeys = false
  }

  #closeForPerson(): void {
    if (this.#closing !== undefined || this.#status.kind === 'exited') return
    this.#isClosedByPerson = true
    this.#parts.onClosedByPerson({ isAwaited: this.#isSending })
    void this.#process?.terminate()
  }

  #resize(size: TerminalSize): void {
    if (size.columns < 2 || size.rows < 2 || this.#closing !== undefined) return
    this.screen.resize(size)
    void this.#process?.resize(size)
  }

  #begin(): ScreenMark {
    if (this.#status.kind === 'exited') throw new TerminalSessionError('NO_SESSION', `${this.#isClosedByPerson ? `The person has ${this.isAdopted ? 'taken back' : 'closed'} ${this.id}` : `The program of ${this.id} has ended`}. Read what it left with terminal_read, or open a new terminal.`)
    if (this.#isSending) throw new TerminalSessionError('SEND_ACTIVE', `${this.id} still works on what was sent to it. Wait for that, or stop it with terminal_signal.`)
    this.#isSending = true
    return this.screen.mark()
  }

  async #type(text: string, submit: boolean): Promise<void> {
    if (submit || /[\n\r]/.test(text)) {
      this.#isAtPrompt = false
      this.#pendingLine = submit ? '' : null
    } else if (text !== '') this.#pendingLine = this.#pendingLine === null || this.isAdopted ? null : this.#pendingLine + text
    // The Enter key is a carriage return.
    const keys = text.replaceAll(/\r?\n/g, '\r') + (submit ? '\r' : '')
    if (keys !== '') await this.#process?.write(keys)
  }

  async #wait({ since, deadlineMs, infersIdle, signal }: { readonly since: number; readonly deadlineMs?: number; readonly infersIdle: boolean; readonly signal: AbortSignal }): Promise<WaitReason> {
    const { clock } = this.#parts
    for (;;) {
      signal.throwIfAborted()
      if (this.#status.kind === 'exited') return 'session_exit'
      const now = clock.monotonicMs()
      const silentMs = now - Math.max(this.#lastOutputAt, since)
      if (silentMs >= PROBE_AFTER_MS) {
        await this.screen.settled()
        if (this.#isAtPrompt || (await this.#process?.foreground())?.isReading === true) return 'stdin_read'
        if (infersIdle && silentMs >= IDLE_AFTER_MS) return 'inferred_idle'
      }
      if (deadlineMs !== undefined && now - since >= deadlineMs) return 'timeout'
      await this.#pause(Math.min(Math.max(POLL_MS, silentMs / 10), SLOWEST_POLL_MS), signal)
    }
  }

  /** Until the time is over, the signal fires or the program ends. There is one waiter at a time. */
  async #pause(delayMs: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => resolve()
    const stop = this.#parts.clock.schedule(delayMs, wake)
    this.#wake = wake
    signal.addEventListener('abort', wake)
    if (signal.aborted) wake()
    await promise
    stop()
    signal.removeEventListener('abort', wake)
  }

  /**
   * A real signal, never a typed key, where the system has one; there may be nobody left to get it. A command that was sent a moment ago
   * may not have begun: the shell itself gets the signal then, and what it starts gets it once more.
   */
  async #interrupt(): Promise<void> {
    try {
      for (let attempt = 1; attempt <= MAX_INTERRUPTS; attempt += 1) {
        const group = await this.#process?.signalForeground('SIGINT')
        if (group == null || group !== this.#process?.pid) return
        await new Promise<void>((resolve) => void this.#parts.clock.schedule(PROBE_AFTER_MS, resolve))
        if (this.#isAtPrompt || (await this.#process.foreground()).isReading === true) return
      }
    } catch {
      // The program ended meanwhile, which is what was wanted.
    }
  }

  /** `nonce;prompt;exit code;folder`, written by the shell before each of its prompts. */
  #hear(data: string): void {
    const [nonce, what, , ...folder] = data.split(';')
    if (nonce !== this.#parts.nonce || what !== 'prompt') return
    this.#isAtPrompt = true
    this.#pendingLine = ''
    this.#folder = folder.join(';') || this.#folder
  }

  async #freeOutput(): Promise<void> {
    while (this.screen.pendingBytes > FREED_BELOW_BYTES) await new Promise<void>((resolve) => void this.#parts.clock.schedule(5, resolve))
    this.#isHeld = false
    this.#process?.resumeOutput()
  }
}
