import { expect, it } from 'vitest'
import { startedUnder } from '../../../../extension/core/session/family.ts'
import type { SessionSummary } from '../../../../extension/core/session/session.ts'

const session = (id: string, startedBy?: string, more: Partial<SessionSummary> = {}): SessionSummary => ({ id, title: id, createdAt: 0, updatedAt: 0, isLive: false, isNamed: false, isArchived: false, ...(startedBy !== undefined && { startedBy }), ...more })
const check = (sessions: readonly SessionSummary[], ids: readonly string[]) => expect(startedUnder(sessions, 'a').map(({ id }) => id)).toEqual(ids)

it('is empty where no agent started anything', () => check([session('a'), session('b')], []))
it('is what its agents started, over generations, the deepest first', () => check([session('a'), session('b', 'a'), session('c', 'b'), session('d', 'a')], ['c', 'b', 'd']))
it('is not what agents of others started', () => check([session('a'), session('x'), session('y', 'x')], []))
it('is neither what a person named nor what is under that', () => check([session('a'), session('b', 'a', { isNamed: true }), session('c', 'b')], []))
it('is not a fork', () => check([session('a'), session('b', undefined, { forkedFrom: 'a' })], []))
it('has an end in a circle too', () => check([session('a', 'c'), session('b', 'a'), session('c', 'b')], ['c', 'b']))
