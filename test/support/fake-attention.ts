import type { Attention, AttentionRequest } from '../../extension/capabilities/attention.ts'

export interface FakeAttention extends Attention {
  /** Notifications that stand now, oldest first. */
  readonly standing: readonly AttentionRequest[]
  readonly told: readonly { readonly level: string; readonly text: string }[]
  /** Buttons that are clicked on what is told next, in order; none left means none. */
  readonly clicks: string[]
  /** Click a button of the oldest notification. */
  click(buttonId: string): void
}

/** Notifications that stand until a test clicks them or the asker takes them back. */
export function createFakeAttention(): FakeAttention {
  const standing: (AttentionRequest & { readonly answer: (choice: string | null) => void })[] = []
  const clicks: string[] = []
  const told: { level: string; text: string }[] = []
  const drop = (entry: (typeof standing)[number], choice: string | null) => {
    const index = standing.indexOf(entry)
    if (index < 0) return
    standing.splice(index, 1)
    entry.answer(choice)
  }
  return {
    standing,
    told,
    clicks,
    click: (buttonId) => standing[0] !== undefined && drop(standing[0], buttonId),
    ask: (request) =>
      new Promise((answer) => {
        const entry = { ...request, answer }
        standing.push(entry)
        request.signal.addEventListener('abort', () => drop(entry, null), { once: true })
      }),
    async tell({ level, text }) {
      told.push({ level, text })
      return clicks.shift() ?? null
    },
  }
}
