import { MAX_TERMINALS } from './plugin.ts'
import { TerminalSessionError, type Terminals } from './service.ts'
import { SEND_DEADLINE_MS } from './terminal-session.ts'

/** Terminals of a host that can open none: every call is refused with the reason. */
export function noTerminals(problem: string): Terminals {
  const refuse = (): never => {
    throw new TerminalSessionError('NO_BACKEND', problem)
  }
  const reject = async (): Promise<never> => refuse()
  return {
    maxTerminals: MAX_TERMINALS,
    sendDeadlineMs: SEND_DEADLINE_MS,
    types: ['bash', 'sh', 'pwsh'],
    open: reject,
    adoptable: () => [],
    adopt: reject,
    takeBack: async () => 0,
    send: reject,
    sendInBackground: refuse,
    check: refuse,
    read: reject,
    screen: reject,
    signal: reject,
    close: reject,
    list: () => [],
    typingState: () => undefined,
    onDidChange: () => () => undefined,
  }
}
