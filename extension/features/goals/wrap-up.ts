import type { UserMessage } from '../../core/log/message.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { CheckResult } from './events.ts'

/** Asks for the last words after a goal that its own round completed or blocked. Source: agent tools specification 1.5. */
export function wrapUpMessage(id: string, { outcome, checks, changes }: { readonly outcome: 'complete' | 'blocked'; readonly checks: readonly CheckResult[]; readonly changes: string | null }): UserMessage {
  const ask =
    outcome === 'complete'
      ? 'The goal is complete. Close with one account for the person: what was reached, how it was verified, and which files or other results there are.'
      : 'The goal is blocked. Close with one account for the person: what was reached, what is in the way, and what you need from them.'
  const text = [
    `${ask} Say only what this session established, and call no more tools.`,
    ...(checks.length === 0 ? [] : ['', 'Checks that were run:', ...checks.map(checkLine)]),
    ...(changes === null ? [] : ['', 'Files changed since the goal began:', changes]),
  ].join('\n')
  return noticeMessage({ id, plugin: 'tool-goal', text, summary: outcome === 'complete' ? 'The goal is complete: a last account is asked for' : 'The goal is blocked: a last account is asked for' })
}

/** `passed npm test (exit code 0, 1.2 s)`. */
const checkLine = ({ check, isOk, outcome, durationMs }: CheckResult): string => `- ${isOk ? 'passed' : 'failed'}: ${check} (${outcome}, ${(durationMs / 1000).toFixed(1)} s)`

/** For the model, when some did not pass. */
export function failedChecksText(results: readonly CheckResult[]): string {
  const failed = results.filter(({ isOk }) => !isOk)
  const outputs = failed.flatMap(({ check, output }) => (output === '' ? [] : [`\nOutput of ${check}:\n${output}`]))
  return [`The goal is not complete: ${failed.length} of its ${results.length} ${results.length === 1 ? 'check' : 'checks'} did not pass, so it stays as it is. Mend what they found, then complete it again.`, ...results.map(checkLine), ...outputs].join('\n')
}
