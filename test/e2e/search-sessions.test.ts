import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ModelScript } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { until, type Workbench } from '../support/workbench.ts'
import { windowThemes } from '../support/window-themes.ts'

/** What stands below the place that is searched for, so that it is out of sight. */
const NOTES = 8

/** A turn: what is asked, what is answered, its end. */
async function ask({ conversation, send }: Workbench, question: string, answer: string): Promise<void> {
  await send(question)
  const turn = conversation.locator('.log-row').filter({ hasText: question }).last().locator('xpath=following-sibling::*')
  await turn.filter({ hasText: answer }).first().waitFor()
  await turn.locator('article.turn-end').first().waitFor()
}

const script: ModelScript = {
  steps: [
    { when: /lighthouse/, answer: { parts: [{ text: 'The lighthouse keeper winds the clockwork at dusk.' }] } },
    ...Array.from({ length: NOTES + 1 }, () => ({ when: /note/, answer: { parts: [{ text: 'Noted.' } as const] } })),
  ],
}

for (const { name, theme } of windowThemes) {
  // The light one is also the narrow one.
  const viewport = name === 'dark' ? { width: 1_280, height: 800 } : { width: 900, height: 700 }
  test(`past sessions are found by their words with the keyboard alone, looked at, and opened at the place: ${name}`, () =>
    withModelWindow(script, { settings: { 'bosun.titles.enabled': false }, theme, viewport }, async (workbench) => {
      const { chat, conversation, page, preview } = workbench
      await workbench.runCommand('Bosun: Open Chat')
      await ask(workbench, 'Who is at the lighthouse?', 'winds the clockwork')
      for (let at = 0; at < NOTES; at += 1) await ask(workbench, `note number ${at}`, 'Noted.')
      await workbench.runCommand('Bosun: New Session')
      // What is typed before the welcome page is up would go with the talk that is left.
      await conversation.waitFor({ state: 'detached' })
      await ask(workbench, 'note something else', 'Noted.')

      // In the native list: typed, moved onto, opened.
      await workbench.runCommand('Bosun: Search Sessions…')
      const list = workbench.quickInput('Search sessions')
      await list.waitFor()
      await list.input.pressSequentially('clockwork at du')
      await list.chosen('winds the clockwork').waitFor()
      await page.locator('.editor-instance .view-line', { hasText: 'winds the clockwork' }).first().waitFor()
      assert.ok(await list.input.evaluate((element) => element === document.activeElement), 'looking at a hit leaves the focus in the list')
      await workbench.screenshot(`search-sessions-list-${name}`)
      await list.input.press('Enter')
      const found = conversation.locator('.row-found')
      await found.getByText('winds the clockwork').waitFor()
      const isInSight = async () => {
        const [box, view] = [await found.boundingBox(), await conversation.boundingBox()]
        return box !== null && view !== null && box.y >= view.y - 1 && box.y < view.y + view.height
      }
      // It stays there once the rows around it have got their heights.
      let times = 0
      await until(async () => (times = (await isInSight()) ? times + 1 : 0) === 5, 'the marked row in sight, where it stays')
      await workbench.screenshot(`search-sessions-found-${name}`)

      // In the list of sessions over the chat: the words stand in the talk, not in the title.
      await chat.getByRole('button', { name: 'Sessions' }).click()
      const sessions = chat.getByRole('dialog', { name: 'Sessions' })
      const words = sessions.getByRole('searchbox', { name: 'Find a session' })
      await words.fill('something else')
      await sessions.locator('.session-snippet mark').first().waitFor()
      await workbench.screenshot(`search-sessions-page-${name}`)
      await words.press('ArrowDown')
      await sessions.locator(':focus').filter({ hasText: 'something else' }).press('Enter')
      await conversation.locator('.row-found .prompt-text', { hasText: 'note something else' }).waitFor()
      // The palette opens from the editor, not from inside the page.
      await page.locator('.tab', { hasText: 'event-' }).click()

      await workbench.runCommand('Bosun: Show Trace of Session')
      await page.locator('.tab', { hasText: 'Trace' }).waitFor()
      await preview.getByRole('heading', { name: 'Trace of “note something else”' }).waitFor()
      await preview.getByText('none came out of it').waitFor()
      await workbench.screenshot(`search-sessions-trace-${name}`)
    }))
}
