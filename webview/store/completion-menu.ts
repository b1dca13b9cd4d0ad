import { batch, computed, signal, type ReadonlySignal } from '@preact/signals'
import type { CompletionItem, CompletionKind, HostMessage } from '../../extension/protocol/messages.ts'
import { completionAt, type CompletionPlace } from '../text/completion-place.ts'

type Answer = Extract<HostMessage, { type: 'completions' }>

/** The menu of `@` and `/` over the box. It never holds typing up: what is typed narrows it at once, the host's answer follows. */
export interface CompletionMenu {
  /** What can be chosen now; empty: no menu is shown. */
  readonly items: ReadonlySignal<readonly CompletionItem[]>
  readonly kind: ReadonlySignal<CompletionKind>
  /** What the items are looked for by. */
  readonly query: ReadonlySignal<string>
  /** Index of the item that Enter takes. */
  readonly active: ReadonlySignal<number>
  /** The box that it belongs to. */
  readonly box: ReadonlySignal<CompletionBox>
  /** The text or the place of the caret (a UTF-16 offset) in that box, by default the composer, is now this. */
  look(text: string, caret: number, box?: CompletionBox): void
  /** Beyond an end it goes on at the other. */
  move(by: number): void
  point(index: number): void
  /** Take an item, by default the active one. Null when there is none. */
  accept(index?: number): Acceptance | null
  /** Away, until the person begins another one. */
  close(): void
  answered(answer: Answer): void
}

/** In an answer there are no commands. */
export type CompletionBox = 'composer' | 'answer'

/** Put `text` in the place of the UTF-16 units from `start` to `end`. */
export interface Acceptance {
  readonly start: number
  readonly end: number
  readonly text: string
}

interface Deps {
  readonly ask: (id: string, kind: CompletionKind, query: string) => void
  readonly newId: () => string
}

export function createCompletionMenu({ ask, newId }: Deps): CompletionMenu {
  const place = signal<CompletionPlace | null>(null)
  const found = signal<{ readonly query: string; readonly items: readonly CompletionItem[] } | null>(null)
  const active = signal(0)
  const box = signal<CompletionBox>('composer')
  let asked: { readonly id: string; readonly query: string } | null = null
  /** Where the menu was sent away; it comes again with another `@` or `/`. */
  let closedAt: number | null = null

  const items = computed<readonly CompletionItem[]>(() => {
    const at = place.value
    const held = found.value
    if (at === null || held === null) return []
    return held.query === at.query ? held.items : held.items.filter((item) => mayMean(item, at.query))
  })

  return {
    items,
    kind: computed(() => place.value?.kind ?? '@'),
    query: computed(() => place.value?.query ?? ''),
    active,
    box,
    look(text, caret, where = 'composer') {
      const at = completionAt(text, caret)
      const next = where === 'answer' && at?.kind === '/' ? null : at
      if (box.peek() !== where) {
        forget()
        closedAt = null
        box.value = where
      }
      const last = place.peek()
      if (next === null || next.start !== closedAt) closedAt = null
      if (next === null || closedAt !== null) return forget()
      if (last !== null && last.kind === next.kind && last.start === next.start && last.query === next.query) {
        place.value = next
        return
      }
      batch(() => {
        if (last === null || last.kind !== next.kind || last.start !== next.start) found.value = null
        place.value = next
        active.value = 0
      })
      asked = { id: newId(), query: next.query }
      ask(asked.id, next.kind, next.query)
    },
    move(by) {
      const count = items.peek().length
      if (count > 0) active.value = (active.peek() + by + count) % count
    },
    point: (index) => void (active.value = index),
    accept(index = active.peek()) {
      const at = place.peek()
      const item = items.peek()[index]
      if (at === null || item === undefined) return null
      forget()
      return { start: at.start, end: at.end, text: item.insert }
    },
    close() {
      closedAt = place.peek()?.start ?? null
      forget()
    },
    answered({ id, items: answer, isComplete }) {
      if (asked?.id !== id) return
      const { query } = asked
      if (answer.length === 0 && !isComplete) return
      const chosen = items.peek()[active.peek()]
      batch(() => {
        found.value = { query, items: answer }
        // What the person has moved to stays chosen while more comes in.
        active.value = active.peek() === 0 ? 0 : Math.max(0, answer.findIndex(({ insert }) => insert === chosen?.insert))
      })
    },
  }

  function forget(): void {
    if (place.peek() === null) return
    asked = null
    batch(() => {
      place.value = null
      found.value = null
      active.value = 0
    })
  }
}

/** Whether an item found for other words can still be meant: a coarse guess until the host's answer is there. */
function mayMean({ label, detail, insert }: CompletionItem, query: string): boolean {
  const hay = `${insert} ${label} ${detail}`.toLowerCase()
  let from = 0
  for (const character of query.toLowerCase()) {
    const at = hay.indexOf(character, from)
    if (at === -1) return false
    from = at + character.length
  }
  return true
}
