import type { Localization } from '../capabilities/localization.ts'
import type { ListedRule, Permissions } from '../core/policy/permissions.ts'
import { commandRuleText, parseRule } from '../core/policy/rules.ts'
import { ruleKey } from '../core/policy/session-permissions.ts'
import type { RulesPageView, RuleView } from '../protocol/view-state.ts'

interface Parts {
  readonly permissions: Permissions
  readonly l10n: Localization
}

/** The page that lists the standing answers and takes them back. */
export function createRulesPage({ permissions, l10n }: Parts) {
  /** Rules that one answer made are one line. */
  function lines(sessionId: string | undefined): readonly { readonly view: RuleView; readonly rules: readonly ListedRule[] }[] {
    const uses = sessionId === undefined ? new Map<string, number>() : permissions.uses(sessionId)
    const found = new Map<string, { view: RuleView; rules: ListedRule[] }>()
    for (const listed of permissions.rules(sessionId)) {
      const count = uses.get(ruleKey(listed.rule)) ?? 0
      const view = viewOf(listed, count)
      const known = found.get(view.id)
      if (known === undefined) found.set(view.id, { view, rules: [listed] })
      else {
        known.rules.push(listed)
        known.view = { ...known.view, uses: known.view.uses + count }
      }
    }
    return [...found.values()]
  }

  function viewOf({ rule, scope, isFromWorkspace }: ListedRule, uses: number): RuleView {
    const place = isFromWorkspace ? 'workspace-settings' : scope
    const text = words(rule)
    const folder = rule.folder ?? null
    return { id: JSON.stringify([place, rule.decision, text, folder]), decision: rule.decision, scope: place, text, folder, uses }
  }

  function words(setting: ListedRule['rule']): string {
    const { t } = l10n
    const { tool, command, path, host } = parseRule(setting, 'always')
    if (command !== null) return command.isPrefix ? t('Commands that begin with {command}', { command: code(commandRuleText({ ...command, isPrefix: false })) }) : t('The command {command}', { command: code(command.words.length === 1 ? (command.words[0] ?? '') : commandRuleText(command)) })
    if (host !== null && tool === 'web_fetch') return t('Reading pages of {host}', { host: code(host) })
    if (host !== null) return tool === '*' ? t('Everything that reaches {host}', { host: code(host) }) : t('Commands that read from {host}', { host: code(host) })
    if (path !== null) {
      if (tool === 'write' || tool === 'edit') return t('Changing files in {path}', { path: code(path) })
      if (tool === 'read' || tool === 'glob' || tool === 'grep') return t('Reading files in {path}', { path: code(path) })
      return tool === '*' ? t('Every tool in {path}', { path: code(path) }) : t('{tool} in {path}', { tool: code(tool), path: code(path) })
    }
    if (tool === '*') return t('Every tool')
    return tool === 'bash' || tool === 'pwsh' ? t('Every command of {tool}', { tool: code(tool) }) : t('The tool {tool}', { tool: code(tool) })
  }

  return {
    view: (sessionId: string | undefined): RulesPageView => ({ rules: lines(sessionId).map(({ view }) => view) }),
    /** Errors: the failure of the settings. */
    async revoke(sessionId: string | undefined, id: string): Promise<void> {
      for (const rule of lines(sessionId).find(({ view }) => view.id === id)?.rules ?? []) await permissions.revoke(rule)
    },
  }
}

const code = (text: string) => `\`${text.replaceAll('`', 'ˋ')}\``
