import fc from 'fast-check'
import { expect, it } from 'vitest'
import { batchMessage, remindedOf, reminderMessage, taskMessage } from '../../../../extension/features/schedule/framing.ts'

const at = '2026-01-01T00:00:00.000Z'
const textOf = ({ content }: ReturnType<typeof reminderMessage>) => content.map((part) => (part.type === 'text' ? part.text : '')).join('')

it('what is reminded of is read back for people, whatever it says, and cannot begin a line of its own', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 4 }), (prompts) => {
      const [first = ''] = prompts
      const one = textOf(reminderMessage('m', { id: 'schedule-1', at, prompt: first }))
      const task = textOf(taskMessage('m', { id: 'schedule-1', at, prompt: first }))
      const batch = textOf(batchMessage('m', prompts.map((prompt, index) => ({ id: `schedule-${index + 1}`, at, prompt }))))
      expect([remindedOf(one), remindedOf(task), remindedOf(batch)]).toEqual([{ isTask: false, prompts: [first] }, { isTask: true, prompts: [first] }, { isTask: false, prompts }])
      expect([one, task, batch].map((text) => text.split(/[\n\r\u0085\u2028\u2029]/).length)).toEqual([5, 5, 3])
    }),
  )
})

it.each(['', 'hello', '[SCHEDULE REMINDER]', '[SCHEDULE REMINDER]\nreminder_prompt_json: {', '[SCHEDULE REMINDER]\nreminder_prompt_json: 5', '[SCHEDULE REMINDER BATCH]\nreminders_json: [null]', '[SCHEDULE REMINDER BATCH]\nreminders_json: []'])('%j reminds of nothing', (text) =>
  expect(remindedOf(text)).toBeNull(),
)
