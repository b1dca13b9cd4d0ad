import { describe, expect, it } from 'vitest'
import { createEventTypes } from '../../../../extension/core/log/event-types.ts'
import { parseEvent } from '../../../../extension/core/log/parse-event.ts'
import type { Json, JsonObject } from '../../../../extension/base/json.ts'
import { answer, prompt, result, turnStart } from '../../../support/session-talk.ts'

describe('event types', () => {
  it('can be registered once and are gone when taken back', () => {
    const types = createEventTypes()
    const undo = types.register('todo/write', { inside: 'turn' })
    expect(types.get('todo/write')).toEqual({ inside: 'turn' })
    expect(() => types.register('todo/write')).toThrow('registered already')
    undo()
    undo()
    expect(types.get('todo/write')).toBeUndefined()
    types.register('todo/write')
    undo()
    expect(types.get('todo/write')).toEqual({})
  })
  it('of the core cannot be taken', () => expect(() => createEventTypes().register('turn/start')).toThrow('registered already'))
  it('are not inherited from anything', () => expect(createEventTypes().get('toString')).toBeUndefined())
})

describe('a stored line', () => {
  const types = createEventTypes()
  const line = (draft: object, change: object = {}) => ({ seq: 3, time: 9, ...draft, ...change }) as unknown as JsonObject
  const good = (value: JsonObject) => expect(parseEvent(value, 3, types)).toEqual({ kind: 'event', event: value })
  const corrupt = (value: JsonObject, problem: RegExp) => expect(parseEvent(value, 3, types)).toEqual({ kind: 'corrupt', problem: expect.stringMatching(problem) })
  const message = (change: Json) => ({ data: { ...result(1, 1, 'a').data, message: change } })

  it('is an event', () => good(line(turnStart(1))))
  it('may carry fields this build does not know', () => good(line(turnStart(1), { data: { turn: 1, mood: 'new' }, extra: 1 })))
  it('may be unknown when it says that it can be ignored', () => good(line({ type: 'later/version', data: {}, ignorable: true })))
  it('must not be unknown otherwise', () => expect(parseEvent(line({ type: 'later/version', data: {} }), 3, types)).toEqual({ kind: 'unknown', type: 'later/version' }))
  it('is corrupt under another number', () => corrupt(line(turnStart(1), { seq: 4 }), /should be number 3 and says 4/))
  it('is corrupt without a type', () => corrupt(line(turnStart(1), { type: 7 }), /no type/))
  it('is corrupt without a time', () => corrupt(line(turnStart(1), { time: '9' }), /no time/))
  it('is corrupt without data', () => corrupt(line(turnStart(1), { data: [] }), /no data/))
  it('is corrupt with a strange mark', () => corrupt(line(turnStart(1), { ignorable: false }), /ignorable/))
  it('is corrupt with a field of another kind', () => corrupt(line(turnStart(1), { data: { turn: 1.5 } }), /turn\/start: its turn is no count/))
  it('is corrupt with an inherited field', () => corrupt(line({ type: 'session/title' }, { data: { source: {} } }), /title is no text/))
  it('is corrupt when the model should see it and no place is given', () => corrupt(line(prompt('x'), { surfaceOp: undefined }), /needs a surfaceOp/))
  it('is corrupt with sources that come later', () => corrupt(line(prompt('x'), { sourceEventSeqs: [3] }), /not all earlier/))
  it('is corrupt with an answer whose blocks are none', () => corrupt(line(answer(1, 1, 'x'), { data: { turn: 1, step: 1, message: { role: 'assistant', content: [null] } } }), /assistant-message/))
  it('is corrupt with a result of two blocks', () => {
    const block = { type: 'tool-result', callId: 'a', content: [] }
    corrupt(line(result(1, 1, 'a'), message({ role: 'tool', content: [block, block] })), /tool-message/)
  })
  it('is corrupt with a result without its call', () => corrupt(line(result(1, 1, 'a'), message({ role: 'tool', content: [{ type: 'tool-result', content: [] }] })), /tool-message/))
})
