import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { Answer, PendingQuestions } from '../../../extension/features/questions/service.ts'
import { codeOf, mcpRig, patient, programServer, textOf, type McpRig } from '../../support/mcp-rig.ts'
import { createManualClock } from '../../support/manual-clock.ts'

let rig: McpRig
beforeAll(async () => {
  rig = await mcpRig({ demo: { ...programServer('ok'), reconnect: { initialMs: 20 } } }, { settings: { 'questions.timeOutSeconds': 1 } })
  rig.application.ctx.questions.attach()
  await rig.until('running')
}, 60_000)
afterAll(() => rig.dispose())

const pending = async (): Promise<PendingQuestions> => {
  await expect.poll(() => rig.application.ctx.questions.pending().length).toBe(1)
  const [set] = rig.application.ctx.questions.pending()
  if (set === undefined) throw new Error('Nobody was asked.')
  return set
}
const skip = (set: PendingQuestions): readonly Answer[] => set.questions.map(({ id }) => ({ id, selected: [] }))
const filled = (set: PendingQuestions, given: Readonly<Record<string, Omit<Answer, 'id'>>>): readonly Answer[] => set.questions.map(({ id }) => ({ id, ...(given[id] ?? { selected: [] }) }))
const answer = (set: PendingQuestions, answers: readonly Answer[] | null) => expect(rig.application.ctx.questions.answer(set.id, answers)).toEqual({ ok: true })
const custom = (text: string) => ({ selected: [], custom: text })
const choose = (...selected: readonly string[]) => ({ selected })
const good = { name: custom('Ada'), mail: custom('ada@a.test'), day: custom('2026-02-28'), age: custom('36'), share: custom('0.5'), agreed: choose('No'), size: choose('Large'), tags: choose('a', 'c') }

/** What the server got for an answer; each of `answers` after the other while it asks again. */
async function outcome(tool: string, ...answers: readonly ((set: PendingQuestions) => readonly Answer[] | null)[]): Promise<unknown> {
  const running = rig.call(tool)
  for (const give of answers) answer(await pending(), give(await pending()))
  return JSON.parse(textOf(await running)) as unknown
}

describe('a server that asks for values', patient, () => {
  it('asks by its name, with what each value is and what stands in for it', async () => {
    const running = rig.call('ask-all')
    const set = await pending()
    expect([set.server, set.answersAt, set.agent.id]).toEqual(['demo', undefined, rig.agent.id])
    expect(set.questions.map(({ question, options, multi_select }) => [question, options?.map(({ label }) => label) ?? null, multi_select === true])).toEqual([
      ['Name', null, false],
      ['mail (email) (optional)', null, false],
      ['day (date) (optional)', null, false],
      ['age (integer) (optional)', null, false],
      ['share (number) (optional)', null, false],
      ['agreed (optional)', ['Yes', 'No'], false],
      ['colour (blue when skipped) (optional)', ['red', 'blue'], false],
      ['size (optional)', ['Small', 'Large'], false],
      ['tags (optional)', ['a', 'b', 'c'], true],
    ])
    expect(set.questions[0]?.detail).toBe('The MCP server **demo** asks, and it alone gets the answer:\n\nAll of it.\n\nSkip all of it to decline.')
    answer(set, null)
    await running
  })
  it('gets values of the kinds it asked for, and what it set for those that were skipped', async () => {
    expect(await outcome('ask-all', (set) => filled(set, good))).toEqual({ action: 'accept', content: { name: 'Ada', mail: 'ada@a.test', day: '2026-02-28', age: 36, share: 0.5, agreed: false, colour: 'blue', size: 'l', tags: ['a', 'c'] } })
  })
  it.each([
    ['name', custom('A'), '“name” needs at least 2 characters.'],
    ['name', custom('Adalbert'), '“name” may have at most 5 characters.'],
    ['name', { selected: [] }, '“name” is needed.'],
    ['mail', custom('no mail'), '“mail” has to be a email.'],
    ['day', custom('2026-13-40'), '“day” has to be a date.'],
    ['age', custom('12'), '“age” has to be at least 18.'],
    ['age', custom('120'), '“age” may be at most 99.'],
    ['age', custom('36.5'), '“age” has to be a whole number.'],
    ['share', custom('half'), '“share” has to be a number.'],
    ['agreed', custom('maybe'), '“agreed” takes one of: Yes, No.'],
    ['colour', custom('green'), '“colour” takes one of: red, blue.'],
    ['tags', choose('a', 'b', 'c'), '“tags” takes at most 2 of them.'],
    ['tags', { selected: ['a'], custom: 'd' }, '“tags” takes only: a, b, c.'],
  ] as const)('asks again about %s when it is %o', async (id, bad, problem) => {
    const details: (string | undefined)[] = []
    const result = await outcome(
      'ask-all',
      (set) => filled(set, { ...good, [id]: bad }),
      (set) => {
        details.push(set.questions[0]?.detail)
        return filled(set, good)
      },
    )
    expect([details, result]).toEqual([[expect.stringContaining(`**${problem}**`)], expect.objectContaining({ action: 'accept' })])
  })
  it('is asked three times at most', async () => {
    const bad = (set: PendingQuestions) => filled(set, { name: custom('A') })
    expect(await outcome('ask-all', bad, bad, bad)).toEqual({ action: 'cancel' })
  })
  it.each([
    ['closing is a cancel', 'ask-all', () => null, { action: 'cancel' }],
    ['skipping all is a decline', 'ask-all', skip, { action: 'decline' }],
    ['yes', 'ask-consent', (set: PendingQuestions) => filled(set, { confirm: choose('Yes') }), { action: 'accept', content: {} }],
    ['no', 'ask-consent', (set: PendingQuestions) => filled(set, { confirm: choose('No') }), { action: 'decline' }],
    ['skipping a consent is none', 'ask-consent', skip, { action: 'decline' }],
  ] as const)('%s', async (_name, tool, give, expected) => expect(await outcome(tool, give)).toEqual(expected))
  it.each([
    ['ask-many', /It asked for values and got none: it asks for 21 values, and 20 are the most\./],
    ['ask-choices', /It asked for values and got none: “one” is no plain value, or has more than 50 choices\./],
  ])('of more than fits declines by itself and says so in its log: %s', async (tool, line) => {
    expect(JSON.parse(textOf(await rig.call(tool)))).toEqual({ action: 'decline' })
    expect(rig.application.ctx.mcp.log('demo').join('\n')).toMatch(line)
  })
  it('what was answered is for the server alone: it stands in no log', async () => {
    await outcome('ask-all', (set) => filled(set, { ...good, name: custom('Zoe') }))
    const events = rig.agent.session.events()
    expect(events.findLast(({ type }) => type === 'question/asked')).toMatchObject({ data: { server: 'demo' } })
    expect(events.findLast(({ type }) => type === 'question/settled')?.data).toEqual({ id: expect.any(String) as string, outcome: 'answered' })
    expect(JSON.stringify(events)).not.toContain('Zoe')
  })
})

describe('with two chats that use one server', patient, () => {
  const yes = (set: PendingQuestions | undefined) => rig.application.ctx.questions.answer(set?.id ?? '', [{ id: 'confirm', selected: ['Yes'] }])
  const asked = async (count: number) => {
    await expect.poll(() => rig.application.ctx.questions.pending().length).toBe(count)
    return rig.application.ctx.questions.pending()
  }
  let other: Agent
  beforeAll(async () => {
    other = await rig.application.ctx.agents.create({ cwd: rig.application.folder, preset: 'standard' })
  })
  /** A call that goes on until it is stopped. */
  const holding = async (agent: Agent) => {
    const controller = new AbortController()
    const begun = Promise.withResolvers<void>()
    const running = rig.call('hold', {}, { agent, signal: controller.signal, onProgress: () => begun.resolve() })
    await begun.promise
    return async () => {
      controller.abort()
      await running
    }
  }
  const wait = async (work: Promise<unknown>) => {
    const [set] = await asked(1)
    yes(set)
    await work
    return [set?.agent.id === rig.agent.id ? 'first' : set?.agent.id === other.id ? 'second' : 'none', set?.questions[0]?.detail?.split('\n')[0]]
  }

  it('the only one that called is asked', async () => {
    expect(await wait(rig.call('ask-consent', {}, { agent: other }))).toEqual(['second', 'The MCP server **demo** asks, and it alone gets the answer:'])
  })
  it('the one that called first is asked where the server does not say for which call, and is told so', async () => {
    for (const [first, second, name] of [[rig.agent, other, 'first'], [other, rig.agent, 'second']] as const) {
      const release = await holding(first)
      expect(await wait(rig.call('ask-consent', {}, { agent: second }))).toEqual([name, 'The MCP server **demo** asks, and it alone gets the answer. 2 calls of it run, and it does not say which it asks for.'])
      await release()
    }
  })
  it('the one whose call the server names is asked', async () => {
    const release = await holding(rig.agent)
    expect(await wait(rig.call('ask-named', {}, { agent: other }))).toEqual(['second', 'The MCP server **demo** asks, and it alone gets the answer:'])
    await release()
  })
  it('a question for one of several goes with the last of them', async () => {
    const release = await holding(rig.agent)
    const controller = new AbortController()
    const running = rig.call('ask-consent', {}, { agent: other, signal: controller.signal })
    await asked(1)
    await release()
    expect(rig.application.ctx.questions.pending().length).toBe(1)
    controller.abort()
    await running
    await asked(0)
  })
  it('the one that the person looks at is asked where nobody called, one question at a time', async () => {
    const detach = rig.application.ctx.mcp.attachChat(() => other)
    expect(textOf(await rig.call('ask-later'))).toBe('later')
    // Before the first is answered, or there would be room for the second.
    await expect.poll(() => rig.application.ctx.mcp.log('demo').join('\n')).toMatch(/It asked for values and got none: it asks already, and nobody has called it\./)
    expect(await wait(Promise.resolve())).toEqual(['second', 'The MCP server **demo** asks, and it alone gets the answer. No call of it runs: it asks by itself.'])
    await expect.poll(() => rig.application.ctx.mcp.log('demo').join('\n')).toMatch(/got \{"action":"accept","content":\{\}\},\{"action":"decline"\}/)
    detach()
    await rig.call('ask-later')
    await expect.poll(() => rig.application.ctx.mcp.log('demo').join('\n')).toMatch(/It asked for values and got none: nobody has called it, and no chat is open to ask in\./)
  })
})

describe('a question that ends otherwise', patient, () => {
  /** What the person was told since the last look. */
  const told = () => {
    const { nextStep, nextTurn } = rig.agent.inbox
    const all = [...nextStep, ...nextTurn].flatMap(({ source }) => (source.kind === 'plugin' && source.plugin === 'mcp' ? [source.summary] : []))
    const fresh = all.slice(heard)
    heard = all.length
    return fresh
  }
  let heard = 0
  /** Heard at once, so that none is missed that goes again soon. */
  const askedSoon = () =>
    new Promise<void>((resolve) => {
      const { questions } = rig.application.ctx
      const stop = questions.onDidChange(() => {
        if (questions.pending().length === 0) return
        stop()
        resolve()
      })
    })
  it('goes with its server', async () => {
    const asked = askedSoon()
    const running = rig.call('ask-die')
    await asked
    const result = await running
    expect([codeOf(result), rig.application.ctx.questions.pending(), told()]).toEqual(['MCP_CLOSED', [], ['The MCP server demo gave up its question before you had answered']])
    await rig.until('running')
  })
  it('goes with its call', async () => {
    const controller = new AbortController()
    const running = rig.call('ask-all', {}, { signal: controller.signal })
    await pending()
    controller.abort()
    expect((await running).isError).toBe(true)
    expect(rig.application.ctx.questions.pending()).toEqual([])
    expect(told()).toEqual([])
  })
  it.each([
    ['tells so', 'ask-briefly', /Request timed out/],
    ['lets its call fail', 'ask-and-fail', /Nobody answered/],
  ])('goes when the server gives it up and %s, which the person is told', async (_, tool, failure) => {
    const asked = askedSoon()
    const running = rig.call(tool)
    await asked
    const result = await running
    expect([result.isError, textOf(result)]).toEqual([true, expect.stringMatching(failure)])
    await expect.poll(() => rig.application.ctx.questions.pending()).toEqual([])
    expect(told()).toEqual(['The MCP server demo gave up its question before you had answered'])
  })
  it('keeps the clock of its call standing', async () => {
    const clock = createManualClock()
    const slow = await mcpRig({ demo: { ...programServer('ok'), toolCallTimeoutMs: 1_000 } }, { alter: (world) => ({ ...world, clock }) })
    slow.application.ctx.questions.attach()
    await slow.until('running')
    const running = slow.call('ask-consent')
    await expect.poll(() => slow.application.ctx.questions.pending().length).toBe(1)
    clock.advance(10 * 60_000)
    const [set] = slow.application.ctx.questions.pending()
    slow.application.ctx.questions.answer(set?.id ?? '', [{ id: 'confirm', selected: ['Yes'] }])
    expect(JSON.parse(textOf(await running))).toEqual({ action: 'accept', content: {} })
    await slow.dispose()
  })
  it('keeps the clock of calls standing until the last of several is answered', async () => {
    const clock = createManualClock()
    const slow = await mcpRig({ demo: { ...programServer('ok'), toolCallTimeoutMs: 1_000 } }, { alter: (world) => ({ ...world, clock }) })
    const { questions } = slow.application.ctx
    questions.attach()
    await slow.until('running')
    const running = [slow.call('ask-consent')]
    await expect.poll(() => questions.pending().length).toBe(1)
    running.push(slow.call('ask-consent'))
    await expect.poll(() => questions.pending().length).toBe(2)
    const yes = () => questions.answer(questions.pending().at(-1)?.id ?? '', [{ id: 'confirm', selected: ['Yes'] }])
    yes()
    await Promise.race(running)
    clock.advance(10 * 60_000)
    yes()
    expect((await Promise.all(running)).map((result) => JSON.parse(textOf(result)) as unknown)).toEqual([{ action: 'accept', content: {} }, { action: 'accept', content: {} }])
    await slow.dispose()
  })
  it('is not asked anew after a reload, since nobody waits for the answer', async () => {
    const first = await mcpRig({ demo: programServer('ok') })
    const { application, agent } = first
    application.ctx.questions.attach()
    await first.until('running')
    const asked = async () => {
      await expect.poll(() => application.ctx.questions.pending().length).toBe(1)
      return application.ctx.questions.pending()[0]!.id
    }
    const answered = first.call('ask-consent')
    const done = await asked()
    application.ctx.questions.answer(done, [{ id: 'confirm', selected: ['Yes'] }])
    await answered
    void first.call('ask-all')
    const open = await asked()
    await agent.session.flush()
    const { ctx } = await application.restart()
    ctx.questions.attach()
    const again = await ctx.agents.resume(agent.id)
    const settled = () => again.session.events().flatMap((event) => (event.type === 'question/settled' ? [[event.data.id, event.data.outcome]] : []))
    // What was answered stays answered, though the log does not keep what was said.
    await expect.poll(settled).toEqual([[done, 'answered'], [open, 'interrupted']])
    expect(ctx.questions.pending()).toEqual([])
    await ctx.agents.live(agent.id)?.session.flush()
    await first.dispose()
  })
})

it('an address that the server wants opened is told and not opened', async () => {
  const result = await rig.call('ask-page')
  expect([codeOf(result), textOf(result)]).toEqual(['MCP_PROTOCOL', 'Error: It wants the person to open https://pay.test/now first. They can do that in their browser; then call again.'])
}, 60_000)
