import { useSignal } from '@preact/signals'
import type { CostView, SessionView, WindowPartView, WindowView } from '../../extension/protocol/view-state.ts'
import { formatDollars } from '../../extension/base/money.ts'
import { formatNumber, plural, t } from '../l10n.ts'
import { formatShare, formatTokens } from '../text/format.ts'
import { Bubble } from './bubble.tsx'
import { ContextRing } from './context-ring.tsx'
import { MenuAnchor } from './menu.tsx'

/** How full the window is and what was paid; opens what is in the window and where the tokens went. */
export function UsageButton({ session }: { readonly session: SessionView }) {
  const isOpen = useSignal(false)
  const { contextShare, cost, usage } = session
  const tokens = tokensOf(session)
  if (tokens === 0 && contextShare === null) return null
  const percent = contextShare === null ? null : Math.round(contextShare * 100)
  const isNear = cost?.budgets.some(({ share }) => share >= NEAR) === true
  const paid = cost?.amount == null ? null : `${formatDollars(cost.amount)}${cost.isWhole ? '' : '+'}`
  const used = paid === null ? t('{0} tokens used', formatNumber(tokens)) : t('{0} so far', cost?.words ?? '')
  const title = percent === null ? used : t('Context {0}% full, {1}', percent, used)
  const shown = paid ?? formatTokens(tokens)
  // Who speaks to the editor says what stands there, so the name holds it as it stands; the words come as its description.
  const what = paid === null ? (percent === null ? 'Tokens: {0}' : 'Context and tokens: {0}') : percent === null ? 'Cost: {0}' : 'Context and cost: {0}'
  return (
    <MenuAnchor isWide>
      <button type="button" class={isNear ? 'usage is-near' : 'usage'} title={title} aria-label={t(what, percent === null ? shown : `${percent}% ${shown}`)} aria-haspopup="dialog" aria-expanded={isOpen.value} onClick={() => (isOpen.value = !isOpen.value)}>
        {contextShare !== null && <ContextRing share={contextShare} />}
        {percent !== null && <span class="usage-percent">{percent}%</span>}
        <span class="usage-paid">{shown}</span>
      </button>
      {isOpen.value && (
        <Bubble label={t('What is in the window, and what was used')} onClose={() => (isOpen.value = false)}>
          <div class="usage-panel">
            {session.window !== null && <WindowTable window={session.window} percent={percent} />}
            <UsageTable cost={cost} usage={usage} />
            {cost !== null && cost.budgets.length > 0 && <Budgets budgets={cost.budgets} />}
          </div>
        </Bubble>
      )}
    </MenuAnchor>
  )
}

const NEAR = 0.8

function tokensOf({ cost, usage }: SessionView): number {
  const { inputTokens, cacheRead, outputTokens, reasoning } = cost ?? usage
  return inputTokens + cacheRead + outputTokens + reasoning + (cost?.cacheWrite ?? 0)
}

const partNames: Readonly<Record<WindowPartView['part'], string>> = {
  system: 'System prompt',
  tools: 'Tools',
  instructions: 'Instruction files',
  runtimeContext: 'Facts of the editor',
  prompts: 'Your messages',
  notices: 'Notes to the model',
  assistantText: 'Answers',
  reasoning: 'Thoughts',
  toolCalls: 'Tool calls',
  toolResults: 'Tool output',
  summary: 'Summary',
}

function WindowTable({ window: { parts, tools, usedTokens, windowTokens }, percent }: { readonly window: WindowView; readonly percent: number | null }) {
  const largest = parts[0]?.tokens ?? 1
  return (
    <section aria-label={t('In the window')}>
      <div class="usage-head">
        <h2>{t('In the window')}</h2>
        <span>{windowTokens === null ? t('{0} tokens', formatTokens(usedTokens)) : t('{0} of {1}', formatTokens(usedTokens), formatTokens(windowTokens))}</span>
      </div>
      {percent !== null && <Meter share={percent / 100} />}
      <table class="usage-table">
        <tbody>
          {parts.flatMap(({ part, tokens }) => [
            <WindowLine key={part} name={t(partNames[part])} tokens={tokens} of={usedTokens} largest={largest} />,
            ...(part === 'toolResults' && tools.length > 1 ? tools : []).map((tool) => (
              <WindowLine key={`tool ${tool.name ?? ''}`} name={tool.name ?? t('other tools')} tokens={tool.tokens} of={usedTokens} largest={largest} isTool />
            )),
          ])}
        </tbody>
      </table>
    </section>
  )
}

function WindowLine({ name, tokens, of, largest, isTool = false }: { readonly name: string; readonly tokens: number; readonly of: number; readonly largest: number; readonly isTool?: boolean }) {
  return (
    <tr class={isTool ? 'is-tool' : ''}>
      <th scope="row">{name}</th>
      <td class="usage-bar" aria-hidden="true">
        <span style={{ width: `${Math.max(2, Math.round((tokens / largest) * 100))}%` }} />
      </td>
      <td>{formatTokens(tokens)}</td>
      <td class="usage-share">{formatShare(tokens, of)}</td>
    </tr>
  )
}

function UsageTable({ cost, usage }: { readonly cost: CostView | null; readonly usage: SessionView['usage'] }) {
  const { inputTokens, cacheRead, outputTokens, reasoning } = cost ?? usage
  const cacheWrite = cost?.cacheWrite ?? 0
  const read = inputTokens + cacheRead + cacheWrite
  return (
    <section aria-label={t('So far')}>
      <div class="usage-head">
        <h2>{t('So far')}</h2>
        {cost !== null && <span>{cost.words}</span>}
      </div>
      <table class="usage-table">
        <tbody>
          {cost?.startedWords != null && <WordsLine name={t('Of that, agents it started')} words={cost.startedWords} />}
          <UsageLine name={t('Read from the cache')} value={formatTokens(cacheRead)} share={formatShare(cacheRead, read)} />
          <UsageLine name={t('Read anew')} value={formatTokens(inputTokens)} share={formatShare(inputTokens, read)} />
          {cacheWrite > 0 && <UsageLine name={t('Read into the cache')} value={formatTokens(cacheWrite)} share={formatShare(cacheWrite, read)} />}
          <UsageLine name={t('Written')} value={formatTokens(outputTokens)} />
          {reasoning > 0 && <UsageLine name={t('Thought')} value={formatTokens(reasoning)} />}
          <WordsLine name={t('Length')} words={[...(usage.turns > 0 ? [plural(usage.turns, '{0} turn', '{0} turns')] : []), plural(usage.steps, '{0} step', '{0} steps')].join(', ')} />
        </tbody>
      </table>
    </section>
  )
}

const UsageLine = ({ name, value, share }: { readonly name: string; readonly value: string; readonly share?: string }) => (
  <tr>
    <th scope="row">{name}</th>
    <td>{value}</td>
    <td class="usage-share">{share ?? ''}</td>
  </tr>
)

const WordsLine = ({ name, words }: { readonly name: string; readonly words: string }) => (
  <tr>
    <th scope="row">{name}</th>
    <td colSpan={2}>{words}</td>
  </tr>
)

const Budgets = ({ budgets }: { readonly budgets: CostView['budgets'] }) => (
  <section aria-label={t('Limits')}>
    <div class="usage-head">
      <h2>{t('Limits')}</h2>
    </div>
    {budgets.map(({ words, share }) => (
      <div key={words} class="usage-budget">
        <span>{words}</span>
        <Meter share={share} />
      </div>
    ))}
  </section>
)

const Meter = ({ share }: { readonly share: number }) => (
  <div class={share >= NEAR ? 'usage-meter is-near' : 'usage-meter'} aria-hidden="true">
    <span style={{ width: `${Math.min(100, Math.round(share * 100))}%` }} />
  </div>
)
