import { beforeEach, describe, expect, it } from 'vitest'
import type { CompletionItem, CompletionKind } from '../../../extension/protocol/messages.ts'
import { createCompletionMenu, type CompletionMenu } from '../../../webview/store/completion-menu.ts'

let asked: { readonly id: string; readonly kind: CompletionKind; readonly query: string }[]
let menu: CompletionMenu

beforeEach(() => {
  asked = []
  let count = 0
  menu = createCompletionMenu({ ask: (id, kind, query) => asked.push({ id, kind, query }), newId: () => `c${(count += 1)}` })
})

const item = (path: string): CompletionItem => ({ kind: 'file', label: path, detail: '', icon: 'file', insert: `@${path} ` })
const type = (text: string) => menu.look(text, text.length)
const answer = (...paths: readonly string[]) => menu.answered({ type: 'completions', id: asked.at(-1)!.id, items: paths.map(item), isComplete: true })
const labels = () => menu.items.value.map(({ label }) => label)

describe('asking', () => {
  it('asks once for each new word', () => {
    type('@')
    type('@a')
    type('@a')
    expect(asked).toEqual([
      { id: 'c1', kind: '@', query: '' },
      { id: 'c2', kind: '@', query: 'a' },
    ])
  })

  it('asks for what an answer names too, and for no command there', () => {
    menu.look('/', 1, 'answer')
    menu.look('as in @d', 8, 'answer')
    expect([asked.map(({ kind, query }) => kind + query), menu.box.value]).toEqual([['@d'], 'answer'])
    answer('date.ts')
    expect(labels()).toEqual(['date.ts'])
    menu.look('', 0)
    expect([labels(), menu.box.value]).toEqual([[], 'composer'])
  })

  it('shows nothing before the host has answered, so that Enter sends', () => {
    type('@a')
    expect([labels(), menu.accept()]).toEqual([[], null])
  })

  it('narrows what it has at once and takes the answer when it comes', () => {
    type('@')
    answer('date.ts', 'main.ts')
    type('@d')
    expect(labels()).toEqual(['date.ts'])
    answer('date.ts', 'data.ts')
    expect(labels()).toEqual(['date.ts', 'data.ts'])
  })

  it('takes no answer to an older question', () => {
    type('@d')
    const older = asked.at(-1)!.id
    type('@m')
    menu.answered({ type: 'completions', id: older, items: [item('date.ts')], isComplete: true })
    expect(labels()).toEqual([])
  })

  it('keeps what it shows while the host has nothing yet', () => {
    type('@')
    answer('date.ts')
    type('@d')
    menu.answered({ type: 'completions', id: asked.at(-1)!.id, items: [], isComplete: false })
    expect(labels()).toEqual(['date.ts'])
  })
})

describe('choosing', () => {
  beforeEach(() => {
    type('see @d')
    answer('date.ts', 'data.ts', 'dot.ts')
  })

  it('takes the first by default', () => expect(menu.accept()).toEqual({ start: 4, end: 6, text: '@date.ts ' }))

  it('moves round both ends', () => {
    menu.move(-1)
    expect(menu.active.value).toBe(2)
    menu.move(1)
    expect(menu.active.value).toBe(0)
  })

  it('keeps what the person moved to when more comes in', () => {
    menu.move(1)
    answer('new.ts', 'data.ts')
    expect(menu.items.value[menu.active.value]?.label).toBe('data.ts')
  })

  it('begins at the top again with another word', () => {
    menu.move(1)
    type('see @do')
    expect(menu.active.value).toBe(0)
  })

  it('is gone once something was taken', () => {
    menu.accept()
    expect(labels()).toEqual([])
  })
})

describe('closing', () => {
  it('stays away while the same word goes on', () => {
    type('@d')
    answer('date.ts')
    menu.close()
    type('@da')
    expect([labels(), asked.length]).toEqual([[], 1])
  })

  it('comes again with another sign', () => {
    type('@d')
    answer('date.ts')
    menu.close()
    type('@d and @')
    expect(asked.at(-1)?.query).toBe('')
  })

  it('comes again at the same place once the word was left', () => {
    type('@d')
    answer('date.ts')
    menu.close()
    type('')
    type('@')
    expect(asked).toHaveLength(2)
  })
})
