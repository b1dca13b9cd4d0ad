import { signal } from '@preact/signals'
import { render } from 'preact'
import { act } from 'preact/test-utils'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Row } from '../../../extension/protocol/view-state.ts'
import { AppContext, type App } from '../../../webview/components/app-context.ts'
import { RetryRowView } from '../../../webview/components/rows/small-rows.tsx'

let place: HTMLElement
beforeEach(() => {
  place = document.createElement('div')
  document.body.append(place)
})
afterEach(() => {
  render(null, place)
  place.remove()
})

const start = 1_000_000_000
const hour = 3_600_000

it('counts a wait down, and never up when the clock is set back', async () => {
  const now = signal(start)
  const row = signal<Row>({ kind: 'retry', id: 'r', turn: 1, reason: 'Busy', code: 'RATE_LIMIT', retry: 1, maxRetries: 5, resumesAt: start + 12_000 })
  // All that such a row reads of the application.
  const app = { now, store: { state: { session: signal(null) } } } as unknown as App
  await act(() => render(<AppContext.Provider value={app}><RetryRowView entry={{ id: 'r', row, foldClass: 'keep', turn: 1, kind: 'retry' }} /></AppContext.Provider>, place))
  const shown = () => /\d+ s|\d+ min|\d+ h/.exec(place.textContent ?? '')?.[0]
  const seen = [shown()]
  for (const time of [start + 2_000, start - 8 * hour, start + 8 * hour]) {
    await act(() => void (now.value = time))
    seen.push(shown())
  }
  expect(seen).toEqual(['12 s', '10 s', '12 s', '0 s'])
})
