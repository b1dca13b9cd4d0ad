import { afterEach, describe, expect, it } from 'vitest'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import type { Answer } from '../../../extension/features/questions/service.ts'
import { linesOf, prompt } from '../../support/loop-rig.ts'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import { wholeApplication } from '../../support/whole-application.ts'

const left: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const undo of left.splice(0).toReversed()) await undo()
})

const pick = { id: 'db', question: 'Which?', options: [{ label: 'SQLite (Recommended)' }, { label: 'PostgreSQL' }] }
const many = { ...pick, id: 'also', multi_select: true }
const open = { id: 'why', question: 'Why?' }

/** A turn in the whole application that asks; `act` is the person. What the model reads of it. */
async function asked(questions: readonly object[], act: (desk: Desk) => void | Promise<void>, { isAttached = true, isChild = false } = {}) {
  const adapter = createScriptedAdapter([callTools({ id: 'c1', name: 'ask_user_question', args: { questions } }), sayText('Thanks.')])
  const app = await wholeApplication({ adapters: [adapter], settings: { 'model.provider': 'scripted', 'model.name': 'm1' } })
  left.push(() => app.dispose())
  const { ctx } = app
  if (isAttached) ctx.questions.attach()
  const root = await ctx.agents.create({ cwd: app.folder })
  const agent = isChild ? await ctx.agents.create({ cwd: app.folder, owner: root }) : root
  agent.followup(prompt('Go on.'))
  const first = async () => {
    await expect.poll(() => ctx.questions.pending().length).toBe(1)
    return ctx.questions.pending()[0]!.id
  }
  await act({
    answer: async (answers, contexts) => ctx.questions.answer(await first(), answers, contexts),
    async stop() {
      await first()
      agent.cancel({ kind: 'user' })
    },
    pending: () => ctx.questions.pending().length,
  })
  await agent.whenIdle()
  const result = agent.session.milestones().find((event) => event.type === 'tool/result')
  const block = result?.type === 'tool/result' ? result.data.message.content[0] : undefined
  const text = block?.content.map((part) => (part.type === 'text' ? part.text : '')).join('') ?? ''
  return { text, code: result?.type === 'tool/result' ? (result.data.error?.code ?? null) : null, after: adapter.requests[1]?.messages.slice(adapter.requests[0]?.messages.length) ?? [], lines: linesOf(agent.session) }
}

interface Desk {
  answer(answers: readonly Answer[] | null, contexts?: readonly UserMessage[]): Promise<{ readonly ok: boolean }>
  stop(): Promise<void>
  pending(): number
}

describe('3 what the model reads', () => {
  it.each([
    ['labels as they were offered, suffix included', [pick], [{ id: 'db', selected: ['SQLite (Recommended)'] }]],
    ['own words in the place of a single choice', [pick], [{ id: 'db', selected: [], custom: 'a file' }]],
    ['own words beside several choices', [many], [{ id: 'also', selected: ['SQLite (Recommended)', 'PostgreSQL'], custom: 'both, in turn' }]],
    ['a skipped question as one without a choice', [pick, open], [{ id: 'db', selected: [] }, { id: 'why', selected: [] }]],
  ])('is compact JSON with %s', async (_name, questions, answers) => expect((await asked(questions, async ({ answer }) => void (await answer(answers)))).text).toBe(JSON.stringify({ answers })))

  it('is followed by what the answer names', async () => {
    const context: UserMessage = { id: 'x', role: 'user', content: [{ type: 'text', text: 'the diff of today' }], source: { kind: 'plugin', plugin: 'references', form: 'notice', summary: 'Changes' } }
    const { after } = await asked([open], async ({ answer }) => void (await answer([{ id: 'why', selected: [], custom: 'see @changes' }], [context])))
    expect(after.map(({ role }) => role)).toEqual(['assistant', 'tool', 'user'])
    expect(JSON.stringify(after.at(-1))).toContain('the diff of today')
  })
})

describe('3 a question waits', () => {
  it('on after an answer that is none: wrong count, wrong id, foreign label, two of one, label with words, blank words', async () => {
    const { text } = await asked([pick], async ({ answer, pending }) => {
      const bad: readonly (readonly Answer[])[] = [[], [{ id: 'x', selected: [] }], [{ id: 'db', selected: ['MySQL'] }], [{ id: 'db', selected: ['SQLite (Recommended)', 'PostgreSQL'] }], [{ id: 'db', selected: ['PostgreSQL'], custom: 'or so' }], [{ id: 'db', selected: [], custom: ' ' }]]
      for (const answers of bad) expect([await answer(answers), pending()]).toMatchObject([{ ok: false }, 1])
      await answer([{ id: 'db', selected: ['PostgreSQL'] }])
    })
    expect(text).toContain('PostgreSQL')
  })
  it.each([
    ['the person closes it', 'ASK_CANCELLED', async ({ answer }: Desk) => void (await answer(null)), 'end completed'],
    ['the turn is stopped', 'ASK_ABORTED', ({ stop }: Desk) => stop(), 'end aborted'],
  ])('until %s', async (_name, code, act, end) => {
    const { code: got, lines } = await asked([pick], act)
    expect([got, lines.at(-1)]).toEqual([code, end])
  })
})

describe('3 a question is refused', () => {
  it.each([
    ['without a question', 'EMPTY_QUESTIONS', [], {}],
    ['from an agent that answers to another', 'DELEGATED_CALLER', [pick], { isChild: true }],
    ['where nobody can answer', 'NO_PROVIDER', [pick], { isAttached: false }],
  ])('%s', async (_name, code, questions, options) => expect((await asked(questions, () => {}, options)).code).toBe(code))
})
