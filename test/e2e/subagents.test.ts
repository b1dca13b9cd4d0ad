import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ModelScript } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { windowThemes } from '../support/window-themes.ts'
import { untilEqual } from '../support/workbench.ts'

const script: ModelScript = {
  steps: [
    { when: /^Have the notes written/, answer: { parts: [{ text: 'I give that to an agent of its own.' }, { toolCalls: [{ name: 'subagent', arguments: { description: 'Write the notes', prompt: 'Write notes.txt with one line.', run_in_background: false } }] }] } },
    { when: /^Write notes\.txt/, answer: { parts: [{ text: 'I write the file now.' }, { toolCalls: [{ name: 'write', arguments: { file_path: 'notes.txt', content: 'one line\n' } }] }] } },
    { when: /notes\.txt/, answer: { parts: [{ text: 'The notes are written: one line in `notes.txt`.' }] } },
    { answer: { parts: [{ text: 'Done: the agent wrote the notes.' }] }, repeat: true },
  ],
}

for (const { name, theme } of windowThemes) {
  test(`the question of an agent that an agent started says which agent and which task, and its answer ends in the card of the call (${theme})`, () =>
    withModelWindow(script, { settings: { 'bosun.titles.enabled': false }, theme }, async (workbench) => {
      const { chat, conversation, send, runCommand, notification, screenshot, folder } = workbench
      await runCommand('Bosun: Open Chat')
      await send('Have the notes written.')
      const approvals = chat.getByRole('region', { name: 'Approvals' })
      await approvals.getByText('For the agent “Write the notes”.').waitFor()
      const toast = notification('notes.txt')
      await toast.getByText('For the agent “Write the notes”.').waitFor()
      await screenshot(`subagent-asks-${name}`)
      await toast.getByRole('button', { name: 'Allow once' }).click()
      await conversation.getByText('Done: the agent wrote the notes.').waitFor()
      await access(join(folder, 'notes.txt'))
      const card = conversation.locator('[data-tool="subagent"]')
      await card.getByText('Write the notes').first().waitFor()
      await screenshot(`subagent-done-${name}`)
      await untilEqual(() => workbench.logs().map(({ header: { origin, delegationDepth } }) => JSON.stringify([origin, delegationDepth])).toSorted(), ['["subagent",1]', '[null,null]'])
      // The child is no session of the person's list.
      await chat.getByRole('button', { name: /sessions/i }).first().click()
      await screenshot(`subagent-list-${name}`)
    }))
}
