import { describe, expect, it } from 'vitest'
import type { EventDraft, SessionEvent } from '../../../../extension/core/log/event.ts'
import type { UserMessage } from '../../../../extension/core/log/message.ts'
import { Inbox, inboxFrom } from '../../../../extension/core/session/inbox.ts'
import type { InboxSplice } from '../../../../extension/core/session/inbox.ts'

const message = (id: string, text = id): UserMessage => ({ id, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } })

function setUp() {
  const splices: InboxSplice[] = []
  const news: string[] = []
  const inbox = new Inbox({
    record: (splice) => void splices.push(splice),
    onInserted: ({ id }) => void news.push(`inserted ${id}`),
    onClaimed: ({ id }, turn) => void news.push(`claimed ${id} ${turn}`),
    onDiscarded: ({ id }) => void news.push(`discarded ${id}`),
  })
  const ids = () => [inbox.lists.nextTurn.map(({ id }) => id).join(''), inbox.lists.nextStep.map(({ id }) => id).join('')]
  const events = (more: readonly EventDraft[] = []) =>
    [...splices.map((data) => ({ type: 'agent/inbox/spliced', data })), ...more].map((draft, seq) => ({ ...draft, seq, time: 0 }) as SessionEvent)
  return { inbox, splices, news, ids, events }
}

describe('an inbox', () => {
  it('claims all that waits for the step and one message for a turn', () => {
    const { inbox, news, ids } = setUp()
    for (const id of ['a', 'b']) inbox.insert('next-turn', message(id))
    for (const id of ['x', 'y']) inbox.insert('next-step', message(id))
    expect(inbox.claim(3, true).all.map(({ id }) => id)).toEqual(['x', 'y', 'a'])
    expect(ids()).toEqual(['b', ''])
    expect(news.slice(4)).toEqual(['claimed x 3', 'claimed y 3', 'claimed a 3'])
  })
  it('claims nothing for a turn in later steps', () => {
    const { inbox, ids } = setUp()
    inbox.insert('next-turn', message('a'))
    expect(inbox.claim(1, false).all).toEqual([])
    expect(ids()).toEqual(['a', ''])
  })
  it('writes no splice when nothing changes', () => {
    const { inbox, splices } = setUp()
    inbox.claim(1, true)
    inbox.discardAll()
    expect(splices).toEqual([])
  })
  it('discards durably, as cancelled, with one call per message', () => {
    const { inbox, splices, news } = setUp()
    inbox.insert('next-turn', message('a'))
    inbox.insert('next-step', message('x'))
    inbox.discardAll()
    expect(splices.slice(2)).toEqual([
      { target: 'next-step', start: 0, removedCount: 1, inserted: [], outcome: 'canceled' },
      { target: 'next-turn', start: 0, removedCount: 1, inserted: [], outcome: 'canceled' },
    ])
    expect(news.slice(2)).toEqual(['discarded x', 'discarded a'])
  })
  it('edits, removes and moves what waits, and says when it waits no longer', () => {
    const { inbox, ids, splices } = setUp()
    for (const id of ['a', 'b', 'c']) inbox.insert('next-turn', message(id))
    expect([inbox.edit('b', [{ type: 'text', text: 'new' }]), inbox.remove('a'), inbox.moveToStep('c')]).toEqual([true, true, true])
    expect(ids()).toEqual(['b', 'c'])
    expect(inbox.lists.nextTurn).toEqual([message('b', 'new')])
    expect(splices[3]).toEqual({ target: 'next-turn', start: 1, removedCount: 1, inserted: [message('b', 'new')] })
    expect([inbox.edit('a', []), inbox.remove('a'), inbox.moveToStep('a'), inbox.moveToStep('c')]).toEqual([false, false, false, true])
  })
  it('stays as it was when the splice cannot be recorded', () => {
    const inbox = new Inbox({
      record: () => {
        throw new Error('closed')
      },
      onInserted: () => {},
      onClaimed: () => {},
      onDiscarded: () => {},
    })
    expect(() => inbox.insert('next-turn', message('a'))).toThrow('closed')
    expect(inbox.isEmpty).toBe(true)
  })
  it('puts back before everything else what could not be used', () => {
    const { inbox, ids } = setUp()
    for (const id of ['a', 'b']) inbox.insert('next-turn', message(id))
    inbox.insert('next-step', message('x'))
    const claimed = inbox.claim(1, true)
    inbox.insert('next-step', message('y'))
    inbox.putBack(claimed)
    expect(ids()).toEqual(['ab', 'xy'])
  })
})

describe('what waits according to a log', () => {
  const restored = (events: readonly SessionEvent[]) => {
    const { lists, lost } = inboxFrom(events)
    const ids = (list: readonly UserMessage[]) => list.map(({ id }) => id).join('')
    return [ids(lists.nextTurn), ids(lists.nextStep), ids(lost)]
  }
  const interrupted: EventDraft = { type: 'turn/end', data: { turn: 1, reason: { kind: 'interrupted' } } }
  const completed: EventDraft = { type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } }
  const entered = (id: string): EventDraft => ({ type: 'user/message', surfaceOp: 'append', data: message(id) })

  it('is what the live inbox held', () => {
    const { inbox, events, ids } = setUp()
    for (const id of ['a', 'b', 'c', 'd']) inbox.insert('next-turn', message(id))
    inbox.insert('next-step', message('x'))
    inbox.claim(1, true)
    inbox.remove('c')
    inbox.moveToStep('d')
    expect(restored(events()).slice(0, 2)).toEqual(ids())
  })
  it('gives back what a crash took between claim and talk', () => {
    const { inbox, events } = setUp()
    for (const id of ['a', 'b']) inbox.insert('next-turn', message(id))
    inbox.insert('next-step', message('x'))
    inbox.claim(1, true)
    expect(restored(events([interrupted]))).toEqual(['b', '', 'xa'])
    expect(restored(events([entered('x'), interrupted]))).toEqual(['b', '', 'a'])
  })
  it('gives back nothing that a turn used up or rejected', () => {
    const { inbox, events } = setUp()
    inbox.insert('next-turn', message('a'))
    inbox.claim(1, true)
    expect(restored(events([completed]))).toEqual(['', '', ''])
  })
  it('gives back once: what was put back waits', () => {
    const { inbox, splices } = setUp()
    inbox.insert('next-turn', message('a'))
    const claimed = inbox.claim(1, true)
    inbox.putBack(claimed)
    const [insert, claim, back] = splices.map((data): EventDraft => ({ type: 'agent/inbox/spliced', data }))
    const events = [insert, claim, interrupted, back].map((draft, seq) => ({ ...draft, seq, time: 0 }) as SessionEvent)
    expect(restored(events)).toEqual(['a', '', ''])
  })
  it('finds a message once that a crash left in both lists', () => {
    const { inbox, events } = setUp()
    inbox.insert('next-turn', message('a'))
    inbox.moveToStep('a')
    expect(restored(events().slice(0, 2))).toEqual(['', 'a', ''])
  })
  it('does not take a moved message for a lost one', () => {
    const { inbox, events } = setUp()
    inbox.insert('next-turn', message('a'))
    inbox.moveToStep('a')
    inbox.claim(1, false)
    expect(restored(events([interrupted]))).toEqual(['', '', 'a'])
    expect(restored(events([entered('a'), interrupted]))).toEqual(['', '', ''])
  })
})
