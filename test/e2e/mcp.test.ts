import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ModelServer } from '../support/model-server.ts'
import { withModelWindow } from '../support/model-window.ts'
import type { Workbench } from '../support/workbench.ts'
import { windowThemes } from '../support/window-themes.ts'

const program = fileURLToPath(new URL('../support/mcp-program.ts', import.meta.url))

/** What the last message says, so that each turn has its script. */
const turns = [
  { when: /Say it again/, answer: { parts: [{ toolCalls: [{ name: 'mcp__tides__echo', arguments: { text: 'again' } }] }] } },
  { when: /switched mcp__tides__echo off/, answer: { parts: [{ text: 'You switched that off.' }] } },
  { when: /Say hello/, answer: { parts: [{ toolCalls: [{ name: 'mcp__tides__echo', arguments: { text: 'hello' } }] }] } },
  { when: /echo: hello/, answer: { parts: [{ text: 'The server said hello.' }] } },
  { when: /Break it/, answer: { parts: [{ toolCalls: [{ name: 'mcp__tides__crash', arguments: {} }] }] } },
  { when: /exit code 3/, answer: { parts: [{ text: 'The server is gone.' }] } },
]

const env = { TIDE_TABLE: '${input:table}', TIDE_KEY: 'hunter2-hunter2', TIDE_ZONE: 'UTC' }
const inputs = [{ id: 'table', type: 'pickString', description: 'Which table', options: ['coast', { label: 'Open sea', value: 'sea' }] }]
const configuration = { servers: { tides: { command: process.execPath, args: [program, 'ok'], env, reconnect: { enabled: false } } }, inputs }
const files = { '.bosun/mcp.json': `${JSON.stringify(configuration, null, 2)}\n` }

for (const { name: themeName, theme } of windowThemes) {
  test(`MCP servers are let run, added, used by the model, explained when they fail, started again, and their tools switched off, ${themeName}`, () =>
    withModelWindow({ steps: turns }, { settings: { 'bosun.titles.enabled': false }, theme, viewport: { width: 1400, height: 1000 }, files }, (workbench, model) => play(workbench, model, themeName)))
}

async function play(workbench: Workbench, model: ModelServer, themeName: string): Promise<void> {
  const { page, chat, conversation, folder, send } = workbench
  const row = (name: RegExp) => page.getByRole('treeitem', { name })
  const picture = (what: string) => workbench.screenshot(`mcp-${what}-${themeName}`)
  const allowOnce = async () => {
    const asked = workbench.notification('mcp__tides')
    await asked.getByRole('button', { name: 'Allow once' }).click()
    await asked.waitFor({ state: 'detached' })
  }

  // Nothing is read before somebody looks.
  await workbench.runCommand('Bosun: Open Chat')
  await workbench.message.waitFor()
  assert.equal(await workbench.notification('waits for your consent').count(), 0)
  await page.locator('.pane-header', { hasText: 'MCP Servers' }).click()

  // What the folder configures waits, and says what it would run.
  const consent = workbench.notification('waits for your consent')
  // What the mouse is over does not go to the bell.
  await consent.hover()
  await consent.getByText(/It would run: .*mcp-program\.ts ok \(\.bosun\/mcp\.json\), with TIDE_TABLE=\$\{input:table\}, TIDE_KEY=••••, TIDE_ZONE=UTC\./).waitFor()
  await row(/^tides, waits for your consent/).waitFor()
  await picture('consent')
  await page.setViewportSize({ width: 900, height: 1000 })
  await picture('consent-narrow')
  await page.setViewportSize({ width: 1400, height: 1000 })
  await workbench.pressInNotification('waits for your consent', 'Show')
  await page.getByRole('tab', { name: 'mcp.json' }).waitFor()
  await workbench.pressInNotification('waits for your consent', 'Allow')
  await row(/^tides, needs a value/).waitFor()
  await chat.getByRole('button', { name: 'Give It…' }).click()
  await workbench.quickInput('A value for the MCP server tides').waitFor()
  await picture('input-picked')
  await workbench.quickInput('A value for the MCP server tides').pick('Open sea')
  await row(/^tides, running, \d+ tools, \.bosun\/mcp\.json/).waitFor()

  // Another one, added by its command line; it fails at first and comes back.
  await workbench.runCommand('Bosun: Add MCP Server…')
  await workbench.quickInput('Add MCP Server').pick('Program')
  await workbench.quickInput('The command with its arguments').answer(`"${process.execPath}" "${program}" fail-once "${folder}/once"`)
  await workbench.quickInput('A name of your own').fill('not a name')
  await workbench.quickInput('A name has 1 to 32 letters').waitFor()
  await workbench.quickInput('Add MCP Server').answer('harbour')
  await workbench.quickInput('Where is “harbour” kept?').pick('Your settings')
  await row(/^harbour, running/).click()
  await row(/Came back (?:just now|\d+ min ago): It ended with exit code 7\..*no licence found/).waitFor()
  await picture('added')
  await row(/^harbour, running/).click()

  // The model uses it, asked about each call.
  await send('Say hello')
  await allowOnce()
  await conversation.getByText('The server said hello.').waitFor()
  await row(/^tides, running/).click()
  await row(/^echo, offered/).waitFor()
  await picture('running')

  // It crashes: the tree and the chat say why, its log what it wrote, and it is started again from there.
  await send('Break it')
  await allowOnce()
  await conversation.getByText('The server is gone.').waitFor()
  await row(/^tides, failed, .*It ended with exit code 3/).waitFor()
  // A screen reader is told the same words.
  const notice = chat.locator('.notice-text').getByText(/The MCP server “tides” does not run\. It ended with exit code 3\./)
  await notice.waitFor()
  await chat.getByRole('button', { name: 'Show Log' }).click()
  await page.locator('.part.panel .view-lines').getByText('ready to serve').first().waitFor()
  await page.locator('.part.panel .view-lines').getByText('failed: It ended').first().waitFor()
  await picture('failed')
  await page.setViewportSize({ width: 900, height: 1000 })
  await picture('failed-narrow')
  await page.setViewportSize({ width: 1400, height: 1000 })
  await chat.getByRole('button', { name: 'Restart' }).click()
  await row(/^tides, running/).waitFor()
  await notice.waitFor({ state: 'hidden' })

  // A tool that is switched off is neither offered nor run.
  await row(/^echo, offered/).getByRole('checkbox').click()
  await row(/^echo, switched off/).waitFor()
  await row(/^tides, running, \d+ of \d+ tools/).waitFor()
  await send('Say it again')
  await conversation.getByText('You switched that off.').waitFor()
  await picture('switched-off')
  const offers = model.chats().map(({ body }) => (JSON.parse(body) as { readonly tools: readonly { readonly function: { readonly name: string } }[] }).tools.some((tool) => tool.function.name === 'mcp__tides__echo'))
  assert.deepEqual([offers.at(0), offers.at(-1)], [true, false])
  assert.match(model.chats().at(0)?.body ?? '', /<mcp-server name=\\"tides\\">\\nUse echo to repeat\./)
}
