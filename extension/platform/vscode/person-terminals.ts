import * as vscode from 'vscode'
import type { AdoptSpec, PersonTerminal, PersonTerminals } from '../../capabilities/person-terminals.ts'
import { TerminalError, terminalEnded, type TerminalExit, type TerminalProcess, type TerminalSignal } from '../../capabilities/terminal.ts'
import { throughClipboard } from './through-clipboard.ts'

/**
 * The person's own terminals, through the editor's shell integration alone: a command that runs is read from its start on, never what
 * the terminal showed before, and of the keys that the person types nothing is known but the commands they make.
 */
export class VscodePersonTerminals implements PersonTerminals {
  readonly #ids = new WeakMap<vscode.Terminal, string>()
  /** What is known to run at each since this was made; absent: nothing is known. */
  readonly #running = new WeakMap<vscode.Terminal, boolean>()
  readonly #subscriptions: readonly vscode.Disposable[]
  #lastNumber = 0

  constructor() {
    this.#subscriptions = [
      vscode.window.onDidStartTerminalShellExecution(({ terminal }) => void this.#running.set(terminal, true)),
      vscode.window.onDidEndTerminalShellExecution(({ terminal }) => void this.#running.set(terminal, false)),
    ]
  }

  list(): readonly PersonTerminal[] {
    return this.#all().map((terminal) => ({
      id: this.#idOf(terminal),
      name: terminal.name,
      shell: terminal.state.shell ?? null,
      folder: folderOf(terminal),
      isReadable: terminal.shellIntegration !== undefined,
    }))
  }

  async adopt(id: string, spec: AdoptSpec): Promise<TerminalProcess> {
    const terminal = this.#all().find((one) => this.#idOf(one) === id)
    if (terminal === undefined) throw terminalEnded()
    if (terminal.shellIntegration === undefined) {
      throw new TerminalError('NO_BACKEND', `The editor has no shell integration in the terminal “${terminal.name}”, so nothing of it could be read. Ask the person to open another one, or use a terminal of your own.`)
    }
    return new AdoptedTerminal(terminal, { ...spec, pid: (await terminal.processId) ?? 0, isIdle: this.#running.get(terminal) === false })
  }

  dispose(): void {
    for (const one of this.#subscriptions) one.dispose()
  }

  /** Those with a program of the editor's: what extensions draw is none. */
  #all(): readonly vscode.Terminal[] {
    return vscode.window.terminals.filter((terminal) => !('pty' in terminal.creationOptions) && terminal.exitStatus === undefined)
  }

  #idOf(terminal: vscode.Terminal): string {
    const id = this.#ids.get(terminal) ?? `person-${++this.#lastNumber}`
    this.#ids.set(terminal, id)
    return id
  }
}

class AdoptedTerminal implements TerminalProcess {
  readonly pid: number
  readonly exit: Promise<TerminalExit>
  readonly #terminal: vscode.Terminal
  readonly #spec: AdoptSpec
  readonly #subscriptions: readonly vscode.Disposable[]
  readonly #ends = new Map<vscode.TerminalShellExecution, PromiseWithResolvers<number | null>>()
  #settle: (exit: TerminalExit) => void = () => {}
  /** The shell waits for a command and nobody here has begun to type one. */
  #isAtEmptyPrompt: boolean
  #isReleased = false
  /** The command that was sent last and has not begun yet. */
  #sent: string | null = null

  constructor(terminal: vscode.Terminal, spec: AdoptSpec & { readonly pid: number; readonly isIdle: boolean }) {
    this.pid = spec.pid
    this.#terminal = terminal
    this.#spec = spec
    this.#isAtEmptyPrompt = spec.isIdle
    this.exit = new Promise((resolve) => (this.#settle = resolve))
    this.#subscriptions = [
      // Whoever reads late loses what was written before.
      vscode.window.onDidStartTerminalShellExecution((event) => {
        if (event.terminal === terminal) void this.#follow(event.execution, event.execution.read())
      }),
      vscode.window.onDidEndTerminalShellExecution((event) => {
        if (event.terminal === terminal) this.#ends.get(event.execution)?.resolve(event.exitCode ?? null)
      }),
      vscode.window.onDidCloseTerminal((closed) => {
        if (closed === terminal) this.#end({ exitCode: closed.exitStatus?.code ?? null, signal: null, wasTerminated: false })
      }),
    ]
    if (spec.isIdle) queueMicrotask(() => this.#tellPrompt(null))
  }

  async write(text: string): Promise<void> {
    if (this.#isReleased) return
    const command = /^([^\r\n]+)\r$/.exec(text)?.[1]
    const integration = this.#terminal.shellIntegration
    if (command !== undefined && integration !== undefined && this.#isAtEmptyPrompt) {
      this.#isAtEmptyPrompt = false
      this.#sent = command
      // The editor clears what the person has half typed.
      integration.executeCommand(command)
      return
    }
    this.#isAtEmptyPrompt = false
    this.#sent = command ?? null
    this.#terminal.sendText(text, false)
  }

  /** The size is the person's. */
  async resize(): Promise<void> {}

  // The editor reads the terminal for the person and cannot be held.
  pauseOutput(): void {}
  resumeOutput(): void {}

  async signalForeground(signal: TerminalSignal): Promise<null> {
    if (this.#isReleased) throw terminalEnded()
    const key = typedSignals[signal]
    if (key === undefined) throw new TerminalError('UNSUPPORTED_SIGNAL', `${signal} cannot be sent to a terminal of the person’s, only SIGINT and SIGTSTP as typed keys.`)
    this.#terminal.sendText(key, false)
    return null
  }

  async foreground(): Promise<{ readonly group: null; readonly isShell: null; readonly isReading: null }> {
    return { group: null, isShell: null, isReading: null }
  }

  async keyEcho(): Promise<null> {
    return null
  }

  async terminate(): Promise<void> {
    this.#end({ exitCode: null, signal: null, wasTerminated: true })
  }

  async #follow(execution: vscode.TerminalShellExecution, output: AsyncIterable<string>): Promise<void> {
    const end = Promise.withResolvers<number | null>()
    this.#ends.set(execution, end)
    this.#isAtEmptyPrompt = false
    this.#spec.onCommand()
    const encoder = new TextEncoder()
    this.#spec.onOutput(encoder.encode(`$ ${execution.commandLine.value.replaceAll(/\r?\n/g, '\r\n')}\r\n`))
    const isOurs = execution.commandLine.value === this.#sent
    this.#sent = null
    let isSilent = true
    for await (const text of output) {
      isSilent &&= text === ''
      if (!this.#isReleased) this.#spec.onOutput(encoder.encode(text))
    }
    const exitCode = await end.promise
    this.#ends.delete(execution)
    if (isSilent && !this.#isReleased) this.#spec.onOutput(encoder.encode(((isOurs ? await this.#lastOutput() : null) ?? NOTHING_PASSED_ON).replaceAll(/\r?\n/g, '\r\n')))
    if (!this.#isReleased && this.#ends.size === 0) this.#tellPrompt(exitCode)
  }

  /**
   * What the last command wrote, by way of the clipboard, which keeps what it held: of a command that is over in a moment the editor
   * often passes nothing on (seen in VS Code 1.139). Only of the terminal in front, and only for commands of ours. Null: not known.
   */
  async #lastOutput(): Promise<string | null> {
    if (vscode.window.activeTerminal !== this.#terminal) return null
    try {
      return await throughClipboard('workbench.action.terminal.copyLastCommandOutput')
    } catch {
      // A clipboard that is closed to us is said as what it is: nothing was passed on.
      return null
    }
  }

  #tellPrompt(exitCode: number | null): void {
    this.#isAtEmptyPrompt = true
    this.#spec.onPrompt(exitCode)
  }

  #end(exit: TerminalExit): void {
    if (this.#isReleased) return
    this.#isReleased = true
    for (const one of this.#subscriptions) one.dispose()
    this.#settle(exit)
  }
}

const NOTHING_PASSED_ON = '[The editor passed nothing on of this command, which may have written all the same. Commands that take longer are read whole.]\n'

const typedSignals: Partial<Readonly<Record<TerminalSignal, string>>> = { SIGINT: '\u0003', SIGTSTP: '\u001a' }

/** Of another machine, such as one behind `ssh`, there is no folder here. */
const folderOf = (terminal: vscode.Terminal): string | null => {
  const cwd = terminal.shellIntegration?.cwd
  return cwd?.scheme === 'file' ? cwd.fsPath : null
}
