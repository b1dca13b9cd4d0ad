import { stableStringify, type JsonObject } from '../../base/json.ts'
import type { SandboxMode, SessionEvent } from '../log/event.ts'
import type { Session } from '../session/session.ts'
import type { PermissionRuleSetting } from '../settings/specs.ts'
import { ruleChoiceFrom, type RuleChoice } from './rules.ts'

/** What the log of a session says about its permissions. Absent: it says nothing yet. */
export interface SessionPermissions {
  preset?: string
  mode?: SandboxMode
  policy?: 'ask' | 'never'
  /** Standing answers until the session ends. */
  rules: readonly PermissionRuleSetting[]
  /** Those of them that hold for every agent it started too. */
  treeRules: readonly PermissionRuleSetting[]
  isTurnOpen: boolean
  /** How often each rule had a say, by its JSON text. */
  readonly uses: Map<string, number>
}

/** Folds each session's log as far as it has come; a call reads only what is new since the last one. */
export function createPermissionFold(): (session: Session) => SessionPermissions {
  const folds = new WeakMap<Session, { readonly state: SessionPermissions; seen: number }>()
  return (session) => {
    let fold = folds.get(session)
    if (fold === undefined) {
      fold = { state: { rules: [], treeRules: [], isTurnOpen: false, uses: new Map() }, seen: 0 }
      folds.set(session, fold)
    }
    if (fold.seen < session.length) {
      const { seedLength = 0 } = session.header
      for (const event of session.events(fold.seen)) {
        // A fork is another session: answers that held until the end of its parent's are not its own.
        if ((event.type !== 'approval/decided' && event.type !== 'permission/rule-granted' && event.type !== 'tool/result') || event.seq >= seedLength) step(fold.state, event)
      }
      fold.seen = session.length
    }
    return fold.state
  }
}

function step(state: SessionPermissions, event: SessionEvent): void {
  switch (event.type) {
    case 'permission/preset':
      state.preset = event.data.preset
      break
    case 'sandbox/mode':
      state.mode = event.data.mode
      break
    case 'approval/policy':
      state.policy = event.data.policy
      break
    case 'turn/start':
      state.isTurnOpen = true
      break
    case 'turn/end':
      state.isTurnOpen = false
      break
    case 'approval/decided':
      state.rules = [...state.rules, ...rulesOf(event.data.rule, 'session')]
      break
    case 'permission/rule-granted':
      state.treeRules = [...state.treeRules, ...rulesOf(event.data.rule, 'tree')]
      break
    case 'tool/result':
      for (const rule of event.data.policy?.rules ?? []) state.uses.set(rule, (state.uses.get(rule) ?? 0) + 1)
      break
    case 'permission/rule-revoked':
      state.rules = state.rules.filter((rule) => ruleKey(rule) !== event.data.rule)
      state.treeRules = state.treeRules.filter((rule) => ruleKey(rule) !== event.data.rule)
      break
    default:
      break
  }
}

/** The same text for the same rule. */
export const ruleKey = (rule: PermissionRuleSetting): string => stableStringify(rule as JsonObject)

function rulesOf(text: string | undefined, scope: RuleChoice['scope']): readonly PermissionRuleSetting[] {
  if (text === undefined) return []
  try {
    const choice = ruleChoiceFrom(JSON.parse(text) as never)
    return choice?.scope === scope ? choice.rules : []
  } catch {
    // Text of another version: a rule that cannot be read allows nothing.
    return []
  }
}
