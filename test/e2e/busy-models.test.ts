import { test } from 'node:test'
import { failures } from '../support/model-script.ts'
import { startModelServer } from '../support/model-server.ts'
import { withWorkbench } from '../support/workbench.ts'

test('a busy model is waited for in sight and tried at once on a click; another one takes over on an outage; a long wait says when it ends', async () => {
  const server = await startModelServer({
    steps: [
      { when: /first/, answer: failures.rateLimit('9') },
      { when: /first/, answer: { parts: [{ text: 'Here I am.' }] } },
      { when: ({ model }) => model === 'main', answer: failures.noMoney },
      { when: ({ model }) => model === 'spare', answer: { parts: [{ text: 'The spare one answers.' }] } },
      { repeat: true, answer: failures.rateLimit('1200') },
    ],
  })
  const settings = {
    'bosun.providers': { loopback: { name: 'Loopback', baseUrl: server.url, models: ['main', 'spare'], keyName: null } },
    'bosun.model.provider': 'loopback',
    'bosun.model.name': 'main',
    'bosun.model.fallback': ['loopback/spare'],
  }
  try {
    await withWorkbench({ settings }, async (workbench) => {
      const { chat } = workbench
      const conversation = chat.getByRole('log', { name: 'Conversation' })
      const composer = chat.getByRole('textbox', { name: 'Message' })
      const send = async (text: string) => {
        await composer.fill(text)
        await chat.getByRole('button', { name: 'Send' }).click()
      }
      await workbench.runCommand('Bosun: Open Chat')
      await composer.waitFor()

      await send('The first question')
      await conversation.getByText(/Waiting \d+(\.\d+)? s for the rate limit/).waitFor()
      await conversation.getByText('try 1 of 5').waitFor()
      await workbench.screenshot('busy-model-wait')
      await conversation.getByRole('button', { name: 'Try now' }).click()
      await conversation.getByText('Here I am.').waitFor()

      await send('The second question')
      await conversation.getByText('The spare one answers.').waitFor()
      await conversation.getByText(/main \(loopback\) is out, so spare \(loopback\) goes on/).waitFor()

      await send('The third question')
      await conversation.getByText(/It may go on at/).waitFor()
      await conversation.getByRole('button', { name: 'Choose another model' }).waitFor()
      await workbench.screenshot('busy-model-long-wait')
    })
  } finally {
    await server.close()
  }
})
