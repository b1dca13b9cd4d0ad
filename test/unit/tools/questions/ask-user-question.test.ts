import { describe, expect, it } from 'vitest'
import type { Agents } from '../../../../extension/core/loop/points.ts'
import { questionsPlugin } from '../../../../extension/features/questions/plugin.ts'
import { questionTools } from '../../../../extension/tools/questions/plugin.ts'
import { settingsPlugin } from '../../../../extension/core/settings/service.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { memorySettings } from '../../../support/memory-settings.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { createToolBench, outcomeOf, textOf } from '../../../support/tool-bench.ts'

const bench = async () => {
  const made = createToolBench()
  made.ctx.provide('agents', { live: () => made.agent } as unknown as Agents)
  if (made.ctx.get('settings') === undefined) await made.mount(settingsPlugin({ source: memorySettings(), logger: made.logger, dispatch: made.kernel.dispatch }))
  await made.mount(questionsPlugin({ machine: createFakeMachine(), logger: made.logger, clock: createManualClock() }))
  const fiber = await made.mount(questionTools)
  made.ctx.questions.attach()
  return { ...made, fiber, questions: made.ctx.questions }
}
const two = {
  questions: [
    { id: 'db', question: 'Which database?', header: 'DB', options: [{ label: 'SQLite (Recommended)', description: 'Small.', extra: 1 }, { label: 'PostgreSQL' }] },
    { id: 'why', question: 'Why?' },
  ],
}

describe('ask_user_question', () => {
  it('waits for the answers and gives them as they were chosen', async () => {
    const { run, questions } = await bench()
    const asked = run('ask_user_question', two)
    await expect.poll(() => questions.pending().length).toBe(1)
    const [set] = questions.pending()
    const answers = [{ id: 'db', selected: ['SQLite (Recommended)'] }, { id: 'why', selected: [], custom: 'It fits' }]
    questions.answer(set!.id, answers)
    const result = await asked
    expect(outcomeOf(result)).toEqual({ answers })
    expect(textOf(result)).toBe(JSON.stringify({ answers }))
    expect(result.meta).toEqual(answers)
  })
  it('fails with the reason when the person closes it, and with ASK_ABORTED when its turn is stopped', async () => {
    const { run, questions } = await bench()
    const closed = run('ask_user_question', two)
    await expect.poll(() => questions.pending().length).toBe(1)
    questions.answer(questions.pending()[0]!.id, null)
    expect(outcomeOf(await closed)).toMatchObject({ code: 'ASK_CANCELLED' })

    const turn = new AbortController()
    const stopped = run('ask_user_question', two, { signal: turn.signal })
    await expect.poll(() => questions.pending().length).toBe(1)
    turn.abort()
    expect(outcomeOf(await stopped)).toMatchObject({ code: 'ASK_ABORTED' })
    expect(questions.pending()).toEqual([])
  })

  const refused: readonly [string, unknown, string, string][] = [
    ['no list', {}, 'INVALID_ARGS', 'questions'],
    ['an empty list', { questions: [] }, 'EMPTY_QUESTIONS', 'at least one'],
    ['more questions than can be asked', { questions: Array.from({ length: 51 }, (_, index) => ({ id: String(index), question: 'x' })) }, 'INVALID_ARGS', 'at most 50'],
    ['more options than can be offered', { questions: [{ id: 'a', question: 'x', options: Array.from({ length: 101 }, (_, index) => ({ label: String(index) })) }] }, 'INVALID_ARGS', 'at most 100'],
    ['a text that nobody reads', { questions: [{ id: 'a', question: 'x', options: [{ label: 'x'.repeat(10_001) }] }] }, 'INVALID_ARGS', '10001 characters'],
    ['a blank question', { questions: [{ id: 'a', question: ' ' }] }, 'INVALID_ARGS', 'no text'],
    ['two questions with one id', { questions: [{ id: 'a', question: 'x' }, { id: 'a', question: 'y' }] }, 'INVALID_ARGS', 'the id “a”'],
    ['two options with one label', { questions: [{ id: 'a', question: 'x', options: [{ label: 'l' }, { label: 'l' }] }] }, 'INVALID_ARGS', 'same label'],
    ['an option without a label', { questions: [{ id: 'a', question: 'x', options: [{ label: '' }] }] }, 'INVALID_ARGS', 'no label'],
  ]
  it.each(refused)('refuses %s', async (_name, args, code, message) =>
    expect(outcomeOf(await (await bench()).run('ask_user_question', args))).toEqual({ code, message: expect.stringContaining(message) as string }))
  it('needs a session', async () => expect(outcomeOf(await (await bench()).run('ask_user_question', two, { agent: null }))).toMatchObject({ code: 'INVALID_ARGS' }))
  it('goes with its plugin', async () => {
    const { ctx, fiber } = await bench()
    await fiber.dispose()
    expect(ctx.tools.get('ask_user_question')).toBeUndefined()
  })
})

describe('the cards of ask_user_question', () => {
  const present = async () => (await bench()).ctx.tools.get('ask_user_question')!
  const answers = [{ id: 'db', selected: ['PostgreSQL'] }, { id: 'why', selected: [], custom: 'scale' }]
  const checkResult = async (args: unknown, result: object, view: unknown) =>
    expect((await present()).presentResult?.(args as never, { content: [{ type: 'text', text: 'x' }], isError: false, ...result })).toEqual(view)

  it('shows what is asked while it waits', async () =>
    expect((await present()).presentCall?.(two)).toEqual({
      card: 'generic',
      title: 'Ask 2 questions',
      kind: 'other',
      content: [
        { type: 'text', text: 'Which database?\n- SQLite (Recommended)\n- PostgreSQL' },
        { type: 'text', text: 'Why?' },
      ],
    }))
  it('has no pending card for malformed arguments', async () => expect((await present()).presentCall?.({ questions: 1 })).toBeUndefined())
  it('shows what was answered', () =>
    checkResult(two, { meta: answers }, {
      card: 'question',
      items: [
        { question: 'Which database?', options: ['SQLite (Recommended)', 'PostgreSQL'], selected: ['PostgreSQL'] },
        { question: 'Why?', options: [], selected: [], custom: 'scale' },
      ],
    }))
  it('says that it was not answered', () =>
    checkResult(two, { isError: true }, { card: 'generic', title: 'Question not answered', content: [{ type: 'text', text: 'x' }] }))
  it.each([[undefined], [null], ['x'], [[]], [{}]])('has no completed card for the facts %j', (meta) => checkResult(two, { ...(meta !== undefined && { meta }) }, undefined))
  it('shows an answer it cannot read as skipped', () => checkResult(two, { meta: [1, null] }, { card: 'question', items: expect.any(Array) as unknown }))
  it('has no completed card for malformed arguments', () => checkResult({ questions: [1] }, { meta: answers }, undefined))
})
