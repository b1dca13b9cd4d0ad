import { describe, expect, it } from 'vitest'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import type { Agents } from '../../../../extension/core/loop/points.ts'
import { problemOfAnswers } from '../../../../extension/features/questions/check-answers.ts'
import { questionsPlugin } from '../../../../extension/features/questions/plugin.ts'
import { createQuestions } from '../../../../extension/features/questions/questions.ts'
import type { Answer, Question } from '../../../../extension/features/questions/service.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

const agent = createFakeAgent()
const pick: Question = { id: 'q', question: 'Which?', options: [{ label: 'A (Recommended)' }, { label: 'B' }] }
const setUp = () => {
  let ids = 0
  const questions = createQuestions({ liveAgent: (id) => (id === agent.id ? agent : undefined), newId: () => `set-${++ids}`, logger: createRecordingLogger() })
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
    ['where nobody can answer', 'NO_PROVIDER', {}, false],
  ]
  it.each(refusals)('%s', async (_name, code, over, isAttached) => {
    const { questions, ask } = setUp()
    if (isAttached) questions.attach()
    await expect(ask(over)).rejects.toMatchObject({ name: 'QuestionError', code })
    expect(questions.pending()).toEqual([])
  })
  it('to a child of a live agent, with what it should do instead', async () => {
    const questions = createQuestions({ liveAgent: () => owned, newId: String, logger: createRecordingLogger() })
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
  const settled = (outcome: 'answered' | 'closed' | 'interrupted') => ({ type: 'question/settled', data: { id: 'set-1', outcome }, ignorable: true }) as const
  const logOf = async (act: (questions: ReturnType<typeof setUp>['questions'], stop: () => void, detach: () => void) => void) => {
    const mine = createFakeAgent()
    const questions = createQuestions({ liveAgent: () => mine, newId: () => 'set-1', logger: createRecordingLogger() })
    const detach = questions.attach()
    const turn = new AbortController()
    const outcome = questions.ask({ agent: mine, callId: 'c1', questions: [pick], signal: turn.signal }).catch((error: unknown) => error)
    act(questions, () => turn.abort(), detach)
    await outcome
    return mine.log
  }
  it('says what was asked and how it ended', async () => {
    expect(await logOf(({ answer }) => void answer('set-1', [{ id: 'q', selected: [] }]))).toEqual([asked, settled('answered')])
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
    expect(back.log).toEqual([asked, settled('answered')])
    expect(questions.pending()).toEqual([])
  })
  it('has a settled or closed one not asked again', () => {
    const { questions } = setUp()
    const back = createFakeAgent({ events: [asked, settled('interrupted')] })
    questions.restore(back)
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
    const questions = createQuestions({ liveAgent: () => mine, newId: () => 'set-1', logger })
    questions.attach()
    const answers = questions.ask({ agent: mine, questions: [pick], signal: new AbortController().signal })
    questions.answer('set-1', [{ id: 'q', selected: [] }])
    expect([(await answers).length, logger.lines.length]).toEqual([1, 2])
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
  const kernel = createKernel({ logger: createRecordingLogger() })
  kernel.root.provide('agents', { live: () => agent } as unknown as Agents)
  const fiber = kernel.root.plugin(questionsPlugin({ machine: { randomId: () => 'r' }, logger: createRecordingLogger() }))
  await fiber.ready
  kernel.root.questions.attach()
  const answers = kernel.root.questions.ask({ agent, questions: [pick], signal: new AbortController().signal })
  const outcome = answers.catch((error: unknown) => error)
  await fiber.dispose()
  expect(await outcome).toMatchObject({ code: 'ASK_ABORTED' })
  expect(kernel.root.get('questions')).toBeUndefined()
})
