import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { RuleView } from '../../extension/protocol/view-state.ts'
import { plural, t } from '../l10n.ts'
import { useApp } from './app-context.ts'
import { CodeText } from './code-text.tsx'
import { Icon } from './icon.tsx'
import { IconButton } from './icon-button.tsx'

/** The standing answers over the chat, by how long they hold: read them, take them back. */
export function RulesPage() {
  const page = useApp().store.state.rules.value
  return page === null ? null : <Rules rules={page.rules} />
}

const groups: readonly { readonly scope: RuleView['scope']; readonly title: string; readonly hint: string }[] = [
  { scope: 'session', title: 'This session', hint: 'Gone when the session ends' },
  { scope: 'workspace', title: 'This workspace', hint: 'Kept in your settings' },
  { scope: 'always', title: 'Everywhere', hint: 'Kept in your settings' },
  { scope: 'workspace-settings', title: 'Settings of the workspace', hint: 'Only stricter; take them out there' },
]

function Rules({ rules }: { readonly rules: readonly RuleView[] }) {
  const { actions } = useApp()
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const opener = document.activeElement
    box.current?.focus()
    return () => (opener instanceof HTMLElement ? opener.focus() : undefined)
  }, [])
  const onKeyDown = (event: KeyboardEvent) => {
    const rows = [...(box.current?.querySelectorAll<HTMLElement>('.rule') ?? [])]
    const at = rows.findIndex((row) => row.contains(document.activeElement))
    if (event.key === 'Escape') actions.closeRules()
    else if (event.key === 'ArrowDown') rows[Math.min(at + 1, rows.length - 1)]?.focus()
    else if (event.key === 'ArrowUp') rows[Math.max(at - 1, 0)]?.focus()
    else if (event.key === 'Delete' && at >= 0) rows[at]?.querySelector<HTMLElement>('.rule-revoke')?.click()
    else return
    event.stopPropagation()
    event.preventDefault()
  }
  return (
    <div class="rules" role="dialog" aria-label={t('Permission rules')} tabIndex={-1} ref={box} onKeyDown={onKeyDown}>
      <div class="rules-head">
        <h2>{t('Permission rules')}</h2>
        <IconButton icon="shield" label={t('Choose permissions')} onPress={actions.pickPermission} />
        <IconButton icon="close" label={t('Close')} onPress={actions.closeRules} />
      </div>
      {rules.length === 0 ? <Empty /> : <div class="rules-body">{groups.map((group) => <Group key={group.scope} {...group} rules={rules.filter(({ scope }) => scope === group.scope)} />)}</div>}
    </div>
  )
}

const Empty = () => (
  <div class="rules-empty">
    <Icon name="law" />
    <p>{t('There are no rules yet.')}</p>
    <p>{t('When Bosun asks, “Always allow…” keeps your answer. It then stands here, and can be taken back.')}</p>
  </div>
)

function Group({ scope, title, hint, rules }: { readonly scope: RuleView['scope']; readonly title: string; readonly hint: string; readonly rules: readonly RuleView[] }) {
  if (rules.length === 0) return null
  return (
    <section class="rule-group" aria-labelledby={`rules-${scope}`}>
      <h3 id={`rules-${scope}`} title={t(hint)}>
        {t(title)}
        <span class="rule-hint">{t(hint)}</span>
      </h3>
      <ul>
        {rules.map((rule) => (
          <Rule key={rule.id} rule={rule} />
        ))}
      </ul>
    </section>
  )
}

const decisions = {
  allow: { icon: 'pass', text: 'Allowed' },
  ask: { icon: 'question', text: 'Asks first' },
  deny: { icon: 'circle-slash', text: 'Denied' },
} as const

function Rule({ rule }: { readonly rule: RuleView }) {
  const { actions } = useApp()
  const { icon, text } = decisions[rule.decision]
  // What forbids is not taken away by one slip.
  const isSure = useSignal(rule.decision === 'allow')
  const isKept = rule.scope !== 'workspace-settings'
  const label = isSure.value || !isKept ? t('Revoke') : t('Revoke…')
  return (
    <li class={`rule rule-${rule.decision}`} tabIndex={0} aria-label={`${t(text)}: ${rule.text.replaceAll('`', '')}`}>
      <Icon name={icon} />
      <span class="rule-text" dir="auto">
        <CodeText text={rule.text} />
        <span class="rule-detail">
          {[t(text), ...(rule.uses > 0 ? [plural(rule.uses, 'used once in this session', 'used {0} times in this session')] : []), ...(rule.folder === null ? [] : [rule.folder])].join(' · ')}
        </span>
      </span>
      {isKept && (
        <button
          type="button"
          class="button-secondary rule-revoke"
          onClick={() => {
            if (isSure.value) actions.revokeRule(rule.id)
            else isSure.value = true
          }}
          onBlur={() => (isSure.value = rule.decision === 'allow')}
        >
          {isSure.value && rule.decision !== 'allow' ? t('Revoke it?') : label}
        </button>
      )}
    </li>
  )
}
