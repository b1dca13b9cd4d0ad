import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { SandboxMode } from '../log/event.ts'

/** From the narrowest to the widest. */
const modes: readonly SandboxMode[] = ['read-only', 'workspace-write', 'danger-full-access']

/** The next wider mode. */
export const widerThan = (mode: SandboxMode): SandboxMode | null => modes[modes.indexOf(mode) + 1] ?? null

/** UTF-16 units of the reason that a person reads. */
const MAX_JUSTIFICATION = 500

export type Escalation =
  | { readonly kind: 'none' }
  /** The words are for the model. Nobody is asked. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'asked'; readonly mode: SandboxMode; readonly justification: string }

/** Whether a call asks for more than the session may, and whether it may ask so. */
export function escalationOf(args: Json, mode: SandboxMode): Escalation {
  const wanted = own(args, 'sandbox_permissions')
  const justification = own(args, 'justification')
  if (wanted === undefined && justification === undefined) return { kind: 'none' }
  if (wanted === undefined || justification === undefined) return refused('sandbox_permissions and justification go together. Give both, or neither.')
  const target = modes.find((one) => one === wanted && one !== 'read-only')
  if (target === undefined) return refused('sandbox_permissions must be "workspace-write" or "danger-full-access".')
  if (typeof justification !== 'string' || justification.trim() === '') return refused('justification is blank. Say to the person why the wider permission is needed.')
  if (modes.indexOf(target) <= modes.indexOf(mode)) return refused(`The session may do as much already: it is in ${mode} mode, and ${target} is not wider. Call it without sandbox_permissions and justification.`)
  return { kind: 'asked', mode: target, justification }
}

/** For the approval: the model's own words, marked as such, on one line. */
export function justificationWords(justification: string): string {
  const line = justification.replaceAll(/\s+/g, ' ').trim()
  return `The model says why: “${line.length > MAX_JUSTIFICATION ? `${line.slice(0, MAX_JUSTIFICATION)}…` : line}”`
}

/** For the approval, behind what would be done. */
export const reachWords = (mode: SandboxMode): string => (mode === 'danger-full-access' ? 'outside the sandbox: may write anywhere' : 'with leave to write in the workspace')

/** The declaration of the two arguments. Short: it stands in every request. */
export const escalationProperties: JsonObject = {
  sandbox_permissions: { type: 'string', enum: ['workspace-write', 'danger-full-access'], description: 'Only after the sandbox denied this very call: asks the person once.' },
  justification: { type: 'string' },
}

const refused = (reason: string): Escalation => ({ kind: 'refused', reason })

/** The arguments that the tool itself knows. */
export function withoutEscalationFields(args: Json): Json {
  if (!isJsonObject(args)) return args
  const { sandbox_permissions: _, justification: __, ...others } = args
  return others
}

/** Undefined when it is not there; the arguments may be of any shape. */
const own = (args: Json, name: string): Json | undefined => (isJsonObject(args) && Object.hasOwn(args, name) ? args[name] : undefined)
