import type { AdoptSpec, PersonTerminal, PersonTerminals } from '../../extension/capabilities/person-terminals.ts'
import { TerminalError, terminalEnded, type TerminalExit } from '../../extension/capabilities/terminal.ts'

/** Terminals of a person, whose shells run a test's function for each line. */
export interface FakePersonTerminals extends PersonTerminals {
  /** What was typed there, in order. */
  readonly typed: readonly string[]
  /** As if the person ran a command. */
  run(id: string, command: string, output: string): void
  /** The person closes it. */
  close(id: string): void
}

export function fakePersonTerminals(terminals: readonly PersonTerminal[], answer: (command: string) => string = (command) => `ran ${command}`): FakePersonTerminals {
  const typed: string[] = []
  const adopted = new Map<string, { readonly spec: AdoptSpec; readonly end: (exit: TerminalExit) => void }>()
  const run = (id: string, command: string, output: string) => {
    const { spec } = adopted.get(id) ?? {}
    spec?.onCommand()
    spec?.onOutput(Buffer.from(`$ ${command}\r\n${output}\r\n`))
    spec?.onPrompt(0)
  }
  return {
    typed,
    run,
    close: (id) => adopted.get(id)?.end({ exitCode: 0, signal: null, wasTerminated: false }),
    list: () => terminals,
    async adopt(id, spec) {
      const terminal = terminals.find((one) => one.id === id)
      if (terminal === undefined) throw terminalEnded()
      const { promise, resolve } = Promise.withResolvers<TerminalExit>()
      adopted.set(id, { spec, end: resolve })
      queueMicrotask(() => spec.onPrompt(null))
      return {
        pid: 7,
        exit: promise,
        async write(text) {
          typed.push(text)
          if (text.endsWith('\r')) queueMicrotask(() => run(id, text.slice(0, -1), answer(text.slice(0, -1))))
        },
        resize: async () => {},
        pauseOutput() {},
        resumeOutput() {},
        async signalForeground(signal) {
          if (signal !== 'SIGINT') throw new TerminalError('UNSUPPORTED_SIGNAL', 'only SIGINT')
          typed.push('\u0003')
          return null
        },
        foreground: async () => ({ group: null, isShell: null, isReading: null }),
        keyEcho: async () => null,
        terminate: async () => resolve({ exitCode: null, signal: null, wasTerminated: true }),
      }
    },
  }
}
