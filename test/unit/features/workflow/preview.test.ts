import { expect, it } from 'vitest'
import type { JsonObject } from '../../../../extension/base/json.ts'
import { scriptEffect } from '../../../../extension/features/workflow/preview.ts'

const check = (script: string, why: string, { meta = { name: 'n' }, agents = 0, total = 0 }: { readonly meta?: JsonObject; readonly agents?: number; readonly total?: number } = {}) =>
  expect(scriptEffect({ script, meta }, { isKnown: () => false, costs: () => ({ agents, total }), maxAgents: 1_000 })).toEqual({ kind: 'script', words: 'Run the workflow `n`', why, isKnown: false })

it('says where agents are started', () => check('await agent("a"); await agent ("b")', 'It starts agents in 2 places. Each works under your permissions.'))
it('says that loops start more, and how many at most', () =>
  check('await parallel(args.map((x) => () => agent(x)))', 'It starts agents in 1 place and 1 phase, over and over, 1000 at most. Each works under your permissions.', { meta: { name: 'n', phases: [{ title: 'a' }] } }))
it('says what one agent cost before, and what all of them may where their number is known', () => {
  check('await agent("a"); await agent("b"); await agent("c")', 'It starts agents in 3 places. So far an agent of a workflow cost about $0.05 in this session, which makes $0.15. Each works under your permissions.', { agents: 4, total: 0.2 })
  check('for (const x of args) await agent(x)', 'It starts agents in 1 place, over and over, 1000 at most. So far an agent of a workflow cost about $0.05 in this session. Each works under your permissions.', { agents: 2, total: 0.1 })
})
it('stays readable where the arguments are not what they should be', () =>
  expect(scriptEffect({ script: 5, meta: 'x' }, { isKnown: () => true, costs: () => ({ agents: 0, total: 0 }), maxAgents: 1 })).toEqual({ kind: 'script', words: 'Run the workflow `without a name`', why: 'It starts agents in 0 places. Each works under your permissions.', isKnown: true }))
