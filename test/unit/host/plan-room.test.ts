import { describe, expect, it } from 'vitest'
import type { Question } from '../../../extension/features/questions/service.ts'
import { createFakeAgent } from '../../support/fake-agent.ts'
import { chatRig } from './chat-rig.ts'
import { resulted } from './session-events.ts'

const plan = '# Mend it\n\n## Steps\n\n1. One\n2. Two\n'
const question: Question = {
  id: 'plan-review', header: 'Plan', question: 'Agree?', detail: plan,
  options: [{ label: 'Approve' }, { label: 'Keep planning' }], intent: { kind: 'plan-review', approve: 'Approve' },
}

/** A session whose plan waits for the person. */
async function reviewing() {
  const rig = await chatRig()
  await rig.send('plan it')
  const id = rig.state().session!.id
  await rig.askQuestion({ callId: 'call-1', questions: [question] })
  const name = rig.planSurface.waiting[0] ?? 'none'
  const answered = () => rig.calls.filter((call) => Array.isArray(call) && call[0] === 'question')
  const edits = () => rig.agent(id).log.filter(({ type }) => type === 'plan/edited').map(({ data }) => data)
  return { ...rig, id, name, answered, edits }
}

describe('a plan that waits', () => {
  it('has a dock of its own and is no question, opens its document quietly, and asks beside the chat', async () => {
    const { state, planSurface, name, attention } = await reviewing()
    expect([state().questions, state().planReview]).toEqual([[], { id: 'k1', callId: 'call-1', title: 'Mend it', text: plan, isEdited: false, comments: 0, who: null }])
    expect([planSurface.done, name.endsWith('Mend%20it.md') || name.endsWith('Mend it.md')]).toEqual([[`quiet ${name}`], true])
    expect(attention.standing.map(({ text, buttons }) => [text, buttons.map(({ label }) => label)])).toEqual([['Bosun has a plan: Mend it', ['Approve', 'Refuse with Feedback…', 'Discuss']]])
  })
  it('is approved with its own yes, saved first, and its document closes', async () => {
    const { say, answered, planSurface, name, state } = await reviewing()
    await say({ type: 'plan', id: 'k1', action: { do: 'approve' } })
    expect([answered(), planSurface.done.slice(1), state().planReview]).toEqual([[['question', 'k1', [{ id: 'plan-review', selected: ['Approve'] }]]], [`settle ${name}`, `close ${name}`], null])
  })
  it('is refused with the words, the comments and the edits as they stand', async () => {
    const { say, answered, controller, planSurface, name } = await reviewing()
    planSurface.onSettle = () => controller.writePlan(name, plan.replace('2. Two', '2. Two and a half'))
    planSurface.comment(name, [{ id: 'a', line: 5, quote: '1. One', text: 'First measure.' }])
    await say({ type: 'plan', id: 'k1', action: { do: 'refuse', feedback: 'More tests.' } })
    const [[, , [answer]]] = answered() as [[string, string, [{ selected: string[]; custom: string }]]]
    expect(answer.selected).toEqual([])
    expect(answer.custom).toMatch(/^More tests\.\n\nComments on the plan:\n- Steps, line 5 \(“1\. One”\): First measure\.\n\nThe person changed the plan:\n[^]*\+2\. Two and a half$/)
  })
  it('is refused without words by the other label', async () => {
    const { say, answered } = await reviewing()
    await say({ type: 'plan', id: 'k1', action: { do: 'refuse', feedback: ' ' } })
    expect(answered()).toEqual([['question', 'k1', [{ id: 'plan-review', selected: ['Keep planning'] }]]])
  })
  it('is closed to be discussed', async () => {
    const { say, answered } = await reviewing()
    await say({ type: 'plan', id: 'k1', action: { do: 'discuss' } })
    expect(answered()).toEqual([['question', 'k1', null]])
  })
  it('stands in its document as the person left it, and what they save or comment on is kept in the log', async () => {
    const { controller, planSurface, name, edits, state, settle } = await reviewing()
    expect(controller.readPlan(name)).toEqual({ text: plan, isOpen: true })
    controller.writePlan(name, `${plan}3. Three\n`)
    planSurface.comment(name, [{ id: 'a', line: 1, quote: '# Mend it', text: 'Why?' }])
    await settle()
    expect(edits()).toEqual([
      { callId: 'call-1', plan: `${plan}3. Three\n`, comments: [] },
      { callId: 'call-1', plan: `${plan}3. Three\n`, comments: [{ id: 'a', line: 1, quote: '# Mend it', text: 'Why?' }] },
    ])
    expect([controller.readPlan(name).text, state().planReview?.isEdited, state().planReview?.comments]).toEqual([`${plan}3. Three\n`, true, 1])
  })
  it('that is decided on is not changed any more', async () => {
    const { controller, say, name, edits } = await reviewing()
    await say({ type: 'plan', id: 'k1', action: { do: 'approve' } })
    expect(() => controller.writePlan(name, 'x')).toThrow(/plan/)
    expect(edits()).toEqual([])
  })
  it('of a session that is not open says what to do', async () => {
    const { controller } = await reviewing()
    expect(() => controller.readPlan('plan/gone/c/x.md')).toThrow('Open the session')
  })
  it('is decided in the notification too, and backing out of the feedback asks again', async () => {
    const { attention, answered, editor, settle } = await reviewing()
    editor.answers.push(null)
    attention.click('refuse')
    await settle()
    editor.answers.push('Later.')
    attention.click('refuse')
    await settle()
    expect(answered()).toEqual([['question', 'k1', [{ id: 'plan-review', selected: [], custom: 'Later.' }]]])
  })
  it('is decided from the title of its editor', async () => {
    const { controller, answered, name } = await reviewing()
    await controller.run('approve-plan', [`bosun-plan:/${name.split('/').map(encodeURIComponent).join('/')}`])
    expect(answered()).toHaveLength(1)
  })
  it('is told from another by its document, whatever its call is named', async () => {
    const { controller, answered, askQuestion, planSurface } = await reviewing()
    await askQuestion({ id: 'k2', callId: 'call:2', questions: [question] })
    const second = planSurface.waiting[1]!
    await controller.run('discuss-plan', [`bosun-plan:/${second.split('/').map(encodeURIComponent).join('/')}`])
    expect(answered()).toEqual([['question', 'k2', null]])
  })
  it('whose call did not outlive the window is approved here, and the model is told', async () => {
    const { agent, id, happen, say, answered } = await reviewing()
    await happen(id, resulted('call-1', 'cut off'))
    await say({ type: 'plan', id: 'k1', action: { do: 'approve' } })
    expect([agent(id).log.some(({ type }) => type === 'plan/approved'), agent(id).received.filter(({ verb }) => verb === 'inject').length, answered().length]).toEqual([true, 1, 1])
  })
  it('is not approved by who comes second: it was refused elsewhere while their document was saved', async () => {
    const { agent, id, happen, say, answered, planSurface, answerQuestion, state } = await reviewing()
    planSurface.onSettle = () => {
      planSurface.onSettle = () => {}
      answerQuestion('k1', [{ id: 'plan-review', selected: ['Keep planning'] }])
      agent(id).session.append(resulted('call-1', 'keep planning'))
    }
    await say({ type: 'plan', id: 'k1', action: { do: 'approve' } })
    await happen(id)
    expect([agent(id).log.some(({ type }) => type === 'plan/approved'), agent(id).received.some(({ verb }) => verb === 'inject'), answered().length]).toEqual([false, false, 1])
    expect(state().notices.some(({ id: notice }) => notice === 'plan')).toBe(true)
  })
  it('of one session is not that of another, whose model named its call the same', async () => {
    const { controller, askQuestion, planSurface, edits, name } = await reviewing()
    const other = createFakeAgent({ id: 'other' })
    await askQuestion({ id: 'k2', agent: other, callId: 'call-1', questions: [{ ...question, detail: '# Another\n' }] })
    const second = planSurface.waiting[1]!
    expect([controller.readPlan(name).text, second.includes('other')]).toEqual([plan, true])
    controller.writePlan(name, `${plan}3. Three\n`)
    expect([edits().length, other.log]).toEqual([1, []])
    await controller.run('discuss-plan', [`bosun-plan:/${name.split('/').map(encodeURIComponent).join('/')}`])
    expect(() => controller.writePlan(name, 'x')).toThrow(/plan/)
  })
  it.each([['an emoji at its edge', `${'x'.repeat(79)}😀 and more`], ['control characters', 'a\u0000b\u202ec\u001bd'], ['nothing but signs', '///:*?"<>|'], ['dots', '..']])('with %s in its title has a name that an editor can open', async (_name, title) => {
    const rig = await chatRig()
    await rig.send('plan it')
    const text = `# ${title}\n\nx\n`
    await rig.askQuestion({ callId: 'call-1', questions: [{ ...question, detail: text }] })
    const [name = ''] = rig.planSurface.waiting
    expect(() => encodeURIComponent(name)).not.toThrow()
    expect(name).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
    expect(rig.controller.readPlan(name).text).toBe(text)
  })
  it('a decision on one that waits no more does nothing, and says so', async () => {
    const { say, state, answered } = await reviewing()
    await say({ type: 'plan', id: 'other', action: { do: 'approve' } })
    expect([answered(), state().notices.some(({ id }) => id === 'plan')]).toEqual([[], true])
  })
})

describe('the sign of plan mode', () => {
  it('stands while plan mode holds, also for the session that is to begin', async () => {
    const { controller, planSurface, settle } = await chatRig()
    const before = planSurface.mode
    await controller.run('toggle-plan')
    await settle()
    expect([before, planSurface.mode?.text]).toEqual([null, '$(checklist) Plan'])
  })
})

it('a call that plan mode refused is let through once from its card', async () => {
  const { say, calls, send } = await chatRig()
  await send('go')
  await say({ type: 'plan-allow-once', callId: 'c9' })
  expect(calls).toContainEqual(['allow-once', 'c9'])
})
