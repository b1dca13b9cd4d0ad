import { describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { ListedRule, Permissions } from '../../../extension/core/policy/permissions.ts'
import { ruleKey } from '../../../extension/core/policy/session-permissions.ts'
import type { PermissionRuleSetting } from '../../../extension/core/settings/specs.ts'
import { createRulesPage } from '../../../extension/host/rules-page.ts'

const l10n = { t: fillIn }
const listed = (rule: PermissionRuleSetting, scope: ListedRule['scope'] = 'always', isFromWorkspace = false): ListedRule => ({ text: '', scope, isFromWorkspace, rule })

function pageOf(rules: readonly ListedRule[], uses: ReadonlyMap<string, number> = new Map()) {
  const revoked: ListedRule[] = []
  // The page asks for these three alone.
  const permissions = { rules: () => rules, uses: () => uses, revoke: async (rule: ListedRule) => void revoked.push(rule) } as unknown as Permissions
  return { page: createRulesPage({ permissions, l10n }), revoked }
}

describe('the page of rules', () => {
  const rows: readonly [rule: PermissionRuleSetting, text: string][] = [
    [{ tool: 'bash', match: 'npm test *', decision: 'allow' }, 'Commands that begin with `npm test`'],
    [{ tool: 'bash', match: 'make all', decision: 'allow' }, 'The command `make all`'],
    [{ tool: 'bash', match: "'npm test > out.txt'", decision: 'allow' }, 'The command `npm test > out.txt`'],
    [{ tool: 'bash', host: 'docs.example.com', decision: 'allow' }, 'Commands that read from `docs.example.com`'],
    [{ tool: '*', host: '*.evil.test', decision: 'deny' }, 'Everything that reaches `*.evil.test`'],
    [{ tool: 'edit', path: 'src/**', decision: 'allow' }, 'Changing files in `src/**`'],
    [{ tool: 'grep', path: '/etc/**', decision: 'allow' }, 'Reading files in `/etc/**`'],
    [{ tool: '*', path: 'vault/**', decision: 'deny' }, 'Every tool in `vault/**`'],
    [{ tool: 'bash', decision: 'ask' }, 'Every command of `bash`'],
    [{ tool: 'mcp__mail', decision: 'allow' }, 'The tool `mcp__mail`'],
    [{ tool: '*', decision: 'deny' }, 'Every tool'],
  ]
  it.each(rows)('says in words what %j speaks of', (rule, text) => expect(pageOf([listed(rule)]).page.view('s').rules.map((view) => [view.text, view.decision])).toEqual([[text, rule.decision]]))

  const write = listed({ tool: 'write', path: '**', folder: '/w', decision: 'allow' }, 'session')
  const edit = listed({ tool: 'edit', path: '**', folder: '/w', decision: 'allow' }, 'session')

  it('makes one line of what one answer kept, with its uses together, and revokes all of it', async () => {
    const { page, revoked } = pageOf([write, edit], new Map([[ruleKey(write.rule), 2], [ruleKey(edit.rule), 3]]))
    const [line, ...others] = page.view('s').rules
    expect([line, others]).toEqual([{ id: expect.any(String), decision: 'allow', scope: 'session', text: 'Changing files in `**`', folder: '/w', uses: 5 }, []])
    await page.revoke('s', line?.id ?? '')
    await page.revoke('s', 'gone')
    expect(revoked).toEqual([write, edit])
  })
  it('tells what stands in the settings of the workspace apart', () =>
    expect(pageOf([listed(write.rule), listed(write.rule, 'always', true)]).page.view(undefined).rules.map(({ scope }) => scope)).toEqual(['always', 'workspace-settings']))
})
