import type { Json } from '../../base/json.ts'
import type { ToolContent } from '../log/message.ts'
import type { PolicyGrounds } from './definition.ts'

/** Which call of a program it is. Source: runtime specification 11.9. */
export interface DispatchPlace {
  /** The call of the model that everything below belongs to. */
  readonly rootCallId: string
  /** The `run_code` whose program made it. */
  readonly parentCallId: string
  /** `<parent>:code:<n>`, n from 1 in the order in which the program called. */
  readonly subCallId: string
  readonly name: string
  readonly arguments: Json
  /** The id of the other extension whose tool it is. */
  readonly from?: string
}

declare module '../log/event.ts' {
  interface EventMap {
    /** `ignorable`. A call of a program begins: policy is asked now. */
    'tool/code-dispatch-start': DispatchPlace
    /** `ignorable`. It has ended; one for each start. What the program got of it is not kept, as of no other call. */
    'tool/code-dispatch': DispatchPlace & {
      readonly isError: boolean
      readonly content: readonly ToolContent[]
      readonly error?: { readonly name: string; readonly code: string }
      /** For its card. */
      readonly meta?: Json
      readonly policy?: PolicyGrounds
    }
  }
}

