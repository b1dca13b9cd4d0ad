import assert from 'node:assert/strict'
import { access, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { startModelServer, type ModelServer } from '../support/model-server.ts'
import { withWorkbench, type Workbench } from '../support/workbench.ts'
import { windowThemes } from '../support/window-themes.ts'

const script = () =>
  startModelServer({
    steps: [
      { when: /^Have the notes written/, answer: { parts: [{ text: 'I give that to an agent of its own.' }, { toolCalls: [{ name: 'subagent', arguments: { description: 'Write the notes', prompt: 'Write notes.txt with one line.', run_in_background: false } }] }] } },
      { when: /^Write notes\.txt/, answer: { parts: [{ text: 'I write the file now.' }, { toolCalls: [{ name: 'write', arguments: { file_path: 'notes.txt', content: 'one line\n' } }] }] } },
      { when: /notes\.txt/, answer: { parts: [{ text: 'The notes are written: one line in `notes.txt`.' }] } },
      { answer: { parts: [{ text: 'Done: the agent wrote the notes.' }] }, repeat: true },
    ],
  })

const settingsFor = (server: ModelServer) => ({
  'bosun.providers': { loopback: { name: 'Loopback', baseUrl: server.url, models: ['scripted'], keyName: null } },
  'bosun.model.provider': 'loopback',
  'bosun.model.name': 'scripted',
  'bosun.titles.enabled': false,
})

async function headers({ storage }: Workbench): Promise<readonly Record<string, unknown>[]> {
  const folder = join(storage, 'sessions')
  const texts = await Promise.all((await readdir(folder)).map((id) => readFile(join(folder, id, 'events.jsonl'), 'utf8').catch(() => '')))
  return texts.filter((text) => text !== '').map((text) => JSON.parse(text.slice(0, text.indexOf('\n'))) as Record<string, unknown>)
}

for (const { theme } of windowThemes) {
  test(`the question of an agent that an agent started says which agent and which task, and its answer ends in the card of the call (${theme})`, async () => {
    const server = await script()
    try {
      await withWorkbench({ settings: settingsFor(server), theme, viewport: { width: 1280, height: 900 } }, async (workbench) => {
        const { chat, runCommand, notification, screenshot, folder } = workbench
        await runCommand('Bosun: Open Chat')
        await chat.getByRole('textbox', { name: 'Message' }).fill('Have the notes written.')
        await chat.getByRole('button', { name: 'Send' }).click()
        const approvals = chat.getByRole('region', { name: 'Approvals' })
        await approvals.getByText('For the agent “Write the notes”.').waitFor()
        const toast = notification('notes.txt')
        await toast.getByText('For the agent “Write the notes”.').waitFor()
        await screenshot(`subagent-asks-${theme.includes('Light') ? 'light' : 'dark'}`)
        await toast.getByRole('button', { name: 'Allow once' }).click()
        const conversation = chat.getByRole('log', { name: 'Conversation' })
        await conversation.getByText('Done: the agent wrote the notes.').waitFor()
        await access(join(folder, 'notes.txt'))
        const card = conversation.locator('[data-tool="subagent"]')
        await card.getByText('Write the notes').first().waitFor()
        await screenshot(`subagent-done-${theme.includes('Light') ? 'light' : 'dark'}`)
        const found = await headers(workbench)
        assert.deepEqual(found.map(({ origin, delegationDepth }) => JSON.stringify([origin, delegationDepth])).toSorted(), ['["subagent",1]', '[null,null]'])
        // The child is no session of the person's list.
        await chat.getByRole('button', { name: /sessions/i }).first().click()
        await screenshot(`subagent-list-${theme.includes('Light') ? 'light' : 'dark'}`)
      })
    } finally {
      await server.close()
    }
  })
}
