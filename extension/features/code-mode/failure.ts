import type { CodeError, CodeErrorCode } from '../../capabilities/code-runtime.ts'
import { fitEnds } from '../../base/text.ts'
import { ToolError } from '../../core/tools/definition.ts'

/** What a program failed by. Source: runtime specification 8; memory, stack and calls are caps of our own. */
export const failureKinds = {
  CODE_SYNTAX: 'syntax',
  CODE_THROWN: 'exception',
  CODE_TIME: 'timeout',
  CODE_MEMORY: 'memory-limit',
  CODE_STACK: 'stack-limit',
  CODE_OUTPUT: 'output-limit',
  CODE_CALLS: 'call-limit',
  CODE_RESULT: 'invalid-output',
  CODE_CANCELLED: 'abort',
  CODE_CRASHED: 'worker-exit',
  CODE_UNAVAILABLE: 'unavailable',
} as const satisfies Record<CodeErrorCode, string>

/** UTF-8 bytes of what was printed that a failure repeats, from its beginning and its end. */
const MAX_REPEATED_BYTES = 20_000

/** The failure of a `run_code`: what happened, that nothing was taken back, and what was printed up to there. */
export function programFailure(error: CodeError, { logs, calls }: { readonly logs: readonly string[]; readonly calls: number }): ToolError {
  const done = calls === 0 ? 'It had made no call.' : `It had made ${calls} ${calls === 1 ? 'call' : 'calls'}, whose effects stay.`
  const printed = logs.length === 0 ? '' : `\nPrinted before:\n${repeated(logs.join('\n'))}`
  // Whoever stopped it knows; a failure it is not.
  if (error.code === 'CODE_CANCELLED') return new ToolError('ABORTED', `The program was stopped. ${done}${printed}`, { cause: error })
  return new ToolError('CODE_RUN_FAILED', `The program failed (${failureKinds[error.code]}): ${error.message.replace(/[^.!?)]$/, '$&.')} ${done}${printed}`, { cause: error })
}

function repeated(text: string): string {
  const { head, tail, omittedBytes } = fitEnds(text, { headBytes: MAX_REPEATED_BYTES / 2, tailBytes: MAX_REPEATED_BYTES / 2 })
  return omittedBytes === 0 ? text : `${head}\n[${omittedBytes} bytes left out]\n${tail}`
}
