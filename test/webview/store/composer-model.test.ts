import { beforeEach, describe, expect, it } from 'vitest'
import type { ViewMessage } from '../../../extension/protocol/messages.ts'
import { createChatActions } from '../../../webview/actions/chat-actions.ts'
import { createChatStore, type ChatStore } from '../../../webview/store/chat-store.ts'
import { createComposerModel, type ComposerModel } from '../../../webview/store/composer-model.ts'
import { createUiState, type UiState } from '../../../webview/store/ui-state.ts'
import { commandRow, patch, promptRow, snapshot, viewState } from './fixture-rows.ts'

let store: ChatStore
let ui: UiState
let composer: ComposerModel
let posted: ViewMessage[]
let pause: () => void
let patience: () => void
let isAttaching: boolean
let movedOn: number
let frame: number

beforeEach(() => {
  posted = []
  isAttaching = false
  movedOn = 0
  frame = 1
  pause = () => undefined
  patience = () => undefined
  store = createChatStore({ needSnapshot: () => undefined })
  ui = createUiState({ getState: () => undefined, setState: () => undefined }, (work) => work())
  composer = newComposer()
})

function newComposer(): ComposerModel {
  let counter = 0
  return createComposerModel({ store, ui, actions: createChatActions((message) => posted.push(message)), newId: () => `m${(counter += 1)}`, isAttaching: () => isAttaching, onMoveOn: () => void (movedOn += 1), afterPause: (work) => (pause = work), afterPatience: (work) => (patience = work) })
}

const show = (state = viewState([promptRow('a', 'the first words')])) => store.apply([snapshot(frame, state)])
const queued = (...texts: readonly string[]) => store.apply([patch((frame += 1), { change: 'state', key: 'queue', value: texts.map((text, index) => ({ id: `q${index}`, text, target: 'next-turn' })) })])

describe('sending', () => {
  beforeEach(() => show())

  it('clears the box and tells the host', () => {
    composer.type('  do it \n')
    composer.submit('next-turn')
    expect([composer.text.value, posted]).toEqual(['', [{ type: 'send', id: 'm1', text: 'do it', target: 'next-turn' }, { type: 'draft', text: '' }]])
  })

  it('sends images without words, a selection only with some', () => {
    const withAttached = (kind: 'image' | 'selection') => show(viewState([], { composer: { ...viewState([]).composer, attachments: [{ id: 'a', kind, label: 'a', detail: '' }] } }))
    withAttached('selection')
    composer.submit('next-turn')
    withAttached('image')
    composer.submit('next-turn')
    expect(posted.filter(({ type }) => type === 'send')).toEqual([{ type: 'send', id: 'm1', text: '', target: 'next-turn' }])
  })

  it('says that what was said beside the box is over, as another session does', () => {
    const seen = [movedOn]
    composer.type('do it')
    seen.push(movedOn)
    composer.submit('next-turn')
    seen.push(movedOn)
    show(viewState([], { session: { ...viewState([]).session!, id: 'other' } }))
    expect([...seen, movedOn]).toEqual([0, 0, 1, 2])
  })

  it('waits for an image that is on its way', () => {
    isAttaching = true
    composer.type('look')
    composer.submit('next-turn')
    expect([composer.text.value, posted]).toEqual(['look', []])
  })

  it('does nothing without words', () => {
    composer.type(' \n ')
    composer.submit('next-turn')
    expect(posted).toEqual([])
  })

  it('does nothing when the host takes nothing, and keeps the words', () => {
    show(viewState([], { composer: { ...viewState([]).composer, canSend: false } }))
    composer.type('do it')
    composer.submit('next-turn')
    expect([composer.text.value, posted]).toEqual(['do it', []])
  })

  it('puts the words back before newer ones when the host refuses', () => {
    composer.type('do it')
    composer.submit('next-turn')
    composer.type('and that')
    composer.sent('m1', 'Too long')
    expect([composer.text.value, composer.problem.value, ui.sending.value]).toEqual(['do it\n\nand that', 'Too long', []])
  })

  it('forgets the words once the host has them', () => {
    composer.type('do it')
    composer.submit('next-turn')
    composer.sent('m1', null)
    expect([composer.text.value, ui.sending.value]).toEqual(['', []])
  })
})

describe('words on their way when the page went away', () => {
  it('come back into the box', () => {
    composer.dispose()
    ui.addSending({ id: 'old', sessionId: 's1', text: 'lost?' })
    composer = newComposer()
    show(viewState([], { composer: { ...viewState([]).composer, draft: 'typed after' } }))
    expect([composer.text.value, ui.sending.value]).toEqual(['lost?\n\ntyped after', []])
  })

  it('do not when they were a command that ran', () => {
    composer.dispose()
    ui.addSending({ id: 'old', sessionId: 's1', text: '/model deep' })
    composer = newComposer()
    show(viewState([commandRow('c')]))
    expect([composer.text.value, ui.sending.value]).toEqual(['', []])
  })

  it('do not when the talk shows that they arrived', () => {
    composer.dispose()
    ui.addSending({ id: 'old', sessionId: 's1', text: 'the first words' })
    composer = newComposer()
    show()
    expect([composer.text.value, ui.sending.value]).toEqual(['', []])
  })
})

describe('drafts', () => {
  it('belong to their session', () => {
    show()
    composer.type('for one')
    const other = viewState([])
    show({ ...other, session: { ...other.session!, id: 's2' }, composer: { ...other.composer, draft: 'for two' } })
    expect(composer.text.value).toBe('for two')
    show(viewState([], { composer: { ...viewState([]).composer, draft: 'for one' } }))
    expect(composer.text.value).toBe('for one')
  })

  it('go to the host after a pause, and at once when the session changes', () => {
    show()
    composer.type('ab')
    composer.type('abc')
    expect(posted).toEqual([])
    pause()
    expect(posted).toEqual([{ type: 'draft', text: 'abc' }])
  })

  it('are not overwritten by what the host says while the person types', () => {
    show()
    composer.type('abc')
    store.apply([patch((frame += 1), { change: 'state', key: 'composer', value: { ...viewState([]).composer, draft: 'a' } })])
    expect(composer.text.value).toBe('abc')
  })
})

describe('words typed after another session was asked for', () => {
  const other = viewState([], { session: { ...viewState([]).session!, id: 'other' }, composer: { ...viewState([]).composer, draft: 'waits there' } })
  const blank = viewState([], { session: null })
  beforeEach(() => show())

  it.each([
    ['go to a new one', { id: '', next: blank, before: '', after: 'a thought', shown: 'a thought' }],
    ['leave what stood in the box', { id: '', next: blank, before: 'half a thought', after: 'half a thought and more', shown: 'and more' }],
    ['go whole where they took its place', { id: '', next: blank, before: 'half a thought', after: 'quite another', shown: 'quite another' }],
    ['are none where nothing was typed', { id: '', next: blank, before: 'half a thought', after: 'half a thought', shown: '' }],
    ['are set behind what waited there', { id: 'other', next: other, before: '', after: 'and this', shown: 'waits there\n\nand this' }],
  ])('%s', (_, { id, next, before, after, shown }) => {
    composer.type(before)
    composer.goTo(id)
    composer.type(after)
    show(next)
    expect(composer.text.value).toBe(shown)
    show(viewState([], { composer: { ...viewState([]).composer, draft: before } }))
    expect(composer.text.value).toBe(before)
  })

  it('stay where the session that was asked for is the one on screen', () => {
    composer.goTo(viewState([]).session!.id)
    composer.type('stays')
    pause()
    show(blank)
    expect([posted, composer.text.value]).toEqual([[{ type: 'draft', text: 'stays' }], ''])
  })

  it('are told to the host as the draft of the session they are for', () => {
    composer.goTo('')
    composer.type('for the new one')
    pause()
    expect(posted).toEqual([])
    show(blank)
    pause()
    expect(posted).toEqual([{ type: 'draft', text: 'for the new one' }])
  })

  it('stay here when no other comes', () => {
    composer.goTo('')
    composer.type('nothing came')
    patience()
    expect(posted).toEqual([{ type: 'draft', text: 'nothing came' }])
    show(blank)
    expect(composer.text.value).toBe('')
  })
})

describe('editing what is queued', () => {
  beforeEach(() => {
    show()
    queued('first', 'second')
  })

  it('starts with Up in an empty box, and saves it', () => {
    expect(composer.recall()).toBe(true)
    expect([composer.text.value, composer.editingQueued.value]).toEqual(['second', 'q1'])
    composer.type('second, better')
    composer.submit('next-turn')
    expect([posted, composer.text.value, composer.editingQueued.value]).toEqual([[{ type: 'queue-edit', id: 'q1', text: 'second, better' }], '', null])
  })

  it('sets aside what was being typed and gives it back', () => {
    composer.type('new')
    composer.editQueued('q0')
    expect(composer.text.value).toBe('first')
    composer.cancelEdit()
    expect([composer.text.value, posted]).toEqual(['new', []])
  })

  it('becomes a new message when the old one was delivered meanwhile', () => {
    composer.editQueued('q0')
    composer.type('first, better')
    queued('second')
    store.apply([patch((frame += 1), { change: 'state', key: 'queue', value: [] })])
    expect([composer.editingQueued.value, composer.text.value]).toEqual([null, 'first, better'])
  })

  it('leaves a box that is not empty alone', () => {
    composer.type('x')
    expect(composer.recall()).toBe(false)
  })
})

it('brings back the last words sent when nothing is queued', () => {
  show()
  expect([composer.recall(), composer.text.value]).toEqual([true, 'the first words'])
})

it('inserts text behind what is there and asks for the focus', () => {
  show()
  composer.type('look at')
  composer.insert('src/a.ts')
  expect([composer.text.value, composer.focusRequests.value]).toEqual(['look at src/a.ts', 1])
})
