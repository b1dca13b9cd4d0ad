import { describe, expect, it } from 'vitest'
import { createUiState } from '../../../webview/store/ui-state.ts'

const withSaved = (state: unknown) => {
  const saved: unknown[] = []
  const ui = createUiState({ getState: () => state, setState: (next) => void saved.push(next) }, (work) => work())
  return { ui, saved, again: () => createUiState({ getState: () => structuredClone(saved.at(-1)), setState: () => undefined }, (work) => work()) }
}

describe('UI intent', () => {
  it('survives a reload of the page', () => {
    const { ui, again } = withSaved(undefined)
    ui.setOpen('a', true)
    ui.setDraft('s1', 'half a thou')
    ui.setScrollPlace('s1', { itemId: 'r4', offsetPx: 12 })
    ui.addSending({ id: 'm1', sessionId: 's1', text: 'hi' })
    const next = again()
    expect([next.isOpen('a'), next.isOpen('b'), next.draft('s1', ''), next.scrollPlace('s1'), next.sending.value]).toEqual([
      true,
      undefined,
      'half a thou',
      { itemId: 'r4', offsetPx: 12 },
      [{ id: 'm1', sessionId: 's1', text: 'hi' }],
    ])
  })

  for (const broken of [null, 7, 'x', [], { open: 3, drafts: [['a']], sending: [{}], scroll: [['a', null]] }])
    it(`counts as none when it reads ${JSON.stringify(broken)}`, () => {
      const { ui } = withSaved(broken)
      expect([ui.isOpen('a'), ui.draft('s1', 'host'), ui.sending.value, ui.scrollPlace('a')]).toEqual([undefined, 'host', [], null])
    })

  it('keeps the newest thousand openings', () => {
    const { ui } = withSaved(undefined)
    for (let index = 0; index < 1_001; index += 1) ui.setOpen(`r${index}`, true)
    expect([ui.isOpen('r0'), ui.isOpen('r1'), ui.isOpen('r1000')]).toEqual([undefined, true, true])
  })
})

describe('a draft', () => {
  it('typed here after the host last heard wins over the host’s', () => {
    const { ui } = withSaved(undefined)
    ui.draft('s1', 'one')
    ui.setDraft('s1', 'one two')
    expect(ui.draft('s1', 'one')).toBe('one two')
  })

  it('changed elsewhere wins over the one here', () => {
    const { ui } = withSaved(undefined)
    ui.draft('s1', 'one')
    ui.setDraft('s1', 'one two')
    ui.draftTold('s1', 'one two')
    expect(ui.draft('s1', 'from another view')).toBe('from another view')
  })
})

it('forgets a message once the host answered', () => {
  const { ui } = withSaved(undefined)
  ui.addSending({ id: 'm1', sessionId: 's1', text: 'hi' })
  expect([ui.takeSending('m1')?.text, ui.takeSending('m1'), ui.sending.value]).toEqual(['hi', undefined, []])
})
