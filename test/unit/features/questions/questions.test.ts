import { describe, expect, it } from 'vitest'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import { settingsPlugin } from '../../../../extension/core/settings/service.ts'
import { memorySettings } from '../../../support/memory-settings.ts'
import type { EventDraft, EventType } from '../../../../extension/core/log/event.ts'
import { createEventTypes } from '../../../../extension/core/log/event-types.ts'
import { Invariants } from '../../../../extension/core/log/invariants.ts'
import type { UserMessage } from '../../../../extension/core/log/message.ts'
import type { Agents } from '../../../../extension/core/loop/points.ts'
import { problemOfAnswers } from '../../../../extension/features/questions/check-answers.ts'
import { questionsPlugin } from '../../../../extension/features/questions/plugin.ts'
import { featureEventTypes } from '../../../../extension/features/event-types.ts'
import { createQuestions } from '../../../../extension/features/questions/questions.ts'
import type { Answer, Question } from '../../../../extension/features/questions/service.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

const agent = createFakeAgent()
const patient = { clock: createManualClock(), timeOutMs: () => 0 }
const pick: Question = { id: 'q', question: 'Which?', options: [{ label: 'A (Recommended)' }, { label: 'B' }] }
const plan: Question = {
  id: 'plan-review',
  question: 'Go on like this?',
  detail: '# Move the dates to UTC',
  options: [{ label: 'Approve' }, { label: 'Keep planning' }],
  intent: { kind: 'plan-review', approve: 'Approve' },
}
const setUp = () => {
  let ids = 0
  const questions = createQuestions({ liveAgent: (id) => (id === agent.id ? agent : undefined), newId: () => `set-${++ids}`, logger: createRecordingLogger(), ...patient })
  const ask = (over: Partial<Parameters<typeof questions.ask>[0]> = {}) =>
    questions.ask({ agent, callId: 'c1', questions: [pick], signal: new AbortController().signal, ...over })
  return { questions, ask }
}

describe('asking is refused', () => {
  const owned = createFakeAgent({ owner: agent })
  const refusals: readonly [string, string, Parameters<ReturnType<typeof setUp>['ask']>[0], boolean][] = [
    ['after the turn was stopped, before any other check', 'ASK_ABORTED', { signal: AbortSignal.abort(), questions: [] }, false],
    ['without a question, before looking at the caller', 'EMPTY_QUESTIONS', { questions: [], agent: createFakeAgent() }, false],
    ['to an agent that is not the live one', 'CALLER_NOT_LIVE', { agent: createFakeAgent() }, false],
    ['for a caller that is not live, before looking at the intent', 'CALLER_NOT_LIVE', { agent: createFakeAgent(), questions: [{ ...plan, detail: ' ' }] }, false],
    ['with an intent that approves by no own option, before looking for somebody', 'BAD_INTENT', { questions: [pick, { ...plan, options: [{ label: 'Yes' }] }] }, false],
    ['with an intent where nothing is offered', 'BAD_INTENT', { questions: [{ id: 'plan', question: 'So?', detail: '# Plan', intent: plan.intent! }] }, true],
    ['with an intent and nothing to decide on', 'BAD_INTENT', { questions: [{ id: 'plan', question: 'So?', options: plan.options!, intent: plan.intent! }] }, true],
    ['with an intent and a blank detail', 'BAD_INTENT', { questions: [{ ...plan, detail: ' ' }] }, true],
    ['where nobody can answer', 'NO_PROVIDER', {}, false],
    ['with a good intent where nobody can answer', 'NO_PROVIDER', { questions: [plan] }, false],
  ]
  it.each(refusals)('%s', async (_name, code, over, isAttached) => {
    const { questions, ask } = setUp()
    if (isAttached) questions.attach()
    await expect(ask(over)).rejects.toMatchObject({ name: 'QuestionError', code })
    expect(questions.pending()).toEqual([])
  })
  it('to a child of a live agent, with what it should do instead', async () => {
    const questions = createQuestions({ liveAgent: () => owned, newId: String, logger: createRecordingLogger(), ...patient })
    questions.attach()
    await expect(questions.ask({ agent: owned, questions: [pick], signal: new AbortController().signal })).rejects.toMatchObject({
      code: 'DELEGATED_CALLER',
      message: expect.stringContaining('final result') as string,
    })
  })
})

describe('a pending question', () => {
  it('is listed, announced, and resolved by the first valid answer; a late one is told so', async () => {
    const { questions, ask } = setUp()
    questions.attach()
    let changes = 0
    questions.onDidChange(() => (changes += 1))
    const answers = ask()
    expect(questions.pending()).toEqual([{ id: 'set-1', agent, callId: 'c1', questions: [pick] }])
    const answer: Answer[] = [{ id: 'q', selected: ['B'] }]
    expect(questions.answer('set-1', answer)).toEqual({ ok: true })
    expect(questions.answer('set-1', answer)).toMatchObject({ ok: false, problem: expect.stringContaining('not pending') as string })
    expect([await answers, questions.pending(), changes]).toEqual([answer, [], 2])
  })
  it('stays pending after a bad answer', async () => {
    const { questions, ask } = setUp()
    questions.attach()
    const answers = ask()
    expect(questions.answer('set-1', [])).toMatchObject({ ok: false })
    expect(questions.pending()).toHaveLength(1)
    questions.answer('set-1', [{ id: 'q', selected: [] }])
    expect(await answers).toEqual([{ id: 'q', selected: [] }])
  })
  it('ends with ASK_CANCELLED when the person closes it', async () => {
    const { questions, ask } = setUp()
    questions.attach()
    const answers = ask()
    questions.answer('set-1', null)
    await expect(answers).rejects.toMatchObject({ code: 'ASK_CANCELLED' })
  })
  it('ends with ASK_ABORTED when its turn is stopped', async () => {
    const { questions, ask } = setUp()
    questions.attach()
    const turn = new AbortController()
    const answers = ask({ signal: turn.signal })
    turn.abort()
    await expect(answers).rejects.toMatchObject({ code: 'ASK_ABORTED' })
    expect(questions.pending()).toEqual([])
  })
  it('ends with ASK_ABORTED when its surface goes, and another may come then', async () => {
    const { questions, ask } = setUp()
    const detach = questions.attach()
    expect(() => questions.attach()).toThrow(expect.objectContaining({ code: 'DUPLICATE_PROVIDER' }) as Error)
    const answers = ask()
    detach()
    await expect(answers).rejects.toMatchObject({ code: 'ASK_ABORTED' })
    questions.attach()
    detach()
    expect(() => questions.attach()).toThrow(expect.objectContaining({ code: 'DUPLICATE_PROVIDER' }) as Error)
  })
})

describe('the log', () => {
  const asked = { type: 'question/asked', data: { id: 'set-1', callId: 'c1', questions: [pick] }, ignorable: true } as const
  const settled = (outcome: 'answered' | 'closed' | 'interrupted', answers?: readonly Answer[]) => ({ type: 'question/settled', data: { id: 'set-1', outcome, ...(answers && { answers }) }, ignorable: true }) as const
  const logOf = async (act: (questions: ReturnType<typeof setUp>['questions'], stop: () => void, detach: () => void) => void) => {
    const mine = createFakeAgent()
    const questions = createQuestions({ liveAgent: () => mine, newId: () => 'set-1', logger: createRecordingLogger(), ...patient })
    const detach = questions.attach()
    const turn = new AbortController()
    const outcome = questions.ask({ agent: mine, callId: 'c1', questions: [pick], signal: turn.signal }).catch((error: unknown) => error)
    act(questions, () => turn.abort(), detach)
    await outcome
    return mine.log
  }
  it('says what was asked and how it ended', async () => {
    expect(await logOf(({ answer }) => void answer('set-1', [{ id: 'q', selected: [] }]))).toEqual([asked, settled('answered', [{ id: 'q', selected: [] }])])
    expect(await logOf(({ answer }) => void answer('set-1', null))).toEqual([asked, settled('closed')])
    expect(await logOf((_questions, stop) => stop())).toEqual([asked, settled('interrupted')])
  })
  it('keeps a question open that a closing window cut off', async () => {
    expect(await logOf((_questions, _stop, detach) => detach())).toEqual([asked])
    expect(await logOf(({ dispose }) => dispose())).toEqual([asked])
  })

  it('has an open question asked again after a resume; the answer comes as a message', () => {
    const back = createFakeAgent({ events: [asked] })
    const { questions } = setUp()
    questions.attach()
    questions.restore(back)
    questions.restore(back)
    expect(questions.pending()).toEqual([{ id: 'set-1', agent: back, callId: 'c1', questions: [pick] }])
    expect(questions.answer('set-1', [{ id: 'q', selected: ['Z'] }])).toMatchObject({ ok: false })
    questions.answer('set-1', [{ id: 'q', selected: ['B'] }])
    expect(back.received).toMatchObject([{ verb: 'followup', message: { content: [{ text: expect.stringContaining('"selected":["B"]') as string }] } }])
    expect(back.log).toEqual([asked, settled('answered', [{ id: 'q', selected: ['B'] }])])
    expect(questions.pending()).toEqual([])
  })
  it('has a settled or closed one not asked again', () => {
    const { questions } = setUp()
    const back = createFakeAgent({ events: [asked, settled('interrupted')] })
    questions.restore(back)
    expect(questions.pending()).toEqual([])
  })
  it('has one that came with a fork or an import not asked there: it waits where it was asked', () => {
    const { questions } = setUp()
    const fork = createFakeAgent({ events: [asked] })
    questions.restore({ ...fork, session: { ...fork.session, header: { ...fork.session.header, seedLength: 1 } } })
    expect(questions.pending()).toEqual([])
  })
  const unreadable: readonly [name: string, questions: unknown[]][] = [
    ['nothing', []],
    ['no object', [null]],
    ['no words', [{ id: 'q' }]],
    ['a number for an id', [{ id: 1, question: 'x' }]],
    ['options that are no list', [{ id: 'q', question: 'x', options: {} }]],
    ['an option that is none', [{ id: 'q', question: 'x', options: [null] }]],
    ['an option without a label', [{ id: 'q', question: 'x', options: [{}] }]],
    ['a detail that is no text', [{ id: 'q', question: 'x', detail: 1 }]],
    ['an intent of another kind', [{ id: 'q', question: 'x', detail: 'd', options: [{ label: 'Yes' }], intent: { kind: 'other', approve: 'Yes' } }]],
    ['an intent that no option meets', [{ id: 'q', question: 'x', detail: 'd', options: [{ label: 'Yes' }], intent: { kind: 'plan-review', approve: 'No' } }]],
  ]
  it.each(unreadable)('that holds %s where a question should be has it not asked', (_name, list) => {
    const { questions } = setUp()
    questions.restore(createFakeAgent({ events: [{ ...asked, data: { ...asked.data, questions: list as Question[] } }] }))
    expect(questions.pending()).toEqual([])
  })
  it('keeps it open when its session goes before the answer', () => {
    const back = createFakeAgent({ events: [asked] })
    const { questions } = setUp()
    questions.restore(back)
    questions.withdraw(back)
    expect([questions.pending(), back.log, back.received]).toEqual([[], [asked], []])
  })
  it('that cannot take the event does not keep the person from being asked', async () => {
    const mine = createFakeAgent()
    mine.session.append = () => {
      throw new Error('closed')
    }
    const logger = createRecordingLogger()
    const questions = createQuestions({ liveAgent: () => mine, newId: () => 'set-1', logger, ...patient })
    questions.attach()
    const answers = questions.ask({ agent: mine, questions: [pick], signal: new AbortController().signal })
    questions.answer('set-1', [{ id: 'q', selected: [] }])
    expect([(await answers).length, logger.lines.length]).toEqual([1, 2])
  })
})

describe('a time-out', () => {
  const timed = (set: readonly Question[], timeOutMs = 60_000) => {
    const clock = createManualClock()
    const mine = createFakeAgent()
    const questions = createQuestions({ liveAgent: () => mine, newId: () => 'set-1', logger: createRecordingLogger(), clock, timeOutMs: () => timeOutMs })
    questions.attach()
    const contexts: UserMessage[] = []
    const outcome = questions.ask({ agent: mine, questions: set, signal: new AbortController().signal, addContext: (message) => void contexts.push(message) })
    return { clock, questions, outcome, contexts, log: mine.log }
  }
  const many: Question = { id: 'm', question: 'What else?', multi_select: true, options: [{ label: 'X' }, { label: 'Y (Recommended)' }, { label: 'Z（推荐）' }] }
  const plain: Question = { id: 'p', question: 'Where?', options: [{ label: 'Here' }, { label: 'There' }] }
  it('takes what each question recommends, else its first option, and tells the model that nobody chose', async () => {
    const { clock, questions, outcome, contexts, log } = timed([pick, many, plain])
    expect(questions.pending()[0]?.answersAt).toBe(clock.now() + 60_000)
    clock.advance(60_000)
    expect(await outcome).toEqual([{ id: 'q', selected: ['A (Recommended)'] }, { id: 'm', selected: ['Y (Recommended)', 'Z（推荐）'] }, { id: 'p', selected: ['Here'] }])
    expect([contexts.length, JSON.stringify(contexts).includes('Nobody answered within 60 s'), log.at(-1)?.data]).toMatchObject([1, true, { outcome: 'answered' }])
  })
  it('ends when the person begins to answer', () => {
    const { clock, questions } = timed([pick])
    clock.advance(59_000)
    questions.touch('set-1')
    questions.touch('set-1')
    clock.advance(600_000)
    expect(questions.pending()).toMatchObject([{ id: 'set-1' }])
    expect(questions.pending()[0]).not.toHaveProperty('answersAt')
  })
  it.each([
    ['is off until it is set', [pick], 0],
    ['never decides where nothing is offered', [pick, { id: 'o', question: 'Why?' }], 60_000],
    ['never decides on a plan', [plan], 60_000],
  ])('%s', (_name, set, timeOutMs) => {
    const { clock, questions } = timed(set, timeOutMs)
    clock.advance(600_000)
    expect(questions.pending()).toHaveLength(1)
    expect(questions.pending()[0]).not.toHaveProperty('answersAt')
  })
  it('goes with its question', async () => {
    const { clock, questions, outcome, log } = timed([pick])
    questions.answer('set-1', [{ id: 'q', selected: ['B'] }])
    clock.advance(600_000)
    expect([await outcome, log.length]).toEqual([[{ id: 'q', selected: ['B'] }], 2])
  })
})

describe('a resumed session', () => {
  const events = (more: readonly EventDraft[]): readonly EventDraft[] => [
    { type: 'turn/start', data: { turn: 1 } },
    { type: 'step/start', data: { turn: 1, step: 1 } },
    { type: 'tool/call', data: { turn: 1, step: 1, callId: 'c1', name: 'ask_user_question', arguments: '{}' } },
    { type: 'question/asked', data: { id: 'old', callId: 'c1', questions: [pick] }, ignorable: true },
    ...more,
  ]
  const back = (more: readonly EventDraft[] = []) => {
    const mine = createFakeAgent({ events: events(more) })
    const types = createEventTypes()
    for (const [type, rule] of Object.entries(featureEventTypes)) types.register(type as EventType, rule)
    mine.session.openTurn = () => {
      const rules = new Invariants(types)
      for (const event of mine.session.events()) rules.advance(event)
      return rules.openTurn
    }
    const questions = createQuestions({ liveAgent: () => mine, newId: () => 'new', logger: createRecordingLogger(), ...patient })
    questions.attach()
    questions.restore(mine)
    const ask = (set: readonly Question[] = [pick]) => questions.ask({ agent: mine, callId: 'c1', questions: set, signal: new AbortController().signal })
    return { mine, questions, ask, added: () => mine.log.slice(events(more).length).map(({ type, data }) => [type, (data as { readonly id: string }).id]) }
  }
  it('keeps a question for its call, which finds it under its id, without asking it anew', async () => {
    const { questions, ask, added } = back()
    expect(questions.pending()).toEqual([])
    const outcome = ask()
    expect(questions.pending().map(({ id }) => id)).toEqual(['old'])
    questions.answer('old', [{ id: 'q', selected: ['B'] }])
    expect([await outcome, added()]).toEqual([[{ id: 'q', selected: ['B'] }], [['question/settled', 'old']]])
  })
  it('of a copy of the session is another one, also when both were opened before either asked', () => {
    const [one, copy] = [createFakeAgent({ id: 'one', events: events([]) }), createFakeAgent({ id: 'copy', events: events([]) })]
    const types = createEventTypes()
    for (const [type, rule] of Object.entries(featureEventTypes)) types.register(type as EventType, rule)
    for (const { session } of [one, copy])
      session.openTurn = () => {
        const rules = new Invariants(types)
        for (const event of session.events()) rules.advance(event)
        return rules.openTurn
      }
    const questions = createQuestions({ liveAgent: (id) => (id === 'one' ? one : copy), newId: () => 'new', logger: createRecordingLogger(), ...patient })
    questions.attach()
    for (const mine of [one, copy]) questions.restore(mine)
    for (const mine of [one, copy]) void questions.ask({ agent: mine, callId: 'c1', questions: [pick], signal: new AbortController().signal })
    expect(questions.pending().map(({ id, agent: of }) => [id, of.id])).toEqual([['old', 'one'], ['new', 'copy']])
  })
  it('gives a call at once what the person had answered when a crash kept it from returning that', async () => {
    const answers = [{ id: 'q', selected: ['B'] }]
    const { questions, ask, added } = back([{ type: 'question/settled', data: { id: 'old', outcome: 'answered', answers }, ignorable: true }])
    expect([await ask(), questions.pending(), added()]).toEqual([answers, [], []])
  })
  it.each([[[]], [[null]], [[{ id: 'q', selected: ['Z'] }]], [[{ id: 'q' }]], [[{ id: 'q', selected: 'B' }]], [[{ id: 'q', selected: [], custom: 1 }]]])('asks again where the log holds %j for an answer', (answers) => {
    const { questions, ask } = back([{ type: 'question/settled', data: { id: 'old', outcome: 'answered', answers: answers as unknown as Answer[] }, ignorable: true }])
    void ask()
    expect(questions.pending().map(({ id }) => id)).toEqual(['old'])
  })
  it('asks anew what is not the same', () => {
    const { questions, ask, added } = back()
    void ask([{ ...pick, question: 'Which now?' }])
    expect([questions.pending().map(({ id }) => id), added()]).toEqual([['new'], [['question/asked', 'new']]])
  })
  it('is done with a question that its call did not ask again', async () => {
    const { mine, questions, added } = back()
    questions.callEnded(mine, 'c1', false)
    await Promise.resolve()
    expect([questions.pending(), added()]).toEqual([[], [['question/settled', 'old']]])
  })
  it('still asks for a call that may not run again; the answer is a message then', () => {
    const { mine, questions } = back()
    questions.callEnded(mine, 'c1', true)
    questions.answer('old', [{ id: 'q', selected: ['B'] }])
    expect(mine.received).toMatchObject([{ verb: 'followup' }])
  })
})

describe('what an answer points at', () => {
  it('goes to the call behind its result, and with a late answer before it', async () => {
    const context: UserMessage = { id: 'x', role: 'user', content: [{ type: 'text', text: 'the diff' }], source: { kind: 'plugin', plugin: 'references', form: 'notice', summary: 's' } }
    const { questions } = setUp()
    questions.attach()
    const contexts: UserMessage[] = []
    const outcome = questions.ask({ agent, questions: [pick], signal: new AbortController().signal, addContext: (message) => void contexts.push(message) })
    questions.answer(questions.pending()[0]!.id, [{ id: 'q', selected: ['B'] }], [context])
    await outcome
    expect(contexts).toEqual([context])
  })
})

describe('an answer', () => {
  const many: Question = { ...pick, multi_select: true }
  const open: Question = { id: 'q', question: 'Why?' }
  const check = (question: Question, answer: Partial<Answer>, problem: string | undefined) => {
    const said = problemOfAnswers([question], [{ id: 'q', selected: [], ...answer }])
    if (problem === undefined) expect(said).toBeUndefined()
    else expect(said).toContain(problem)
  }

  it('may skip', () => check(pick, {}, undefined))
  it('may choose one, label verbatim', () => check(pick, { selected: ['A (Recommended)'] }, undefined))
  it('may be a text instead', () => check(pick, { custom: 'C' }, undefined))
  it('may be a text where nothing is offered', () => check(open, { custom: 'so' }, undefined))
  it('may choose several and add a text where several are allowed', () => check(many, { selected: ['B', 'A (Recommended)'], custom: 'C' }, undefined))
  it('may not choose two of one', () => check(pick, { selected: ['A (Recommended)', 'B'] }, 'only one'))
  it('may not choose and write', () => check(pick, { selected: ['B'], custom: 'C' }, 'not both'))
  it('may not choose twice', () => check(many, { selected: ['B', 'B'] }, 'twice'))
  it('may not choose what was not offered', () => check(many, { selected: ['Z'] }, 'not offered'))
  it('may not be a blank text', () => check(many, { custom: ' ' }, 'empty'))
  it('must be for the question in its place', () => check(pick, { id: 'other' }, '“other”'))
  it('must come for each question', () => expect(problemOfAnswers([pick, open], [{ id: 'q', selected: [] }])).toContain('2 questions'))
})

it('goes with its plugin, which interrupts what waits', async () => {
  const kernel = createKernel({ logger: createRecordingLogger(), ...patient })
  kernel.root.provide('agents', { live: () => agent } as unknown as Agents)
  kernel.root.plugin(settingsPlugin({ source: memorySettings(), logger: createRecordingLogger(), dispatch: kernel.dispatch }))
  const fiber = kernel.root.plugin(questionsPlugin({ machine: { randomId: () => 'r' }, logger: createRecordingLogger(), clock: createManualClock() }))
  await fiber.ready
  kernel.root.questions.attach()
  const answers = kernel.root.questions.ask({ agent, questions: [pick], signal: new AbortController().signal })
  const outcome = answers.catch((error: unknown) => error)
  await fiber.dispose()
  expect(await outcome).toMatchObject({ code: 'ASK_ABORTED' })
  expect(kernel.root.get('questions')).toBeUndefined()
})
