import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startModelServer } from '../support/model-server.ts'
import { until, withWorkbench, type Workbench } from '../support/workbench.ts'
import { windowThemes } from '../support/window-themes.ts'

/** What stands below the place that is searched for, so that it is out of sight. */
const NOTES = 8

const composer = ({ chat }: Workbench) => chat.getByRole('textbox', { name: 'Message' })
const conversation = ({ chat }: Workbench) => chat.getByRole('log', { name: 'Conversation' })

async function send(workbench: Workbench, text: string, answer: string): Promise<void> {
  await composer(workbench).fill(text)
  await workbench.chat.getByRole('button', { name: 'Send' }).click()
  await conversation(workbench).getByText(answer).last().waitFor()
  await workbench.chat.getByRole('button', { name: 'Send' }).waitFor()
}

for (const { name, theme } of windowThemes) {
  // The light one is also the narrow one.
  const viewport = name === 'dark' ? { width: 1_280, height: 800 } : { width: 900, height: 700 }
  test(`past sessions are found by their words with the keyboard alone, looked at, and opened at the place: ${name}`, async () => {
    const server = await startModelServer({
      steps: [
        { when: /lighthouse/, answer: { parts: [{ text: 'The lighthouse keeper winds the clockwork at dusk.' }] } },
        ...Array.from({ length: NOTES + 1 }, () => ({ when: /note/, answer: { parts: [{ text: 'Noted.' } as const] } })),
      ],
    })
    const settings = {
      'bosun.providers': { loopback: { name: 'Loopback', baseUrl: server.url, models: ['scripted'], keyName: null } },
      'bosun.model.provider': 'loopback',
      'bosun.model.name': 'scripted',
      'bosun.titles.enabled': false,
    }
    try {
      await withWorkbench({ settings, theme, viewport }, async (workbench) => {
        const { chat, page } = workbench
        await workbench.runCommand('Bosun: Open Chat')
        await composer(workbench).waitFor()
        await send(workbench, 'Who is at the lighthouse?', 'winds the clockwork')
        for (let at = 0; at < NOTES; at += 1) await send(workbench, `note number ${at}`, 'Noted.')
        await workbench.runCommand('Bosun: New Session')
        // What is typed before the welcome page is up would go with the talk that is left.
        await conversation(workbench).getByText('note number 0').first().waitFor({ state: 'detached' })
        await send(workbench, 'note something else', 'Noted.')

        // In the native list: typed, moved onto, opened.
        await workbench.runCommand('Bosun: Search Sessions…')
        const list = workbench.quickInput('Search sessions')
        await list.waitFor()
        await page.keyboard.type('clockwork at du')
        await list.row('winds the clockwork').waitFor()
        await page.locator('.editor-instance .view-line', { hasText: 'winds the clockwork' }).first().waitFor()
        assert.ok(await list.input.evaluate((element) => element === document.activeElement), 'looking at a hit leaves the focus in the list')
        await workbench.screenshot(`search-sessions-list-${name}`)
        await page.keyboard.press('Enter')
        const found = conversation(workbench).locator('.row-found')
        await found.getByText('winds the clockwork').waitFor()
        const isInSight = async () => {
          const [box, view] = [await found.boundingBox(), await conversation(workbench).boundingBox()]
          return box !== null && view !== null && box.y >= view.y - 1 && box.y < view.y + view.height
        }
        await until(isInSight, 'the marked row in sight')
        // It stays there once the rows around it have got their heights.
        await found.evaluate(async () => {
          for (let frame = 0; frame < 3; frame += 1) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
        })
        assert.ok(await isInSight(), 'the marked row is in sight')
        await workbench.screenshot(`search-sessions-found-${name}`)

        // In the list of sessions over the chat: the words stand in the talk, not in the title.
        await chat.getByRole('button', { name: 'Sessions' }).click()
        const sessions = chat.getByRole('dialog', { name: 'Sessions' })
        await sessions.getByRole('searchbox', { name: 'Find a session' }).fill('something else')
        await sessions.locator('.session-snippet mark').first().waitFor()
        await workbench.screenshot(`search-sessions-page-${name}`)
        await page.keyboard.press('ArrowDown')
        await page.keyboard.press('Enter')
        await conversation(workbench).locator('.row-found .prompt-text', { hasText: 'note something else' }).waitFor()
        // The palette opens from the editor, not from inside the page.
        await page.locator('.tab', { hasText: 'event-' }).click()

        await workbench.runCommand('Bosun: Show Trace of Session')
        await page.locator('.tab', { hasText: 'Trace' }).waitFor()
        const trace = page.frameLocator('iframe.webview.ready[src*="extensionId=vscode.markdown-language-features"]').frameLocator('#active-frame')
        await trace.getByRole('heading', { name: 'Trace of “note something else”' }).waitFor()
        await trace.getByText('none came out of it').waitFor()
        await workbench.screenshot(`search-sessions-trace-${name}`)
      })
    } finally {
      await server.close()
    }
  })
}
