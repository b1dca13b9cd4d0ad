import { afterEach, expect, it } from 'vitest'
import type { ApprovalAnswer, ApprovalRequest } from '../../../extension/core/policy/approval.ts'
import { ApprovalPrompts } from '../../../extension/host/approval-prompts.ts'
import { createFakeAgent } from '../../support/fake-agent.ts'
import { createFakeAttention } from '../../support/fake-attention.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))
let prompts: ApprovalPrompts | undefined
afterEach(() => prompts?.dispose())

async function asked(facts: { readonly canPreview: boolean; readonly isCode: boolean }, preview: (id: string) => Promise<void> = () => Promise.resolve()) {
  const attention = createFakeAttention()
  const request: ApprovalRequest = { id: 'q1', agent: createFakeAgent(), toolName: 'cordis_define', signal: new AbortController().signal, details: { effect: 'Define it', why: 'It is code.', always: [{ label: 'Every version', rule: {} }] } }
  const previewed: string[] = []
  const answers: ApprovalAnswer[] = []
  const errors: unknown[] = []
  prompts = new ApprovalPrompts({
    approvals: { pending: () => [request], answer: (_id, answer) => (answers.push(answer), true) },
    attention,
    editor: { pick: () => Promise.resolve('0') },
    l10n: { t: (text: string) => text },
    describe: () => ({ effect: 'Define it', why: 'It is code.', ...facts }),
    preview: (id) => (previewed.push(id), preview(id)),
    onError: (error) => errors.push(error),
  })
  prompts.update(true)
  const click = async (button: string) => {
    attention.click(button)
    await settled()
  }
  return { attention, previewed, answers, errors, click, buttons: () => attention.standing.map(({ buttons }) => buttons.map(({ id }) => id)) }
}

it('offers no yes to code that was not on screen, and every answer once it was', async () => {
  const { buttons, click, previewed, answers } = await asked({ canPreview: true, isCode: true })
  expect(buttons()).toEqual([['review', 'deny']])
  await click('review')
  expect([previewed, answers, buttons()]).toEqual([['q1'], [], [['allow', 'always', 'deny', 'review']]])
  await click('allow')
  expect([answers, buttons()]).toEqual([[{ outcome: 'allowed-once' }], []])
})
it('takes a no to code at once', async () => {
  const { click, previewed, answers } = await asked({ canPreview: true, isCode: true })
  await click('deny')
  expect([previewed, answers]).toEqual([[], [{ outcome: 'rejected' }]])
})
it('goes on asking for a look where the code could not be shown, and says why', async () => {
  const { buttons, click, errors } = await asked({ canPreview: true, isCode: true }, () => Promise.reject(new Error('No editor.')))
  await click('review')
  expect([errors, buttons()]).toEqual([[new Error('No editor.')], [['review', 'deny']]])
})
it.each([
  ['changes of files beside the answers', { canPreview: true, isCode: false }, ['allow', 'always', 'deny', 'review']],
  ['nothing of a call that has nothing to show', { canPreview: false, isCode: false }, ['allow', 'always', 'deny']],
  ['nothing of code that is as it was when it was allowed', { canPreview: false, isCode: true }, ['allow', 'always', 'deny']],
])('offers to show %s', async (_, facts, expected) => expect((await asked(facts)).buttons()).toEqual([expected]))
