import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ChunkPacker, isRow } from '../../../../extension/core/log/chunk-rows.ts'
import { EventList } from '../../../../extension/core/log/event-list.ts'
import type { SessionEvent } from '../../../../extension/core/log/event.ts'
import { stepStart, textDelta } from '../../../support/session-talk.ts'

it('gives every range of events, however they are held', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('text', 'other', 'flush'), { maxLength: 40 }), (kinds) => {
      const list = new EventList()
      const packer = new ChunkPacker()
      const all: SessionEvent[] = []
      const pack = (lines: ReturnType<ChunkPacker['takeRest']>) => lines.filter(isRow).forEach((row) => list.pack(row))
      for (const kind of kinds) {
        if (kind === 'flush') {
          pack(packer.takeRest())
          continue
        }
        const draft = kind === 'text' ? textDelta(1, 1, `${all.length}`) : stepStart(1, 1)
        const event = { ...draft, seq: all.length, time: all.length } as SessionEvent
        all.push(event)
        list.push(event)
        pack(packer.add(event))
      }
      expect(list.length).toBe(all.length)
      expect(list.milestones()).toEqual(all.filter(({ type }) => type !== 'assistant/chunk'))
      for (let from = -1; from <= all.length + 1; from++) {
        expect(list.at(from)).toEqual(all[from])
        for (const to of [from, from + 1, from + 4, all.length]) expect(list.slice(from, to)).toEqual(all.slice(Math.max(0, from), Math.max(0, to)))
      }
    }),
  )
})
