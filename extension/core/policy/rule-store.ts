import type { Logger } from '../../capabilities/logger.ts'
import type { SettingsSource } from '../../capabilities/settings-source.ts'
import { permissionRuleSchema, settings as specs, type PermissionRuleSetting } from '../settings/specs.ts'
import type { ListedRule } from './permissions.ts'
import { commandRuleText, parseRule, type Rule } from './rules.ts'

/** The rules that stand in the settings, entry by entry: a bad one is left out and spoils no other. */
export interface RuleStore {
  rules(): readonly Rule[]
  list(): readonly ListedRule[]
  /** Errors: the failure of the settings. */
  add(rules: readonly PermissionRuleSetting[]): Promise<void>
  revoke(rule: ListedRule): Promise<void>
}

export function createRuleStore(source: SettingsSource, logger: Logger): RuleStore {
  const { key } = specs.permissionsRules
  let known: { readonly text: string; readonly listed: readonly ListedRule[]; readonly rules: readonly Rule[] } | undefined
  let writing: Promise<void> = Promise.resolve()

  function current() {
    const { user, workspace } = source.inspect(key)
    const text = JSON.stringify([user, workspace])
    if (known?.text === text) return known
    const person = entriesOf(user).flatMap((entry) => read(entry, false, logger))
    // A repository may forbid; it may not allow itself anything.
    const repository = entriesOf(workspace).flatMap((entry) => read(entry, true, logger))
    const listed = [...person, ...repository.filter(({ rule }) => rule.decision !== 'allow')]
    known = { text, listed, rules: listed.map(parsed) }
    return known
  }

  /** One change after the other: each starts from what the last one wrote. */
  function change(edit: (entries: readonly unknown[]) => readonly unknown[]): Promise<void> {
    const done = writing.then(() => source.set(key, edit(entriesOf(source.inspect(key).user)), 'user'))
    writing = done.catch(() => undefined)
    return done
  }

  return {
    rules: () => current().rules,
    list: () => current().listed,
    add: (rules) => change((entries) => [...entries, ...rules.filter((rule) => !entries.some((entry) => sameRule(entry, rule)))]),
    revoke({ rule, isFromWorkspace }) {
      if (isFromWorkspace) return Promise.reject(new Error('This rule stands in the workspace’s settings. Take it out there.'))
      return change((entries) => entries.filter((entry) => !sameRule(entry, rule)))
    },
  }
}

/** A rule as it is judged by, with where it stands. */
export const parsed = ({ rule, scope, isFromWorkspace }: Pick<ListedRule, 'rule' | 'scope' | 'isFromWorkspace'>): Rule => parseRule(rule, isFromWorkspace ? 'workspace-settings' : scope)

/** Its rules name a plugin where those of a shell name a command. */
const PLUGIN_TOOL = 'cordis_run'

/** A rule in words. */
export function ruleText(rule: PermissionRuleSetting): string {
  const { tool, command, path, host, folder, decision } = parseRule(rule, 'always')
  const named = tool === PLUGIN_TOOL ? 'every version of the plugin ' : ''
  const what = command !== null ? `${named}\`${commandRuleText(command)}\`` : path !== null ? `${tool} in ${path}` : host !== null ? `${tool} to reach ${host}` : tool === '*' ? 'every tool' : tool
  const verb = { allow: 'Allow', ask: 'Ask before', deny: 'Deny' }[decision]
  return `${verb} ${what}${folder === null ? '' : ` in ${folder}`}`
}

function read(entry: unknown, isFromWorkspace: boolean, logger: Logger): readonly ListedRule[] {
  const outcome = permissionRuleSchema.safeParse(entry)
  try {
    if (!outcome.success) throw outcome.error
    const rule = outcome.data
    return [{ text: ruleText(rule), scope: rule.folder === undefined ? 'always' : 'workspace', isFromWorkspace, rule }]
  } catch {
    // The settings service tells the person; here the rule just does not hold.
    logger.warn('A rule in bosun.permissions.rules cannot be read and does not hold.', { rule: JSON.stringify(entry) })
    return []
  }
}

const entriesOf = (raw: unknown): readonly unknown[] => (Array.isArray(raw) ? (raw as readonly unknown[]) : [])

function sameRule(entry: unknown, rule: PermissionRuleSetting): boolean {
  const outcome = permissionRuleSchema.safeParse(entry)
  if (!outcome.success) return false
  return (['tool', 'match', 'path', 'host', 'folder', 'decision'] as const).every((key) => outcome.data[key] === rule[key])
}
