import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import type { Answer, Questions } from '../../../extension/features/questions/service.ts'
import { createExitPlanMode, verdictOf } from '../../../extension/tools/plan/exit-plan-mode.ts'
import { createFakeAgent } from '../../support/fake-agent.ts'
import type { SettingValues } from '../../support/memory-settings.ts'
import { approve, createPlanRig, goodPlan } from '../../support/plan-rig.ts'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'

/* Chapter 2, `exit_plan_mode`: its checks, what counts as a yes, and what comes of it. */

let rig: Awaited<ReturnType<typeof createPlanRig>> | undefined
afterEach(async () => {
  await rig?.whole.dispose()
  rig = undefined
})
const planning = async (settings?: SettingValues) => {
  rig = await createPlanRig(settings)
  rig.ctx.plan.set(rig.agent, true)
  return rig
}

describe('errors, in the order in which they are looked for', () => {
  /** The body alone, so that each check can be met with everything behind it wrong too. */
  const run = async (parts: { readonly isActive?: boolean; readonly pending?: boolean | null; readonly questions?: Pick<Questions, 'ask'> | undefined; readonly hasAgent?: boolean; readonly plan?: string; readonly isGone?: boolean }) => {
    const gone = new AbortController()
    if (parts.isGone === true) gone.abort()
    const tool = createExitPlanMode({
      plan: { isActive: () => parts.isActive ?? true, pending: () => parts.pending ?? null },
      reviews: { approved: () => null, approve: () => { throw new Error('nobody approved') } },
      questions: () => parts.questions,
      gone: gone.signal,
    })
    const exec = { callId: 'c', signal: new AbortController().signal, ...(parts.hasAgent !== false && { agent: createFakeAgent() }) }
    return await Promise.resolve(tool.execute({ plan: parts.plan ?? goodPlan }, exec as never)).then(
      () => 'passed',
      (error: { code?: string; message: string }) => `${error.code ?? '-'}: ${error.message}`,
    )
  }
  const answering = (answers: readonly Answer[]): Pick<Questions, 'ask'> => ({ ask: async () => answers })
  const rows: readonly [name: string, parts: Parameters<typeof run>[0], told: RegExp][] = [
    ['no calling agent', { hasAgent: false, isActive: false, plan: '' }, /^NO_AGENT/],
    ['not in plan mode', { isActive: false, plan: '' }, /^NOT_PLANNING/],
    ['approved already in this step', { pending: false, plan: '' }, /^NOT_PLANNING.*next step/],
    ['a blank plan', { plan: ' \n' }, /^BAD_PLAN/],
    ['a plan without a heading', { plan: 'Do it.' }, /^BAD_PLAN/],
    ['a level-2 heading', { plan: '## Plan\n\nDo it.' }, /^BAD_PLAN/],
    ['a heading without words', { plan: '# \n\nDo it.' }, /^BAD_PLAN/],
    ['no blank behind the mark', { plan: '#Plan' }, /^BAD_PLAN/],
    ['a plan that is too long', { plan: `# P\n${'x'.repeat(60_000)}` }, /^BAD_PLAN.*60000/],
    ['no question channel', {}, /^NO_CHANNEL/],
    ['keep planning without words', { questions: answering([{ id: 'plan-review', selected: ['Keep planning'] }]) }, /^KEEP_PLANNING.*did not say why/],
    ['the plugin was loaded anew during the review', { questions: answering(approve), isGone: true }, /^REVIEW_WITHDRAWN/],
  ]
  it.each(rows)('%s', async (_name, parts, told) => expect(await run(parts)).toMatch(told))
  it('keep planning gives the feedback word for word', async () => expect(await run({ questions: answering([{ id: 'plan-review', selected: [], custom: '  Use  UTC,\nnot local.' }]) })).toContain('  Use  UTC,\nnot local.'))
  it('any other failure keeps its own message', async () => expect(await run({ questions: { ask: async () => Promise.reject(Object.assign(new Error('the channel broke'), { code: 'X' })) } })).toBe('X: the channel broke'))
})

describe('only the exact yes counts', () => {
  const rows: readonly [name: string, answers: readonly Answer[], isApproved: boolean][] = [
    ['exactly Approve', [{ id: 'plan-review', selected: ['Approve'] }], true],
    ['no answer', [], false],
    ['an answer to something else', [{ id: 'other', selected: ['Approve'] }], false],
    ['two answers', [{ id: 'plan-review', selected: ['Approve'] }, { id: 'plan-review', selected: ['Approve'] }], false],
    ['one more answer to something else', [{ id: 'plan-review', selected: ['Approve'] }, { id: 'other', selected: [] }], false],
    ['both labels', [{ id: 'plan-review', selected: ['Approve', 'Keep planning'] }], false],
    ['Approve and words', [{ id: 'plan-review', selected: ['Approve'], custom: 'but …' }], false],
    ['another spelling', [{ id: 'plan-review', selected: ['approve'] }], false],
    ['skipped', [{ id: 'plan-review', selected: [] }], false],
  ]
  it.each(rows)('%s', (_name, answers, isApproved) => expect(verdictOf(answers).isApproved).toBe(isApproved))
})

describe('the review', () => {
  it('is one question with the plan as its detail and the intent that says which label is yes', async () => {
    const { submit } = await planning()
    const { review, answer } = await submit()
    expect(review.questions).toEqual([
      {
        id: 'plan-review',
        header: expect.any(String) as string,
        question: expect.any(String) as string,
        detail: goodPlan,
        options: [{ label: 'Approve', description: expect.any(String) as string }, { label: 'Keep planning', description: expect.any(String) as string }],
        intent: { kind: 'plan-review', approve: 'Approve' },
      },
    ])
    await answer(null)
  })
  const stays: readonly [name: string, answers: readonly Answer[] | null, told: string][] = [
    ['refused', [{ id: 'plan-review', selected: ['Keep planning'] }], 'keep planning'],
    ['feedback', [{ id: 'plan-review', selected: [], custom: 'More tests.' }], 'More tests.'],
    ['dismissed', null, 'end your turn now and wait'],
  ]
  it.each(stays)('%s: plan mode stays on', async (_name, answers, told) => {
    const { submit, modes } = await planning()
    const result = await (await submit()).answer(answers)
    expect([result.isError, result.text.includes(told), modes()]).toEqual([true, true, [true]])
  })
  it('aborted: plan mode stays on, and the question is withdrawn', async () => {
    const { agent, ctx, submit, modes } = await planning()
    await submit()
    agent.cancel({ kind: 'user' } as never)
    await agent.whenIdle()
    expect([ctx.questions.pending(), modes()]).toEqual([[], [true]])
  })
  it('nobody to answer: fails with the reason, and plan mode stays on', async () => {
    const { detach, turn, modes } = await planning()
    detach()
    const [result] = await turn({ name: 'exit_plan_mode', args: { plan: goodPlan } })
    expect([result?.isError, result?.text, modes()]).toEqual([true, expect.any(String), [true]])
  })
  it('a child cannot open it', async () => {
    const { adapter, agent, ctx, results, say, whole } = await planning()
    const child = await ctx.agents.create({ cwd: whole.folder, preset: 'editor', owner: agent })
    ctx.plan.set(child, true)
    adapter.play(callTools({ id: 'c', name: 'exit_plan_mode', args: { plan: goodPlan } }), sayText('Done.'))
    say('go', child)
    await child.whenIdle()
    expect([results(child)[0]?.isError, results(child)[0]?.text, ctx.questions.pending()]).toEqual([true, expect.stringMatching(/result|child|agent/i), []])
  })
  it('runs alone', async () => {
    const { ctx } = await planning()
    expect(ctx.tools.executionMode({ name: 'exit_plan_mode', arguments: { plan: goodPlan } })).toBe('exclusive')
  })
})

describe('an approval', () => {
  it('says only yes, leaves silently with the next step, and keeps the gate closed for the rest of the batch', async () => {
    const { submit, modes, results, adapter, whole } = await planning()
    const write = { name: 'write', args: { file_path: 'a.txt', content: 'x' } }
    const { answer } = await submit(goodPlan, [write])
    const result = await answer(approve)
    expect(result).toMatchObject({ isError: false })
    expect(results().at(-1)).toMatchObject({ isError: true, policy: { by: 'plan' } })
    await expect(access(join(whole.folder, 'a.txt'))).rejects.toThrow('ENOENT')
    expect(modes()).toEqual([true, false])
    const told = JSON.stringify(adapter.requests.at(-1)?.messages)
    expect([told.includes('The person turned plan mode'), told.includes('Plan mode is off')]).toEqual([false, true])
  })
  it('gives exactly {approved: true} to programs when nothing was changed', async () => {
    const { agent, ctx } = await planning()
    const result = ctx.tools.execute({ callId: 'n1', name: 'exit_plan_mode', arguments: { plan: goodPlan }, agent, parent: { id: 'program' }, signal: new AbortController().signal })
    await expect.poll(() => ctx.questions.pending().length).toBe(1)
    ctx.questions.answer(ctx.questions.pending()[0]!.id, approve)
    const { value } = (await result) as { value?: Json }
    expect(value).toEqual({ approved: true })
  })
  it('keeps the plan, with its steps', async () => {
    const { agent, ctx, submit, facts } = await planning()
    const { answer, callId } = await submit()
    await answer(approve)
    const kept = { callId, plan: goodPlan, isEdited: false, comments: [], steps: ['Read the test.', 'Use UTC in `src/date.ts`.', 'Run the suite.'] }
    expect([facts('plan/approved'), ctx.planReviews.approved(agent.session)]).toEqual([[kept], kept])
  })
  it('with edits and comments gives the model the difference and each comment with heading and line', async () => {
    const { agent, ctx, submit, facts } = await planning()
    const { answer, callId } = await submit()
    const plan = goodPlan.replace('3. Run the suite.', '3. Run the whole suite twice.')
    ctx.planReviews.edit(agent.session, callId, goodPlan, { plan, comments: [{ id: 'k', line: 6, quote: '2. Use UTC in `src/date.ts`.', text: 'And in the tests.' }] })
    const { text } = await answer(approve)
    expect(text).toContain('-3. Run the suite.\n+3. Run the whole suite twice.')
    expect(text).toContain('- Steps, line 6 (“2. Use UTC in `src/date.ts`.”): And in the tests.')
    expect(facts('plan/approved')[0]).toMatchObject({ plan, isEdited: true, steps: ['Read the test.', 'Use UTC in `src/date.ts`.', 'Run the whole suite twice.'] })
  })
  it('that the window did not outlive ends plan mode when the session is opened again', async () => {
    const { agent, adapter, ctx, say, whole, modes } = await planning()
    adapter.play([{ type: 'do', act: () => void ctx.planReviews.approve(agent, 'c', goodPlan) }, { type: 'hang' }])
    say('plan it')
    await expect.poll(() => ctx.plan.pending(agent.session)).toBe(false)
    const again = await whole.restart()
    again.ctx.models.register(createScriptedAdapter())
    const reopened = await again.ctx.agents.resume(agent.id)
    expect(modes(reopened)).toEqual([true, false])
  })
})

describe('a review that the window did not outlive', () => {
  it('waits again as the person left it, and their yes is the result of the very call', async () => {
    const { agent, ctx, submit, whole } = await planning()
    const { callId } = await submit()
    ctx.planReviews.edit(agent.session, callId, goodPlan, { plan: `${goodPlan}4. Tidy up.\n`, comments: [] })
    const again = await whole.restart()
    const adapter = createScriptedAdapter([sayText('Begun.')])
    again.ctx.models.register(adapter)
    again.ctx.questions.attach()
    const reopened = await again.ctx.agents.resume(agent.id)
    await expect.poll(() => again.ctx.questions.pending().length).toBe(1)
    again.ctx.questions.answer(again.ctx.questions.pending()[0]!.id, approve)
    await reopened.whenIdle()
    const results = reopened.session.events().flatMap((event) => (event.type === 'tool/result' ? [event.data.message.content[0]] : []))
    expect(results.map((each) => [each.callId, each.isError, JSON.stringify(each.content).includes('+4. Tidy up.')])).toEqual([[callId, false, true]])
    expect([again.ctx.plan.isActive(reopened.session), again.ctx.tasks.of(reopened.session).tasks?.length]).toEqual([false, 4])
  })
  it('gives its yes again when the crash came between the yes and the result', async () => {
    const { agent, ctx, submit } = await planning()
    const { callId } = await submit()
    ctx.planReviews.approve(agent, callId, goodPlan)
    const [first, second] = [ctx.planReviews.approve(agent, callId, goodPlan).approved, rig!.facts('plan/approved').length]
    expect([first.callId, second]).toEqual([callId, 1])
  })
})

describe('a log that a crash cut between the yes and the end of plan mode', () => {
  it('ends plan mode all the same when the call goes on', async () => {
    const { agent, ctx, submit, whole, modes } = await planning()
    const { callId } = await submit()
    agent.session.append({ type: 'plan/approved', data: { callId, plan: goodPlan, comments: [], isEdited: false, steps: [] }, ignorable: true })
    expect(ctx.plan.pending(agent.session)).toBe(null)
    const again = await whole.restart()
    again.ctx.models.register(createScriptedAdapter([sayText('Begun.')]))
    again.ctx.questions.attach()
    const reopened = await again.ctx.agents.resume(agent.id)
    await reopened.whenIdle()
    expect([modes(reopened), again.ctx.questions.pending()]).toEqual([[true, false], []])
  })
})

it('a document with comments that cannot be read is shown with the others', async () => {
  const { agent, ctx } = await planning()
  const comments = [null, 1, {}, { id: 'a', line: 'x', quote: '', text: '' }, { id: 'b', line: 1, quote: '# Mend the date test', text: 'Why?' }]
  agent.session.append({ type: 'plan/edited', data: { callId: 'c', plan: goodPlan, comments: comments as never }, ignorable: true })
  expect(ctx.planReviews.draft(agent.session, 'c', goodPlan).comments.map(({ id }) => id)).toEqual(['b'])
  expect(ctx.planReviews.feedback(agent.session, 'c', goodPlan, 'No.')).toContain('Why?')
})

describe('cards', () => {
  const tool = createExitPlanMode({ plan: {} as never, reviews: {} as never, questions: () => undefined, gone: new AbortController().signal })
  it.each([
    ['# The plan\n\ntext', 'The plan'],
    ['text\n\n### Deep\n', 'Deep'],
    ['no heading', 'Plan'],
  ])('%j is titled by its first heading', (plan, title) => expect(tool.presentCall?.({ plan })).toEqual({ card: 'generic', kind: 'other', face: 'plan', title, content: [{ type: 'text', text: plan }] }))
  it('the result is titled “Plan review”, also when it failed', () => {
    for (const isError of [false, true]) {
      expect(tool.presentResult?.({ plan: goodPlan }, { isError, content: [{ type: 'text', text: 'said' }] })).toEqual({ card: 'generic', face: 'plan', title: 'Plan review', content: [{ type: 'text', text: 'said' }] })
    }
  })
  it('malformed arguments have none', () => expect([tool.presentCall?.({ plan: 1 }), tool.presentResult?.({}, { isError: false, content: [] })]).toEqual([undefined, undefined]))
})
