import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionView } from '../../../extension/protocol/view-state.ts'
import { UsageButton } from '../../../webview/components/usage-button.tsx'
import { viewState } from '../store/fixture-rows.ts'

const session: SessionView = {
  ...viewState([]).session!,
  contextShare: 0.34,
  window: { usedTokens: 1000, windowTokens: 2000, parts: [{ part: 'toolResults', tokens: 700 }, { part: 'system', tokens: 300 }], tools: [{ name: 'read', tokens: 600 }, { name: null, tokens: 100 }] },
  cost: { amount: 0.5, isWhole: true, words: '$0.50', startedWords: null, inputTokens: 100, cacheRead: 900, cacheWrite: 0, outputTokens: 50, reasoning: 0, budgets: [] },
}

let place: HTMLElement
beforeEach(() => {
  place = document.createElement('div')
  document.body.append(place)
})
afterEach(() => {
  render(null, place)
  place.remove()
})

const show = (more: Partial<SessionView> = {}) => act(() => render(<UsageButton session={{ ...session, ...more }} />, place))
const button = () => place.querySelector('button')!
const open = () => act(() => button().click())
const lines = () => [...place.querySelectorAll('tr')].map((row) => [...row.querySelectorAll('th, td:not([aria-hidden])')].map(({ textContent }) => textContent).join(' ').trim())

describe('the ring and what was paid', () => {
  it('say both in words to a reader', async () => {
    await show()
    expect([button().title, button().textContent, button().getAttribute('aria-expanded')]).toEqual(['Context 34% full, $0.50 so far', '34%$0.50', 'false'])
  })

  for (const [case_, more, name] of [
    ['share and money', {}, 'Context and cost: 34% $0.50'],
    ['share and tokens', { cost: null, usage: { ...session.usage, inputTokens: 1_000 } }, 'Context and tokens: 34% 1k'],
    ['money alone', { contextShare: null }, 'Cost: $0.50'],
  ] satisfies [string, Partial<SessionView>, string][]) {
    it(`are called by what stands there: ${case_}`, async () => {
      await show(more)
      expect(button().getAttribute('aria-label')).toBe(name)
    })
  }

  it('never show a part of a sum as the whole', async () => {
    await show({ cost: { ...session.cost!, isWhole: false, words: 'at least $0.50' } })
    expect([button().textContent, button().title]).toEqual(['34%$0.50+', 'Context 34% full, at least $0.50 so far'])
  })

  it('show tokens where no price is known', async () => {
    await show({ cost: { ...session.cost!, amount: null, words: 'price unknown' } })
    expect(button().textContent).toBe('34%1.1k')
  })

  it('warn when a limit is near', async () => {
    await show({ cost: { ...session.cost!, budgets: [{ words: 'nearly', share: 0.8 }] } })
    expect(button().classList.contains('is-near')).toBe(true)
  })

  it('count no turns before the first has ended', async () => {
    await show({ usage: { ...session.usage, turns: 0, steps: 3 } })
    await open()
    expect(lines()).toContain('Length 3 steps')
  })

  it('are not there before anything was used', async () => {
    await show({ contextShare: null, window: null, cost: null, usage: { ...session.usage, inputTokens: 0, outputTokens: 0, cacheRead: 0, reasoning: 0 } })
    expect(place.textContent).toBe('')
  })
})

describe('opened', () => {
  it('say what is in the window, with the output of tools by tool, and what was used', async () => {
    await show()
    await open()
    expect(lines().slice(0, -1)).toEqual(['Tool output 700 70%', 'read 600 60%', 'other tools 100 10%', 'System prompt 300 30%', 'Read from the cache 900 90%', 'Read anew 100 10%', 'Written 50'])
    expect(place.querySelector('[role=dialog]')?.getAttribute('aria-label')).toBe('What is in the window, and what was used')
  })

  it('name the limits', async () => {
    await show({ cost: { ...session.cost!, startedWords: '$0.10', budgets: [{ words: '$0.50 of the $1.00 that this session may cost', share: 0.5 }] } })
    await open()
    expect(place.textContent).toContain('$0.50 of the $1.00 that this session may cost')
    expect(lines()).toContain('Of that, agents it started $0.10')
  })

  it('close by Escape', async () => {
    await show()
    await open()
    await act(() => void place.querySelector('[role=dialog]')!.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true })))
    expect(place.querySelector('[role=dialog]')).toBeNull()
  })
})
