import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ModelScript } from '../support/model-script.ts'
import type { ModelServer } from '../support/model-server.ts'
import { withModelWindow } from '../support/model-window.ts'
import { windowThemes } from '../support/window-themes.ts'
import { until, untilEqual, type Workbench, type WorkbenchOptions } from '../support/workbench.ts'

const panel = ({ chat }: Workbench) => chat.getByRole('region', { name: 'Reminders' })
const item = (workbench: Workbench, text: string) => panel(workbench).getByRole('listitem').filter({ hasText: text })

const create = (args: object) => ({ name: 'schedule_create', arguments: args })
const script: ModelScript = {
  steps: [
    {
      when: /Remind me/,
      answer: {
        parts: [
          {
            toolCalls: [
              create({ prompt: 'Look at the tide table', after_seconds: 3_600 }),
              create({ prompt: 'Water the plants', every_seconds: 7_200 }),
              create({ prompt: 'Stand-up', calendar: { rule: '50 9 * * 1-5', time_zone: 'Europe/Berlin' } }),
            ],
          },
        ],
      },
    },
    { when: /in a moment/, answer: { parts: [{ toolCalls: [create({ prompt: 'Turn the oven off', after_seconds: 5 })] }] } },
    { when: /SCHEDULE REMINDER/, answer: { parts: [{ text: 'It is time: look at the tide table.' }] }, repeat: true },
    { answer: { parts: [{ text: 'I will remind you.' }] }, repeat: true },
  ],
}

/** A session in which the model has set reminders: one soon, one for later, one by a rule. */
const withReminders = (options: Pick<WorkbenchOptions, 'theme'>, body: (workbench: Workbench, server: ModelServer) => Promise<void>) =>
  withModelWindow(script, { ...options, settings: { 'bosun.titles.enabled': false } }, async (workbench, server) => {
    await workbench.runCommand('Bosun: Open Chat')
    await workbench.send('Remind me')
    await workbench.conversation.getByText('I will remind you.').waitFor()
    await body(workbench, server)
  })

test('reminders of the model stand in the panel, are put off, paused, run and deleted, and outlive a reload', () =>
  withReminders({}, async (workbench, server) => {
    const { page, chat, conversation } = workbench
    const line = panel(workbench).getByRole('button', { name: /3 reminders/ })
    await line.waitFor()
    await page.locator('#bosun\\.bosun\\.bosun\\.reminder').getByText(/in (?:5\d|60) min|in 1 h/).waitFor()
    await line.click()
    await item(workbench, 'Look at the tide table').getByText(/in (?:5\d|60) min|in 1 h/).waitFor()
    await item(workbench, 'Water the plants').getByText('every 2 hours').waitFor()
    await item(workbench, 'Stand-up').getByText('on weekdays at 09:50, Europe/Berlin').waitFor()
    await workbench.screenshot('reminders-open')

    // Put off, by the menu of its button.
    await item(workbench, 'Look at the tide table').getByRole('button', { name: /^Snooze/ }).click()
    await workbench.quickInput('Put off until when?').pick('Tomorrow at 9:00')
    await item(workbench, 'Look at the tide table').getByText('snoozed').waitFor()

    await item(workbench, 'Water the plants').getByRole('button', { name: /^Pause/ }).click()
    await item(workbench, 'Water the plants').getByText('paused').waitFor()

    // All of it is there again after a reload.
    await workbench.reload()
    await workbench.runCommand('Bosun: Open Chat')
    await item(workbench, 'Look at the tide table').getByText('snoozed').waitFor()
    await item(workbench, 'Water the plants').getByText('paused').waitFor()
    assert.equal(server.chats().length, 2)

    // Run now: a turn of its own, after which what comes once is gone.
    await item(workbench, 'Look at the tide table').getByRole('button', { name: /^Run now/ }).click()
    await conversation.getByText('It is time: look at the tide table.').waitFor()
    await conversation.getByText('Reminder: Look at the tide table').waitFor()
    await item(workbench, 'Look at the tide table').waitFor({ state: 'detached' })

    await item(workbench, 'Stand-up').getByRole('button', { name: /^Delete/ }).click()
    await item(workbench, 'Stand-up').waitFor({ state: 'detached' })
    await workbench.screenshot('reminders-left')
    assert.equal(await chat.getByRole('alert').count(), 0)
  }))

test('one that falls due comes by itself, and what was missed while the window was away comes once it is back', () =>
  withReminders({}, async (workbench, server) => {
    const told = () => server.chats().filter(({ body }) => body.includes('SCHEDULE REMINDER')).length
    const before = told()
    const asked = Date.now()
    await workbench.send('And tell me in a moment')
    await workbench.conversation.getByText('Reminder: Turn the oven off').waitFor()
    assert.ok(Date.now() >= asked + 5_000)
    await untilEqual(told, before + 1)

    // The person makes one by themselves.
    await workbench.runCommand('Bosun Reminders: New Reminder…')
    await workbench.quickInput('New reminder').answer('Take the bread out')
    await workbench.quickInput('When?').pick('At a time…')
    await workbench.quickInput('When does it come?').answer('1m')
    await workbench.quickInput('What happens then?').pick('Bosun tells you')
    const missed = Date.now() + 60_000
    await panel(workbench).getByText('Take the bread out').first().waitFor()
    await workbench.kill()
    await sleep(Math.max(0, missed - Date.now()))
    assert.equal(told(), before + 1)
    await workbench.restart()
    // Without a look at the chat: the window knows that there are reminders.
    await until(() => told() > before + 1, 'what was missed')
    await workbench.runCommand('Bosun: Open Chat')
    await workbench.conversation.getByText('Reminder: Take the bread out').waitFor()
    await sleep(2_000)
    assert.equal(told(), before + 2)
  }))

for (const { theme } of windowThemes) {
  test(`the panel is fit to be looked at: ${theme}`, () =>
    withReminders({ theme }, async (workbench) => {
      await panel(workbench).getByRole('button', { name: /3 reminders/ }).click()
      await item(workbench, 'Stand-up').waitFor()
      await workbench.screenshot(`reminders-${theme.includes('Dark') ? 'dark' : 'light'}`)
    }))
}
