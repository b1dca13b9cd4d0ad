import type { Execution, PreExecuteDecision } from '../tools/definition.ts'

/** What policy would say of a call, before anybody makes it: nothing happens by asking, and the call is judged anew when it is made. */
export interface Foresight {
  /** Errors: whatever keeps the call from being judged. */
  decide(exec: Execution): Promise<PreExecuteDecision>
}

declare module '../kernel/plugin.ts' {
  interface Services {
    foresight: Foresight
  }
}
