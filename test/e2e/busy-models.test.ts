import { test } from 'node:test'
import { failures } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'

test('a busy model is waited for in sight and tried at once on a click; another one takes over on an outage; a long wait says when it ends', () =>
  withModelWindow(
    {
      steps: [
        // Longer than anybody takes to press the button, so that the click is what ends the wait.
        { when: /first/, answer: failures.rateLimit('290') },
        { when: /first/, answer: { parts: [{ text: 'Here I am.' }] } },
        { when: ({ model }) => model === 'main', answer: failures.noMoney },
        { when: ({ model }) => model === 'spare', answer: { parts: [{ text: 'The spare one answers.' }] } },
        { repeat: true, answer: failures.rateLimit('1200') },
      ],
    },
    { models: ['main', 'spare'], settings: { 'bosun.model.fallback': ['loopback/spare'], 'bosun.llm.retry.maxDelayMs': 300_000 } },
    async (workbench) => {
      const { conversation, send } = workbench
      await workbench.runCommand('Bosun: Open Chat')

      await send('The first question')
      await conversation.getByText(/Waiting \d+ min( \d+ s)? for the rate limit/).waitFor()
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
    },
  ))
