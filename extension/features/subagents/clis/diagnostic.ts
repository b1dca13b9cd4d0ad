import { fitBytes, fitTailBytes } from '../../../base/text.ts'
import { stripAnsi } from '../../../base/strip-ansi.ts'
import { redactSecrets } from '../../../core/policy/redact-secrets.ts'
import type { CliStage } from './cli.ts'

/** UTF-8 bytes of a diagnostic. Source: agent tools specification 6.2. */
export const MAX_DIAGNOSTIC_BYTES = 4_096
const MAX_SAID_BYTES = 1_500
const MAX_LAST_WORDS_BYTES = 1_000
/** A value of the environment that is shorter says nothing that could be told from other text. */
const MIN_SECRET_LENGTH = 6

export interface DiagnosticFacts {
  readonly title: string
  readonly stage: CliStage
  readonly problem: string
  /** The program's own words of its failure. */
  readonly said?: string | undefined
  /** What it wrote to its standard error. */
  readonly stderr?: string | undefined
  /** What the settings put into its environment: no value of it is told. */
  readonly env: Readonly<Record<string, string>>
}

/** What went wrong, for the person and for who asked: which program, where it stood, why, and its last words. No secrets, no messages of the protocol. */
export function diagnosticOf({ title, stage, problem, said, stderr = '', env }: DiagnosticFacts): string {
  const clean = (text: string) => withoutValues(redactSecrets(withoutMessages(stripAnsi(text))), env).trim()
  const words = fitBytes(clean(said ?? ''), MAX_SAID_BYTES).text
  const last = fitTailBytes(clean(stderr), MAX_LAST_WORDS_BYTES).text
  const lines = [`${title} failed (${stage}). ${problem}`, words !== '' && `It said: ${words}`, last !== '' && `Its last words: ${last}`]
  return fitBytes(lines.filter((line) => line !== false).join('\n'), MAX_DIAGNOSTIC_BYTES).text
}

/** Some programs print what they send. */
const withoutMessages = (text: string) => text.split('\n').filter((line) => !/^\s*[{[]/.test(line)).join('\n')

function withoutValues(text: string, env: Readonly<Record<string, string>>): string {
  return Object.entries(env).reduce((left, [name, value]) => (value.length < MIN_SECRET_LENGTH ? left : left.replaceAll(value, `[${name} left out]`)), text)
}
