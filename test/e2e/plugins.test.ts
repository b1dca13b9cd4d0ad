import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textOf, type ChatRequest, type ModelScript } from '../support/model-script.ts'
import { withModelWindow } from '../support/model-window.ts'
import { untilEqual, type Workbench } from '../support/workbench.ts'
import { windowThemes } from '../support/window-themes.ts'

const host = `let calls = 0
const count = (text) => text.split(/\\s+/).filter((word) => word !== '').length
harness.handle('count', ({ text }) => {
  calls += 1
  harness.emit('called', calls)
  return { words: count(text) }
})
harness.tool({
  name: 'count_words',
  description: 'Count the words of a text.',
  parameters: { text: { type: 'string', required: true } },
  execute: ({ text }) => count(text),
})`
const client = (title: string) => `let text = ''
let answer = 'Nothing is counted yet.'
let calls = 0
styles('.answer { font-weight: 600 }')
host.on('called', (next) => { calls = next })
slot('header', () => 'Counted ' + calls + ' times')
slot('panel', () => [
  ui.h('p', null, '${title}'),
  ui.h('input', { 'aria-label': 'Text to count', value: text, oninput: (event) => { text = event.target.value } }), ' ',
  ui.h('button', { onclick: async () => { answer = (await host.call('count', { text })).words + ' words' } }, 'Count'),
  ui.h('p', { class: 'answer' }, answer),
])`
const call = (name: string, args: object) => ({ parts: [{ toolCalls: [{ name, arguments: args }] }] })
/** A request in which this was said since the model spoke last. */
const said = (pattern: RegExp) => ({ messages }: ChatRequest) => messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1).some((message) => pattern.test(textOf(message)))
const drawn = (packageId: string) => said(new RegExp(`\\(${packageId}, run-\\d\\): its client half is shown`))

const settings = { 'bosun.titles.enabled': false, 'bosun.dynamicPlugins.enabled': true, 'bosun.agent.defaultPreset': 'creator' }

const script: ModelScript = {
  steps: [
    { when: said(/^Count words/), answer: call('cordis_define', { plugin: { kind: 'new', idPrefix: 'words' }, name: 'Word counter', purpose: 'Counts the words of a text.', code: { host, client: client('How many words?') } }) },
    { when: said(/Nothing was defined/), answer: { parts: [{ text: 'You did not want it.' }] } },
    { when: said(/^Count them after all/), answer: call('cordis_define', { plugin: { kind: 'new', idPrefix: 'words' }, name: 'Word counter', purpose: 'Counts the words of a text.', code: { host, client: client('How many words?') } }) },
    { when: said(/Defined pkg-1/), answer: call('cordis_run', { pluginId: 'words-2', packageId: 'pkg-1', mode: 'run' }) },
    { when: drawn('pkg-1'), answer: call('count_words', { text: 'one two three' }) },
    { when: said(/^3$/), answer: { parts: [{ text: 'The tool of the plugin counted three.' }] } },
    { when: said(/^Ask more kindly/), answer: call('cordis_define', { plugin: { kind: 'existing', pluginId: 'words-2' }, name: 'Word counter', purpose: 'Counts the words of a text, and asks kindly.', code: { host, client: client('How many words, please?') } }) },
    { when: said(/Defined pkg-2/), answer: call('cordis_run', { pluginId: 'words-2', packageId: 'pkg-2', mode: 'update' }) },
    { when: drawn('pkg-2'), answer: { parts: [{ text: 'It asks more kindly now.' }] } },
    { when: said(/^Go on/), answer: { parts: [{ text: 'Without the plugin.' }] } },
    // While it is not drawn yet.
    { when: said(/awaiting/), answer: { parts: [{ text: 'It is being drawn.' }] }, repeat: true },
  ],
}

for (const { theme, name } of windowThemes)
  test(`a plugin that the model writes is read and allowed, works in host and view, is updated by its difference, and is gone when stopped (${name})`, () =>
    withModelWindow(script, { settings, theme }, async (workbench, server) => {
      const { page, chat, conversation, send, runCommand, screenshot, notification } = workbench
      const approvals = chat.getByRole('region', { name: 'Approvals' })
      const panel = chat.getByRole('region', { name: 'Word counter' })
      const frame = panel.locator('iframe').contentFrame()
      await runCommand('Bosun: Open Chat')

      await send('Count words')
      await approvals.getByText('Define the plugin words-1 (pkg-1) and let it run').waitFor()
      await approvals.getByText('host.js').first().waitFor()
      await screenshot(`plugin-approval-${name}`)
      // Nobody says yes in the notification to code that was not on screen.
      const asked = notification('Define the plugin words-1')
      await asked.getByRole('button', { name: 'Review' }).waitFor()
      assert.equal(await asked.getByRole('button', { name: 'Allow once' }).count(), 0)
      await asked.getByRole('button', { name: 'Review' }).click()
      await asked.getByRole('button', { name: 'Allow once' }).waitFor()
      await page.locator('.multiDiffEntry .view-line').filter({ hasText: 'harness.tool' }).first().waitFor()
      await page.locator('.multiDiffEntry .view-line').filter({ hasText: 'How many words?' }).first().waitFor()
      await screenshot(`plugin-source-${name}`)
      // Refused, it is no package: the model hears so, and nothing can run.
      await approvals.getByRole('button', { name: 'Deny' }).click()
      await conversation.getByText('You did not want it.').first().waitFor()
      await send('Count them after all')
      await approvals.getByText('Define the plugin words-2 (pkg-1) and let it run').waitFor()
      await approvals.getByText('Your yes lets this version run in this session as often as the model asks').waitFor()
      assert.equal(await panel.count(), 0)
      await approvals.getByRole('button', { name: 'Allow once' }).click()

      // In the host: a tool of it, which the model calls. In the view: a click that its host half answers.
      await frame.getByText('How many words?').waitFor()
      await approvals.getByText('count_words').first().waitFor()
      await approvals.getByRole('button', { name: 'Allow once' }).click()
      await conversation.getByText('The tool of the plugin counted three.').first().waitFor()
      await frame.getByRole('textbox', { name: 'Text to count' }).fill('a b')
      await frame.getByRole('button', { name: 'Count' }).click()
      await frame.getByText('2 words').waitFor()
      await chat.locator('.plugin-slot-header iframe').contentFrame().getByText('Counted 1 times').waitFor()
      await screenshot(`plugin-working-${name}`)

      await send('Ask more kindly')
      await approvals.getByText('Define the plugin words-2 (pkg-2) and let it run').waitFor()
      await approvals.getByText('Shown against pkg-1').waitFor()
      await approvals.getByText('1 file').waitFor()
      await approvals.getByText('Only its client half differs').waitFor()
      await approvals.getByText('How many words, please?').first().waitFor()
      await screenshot(`plugin-update-${name}`)
      const size = page.viewportSize()
      await page.setViewportSize({ width: 900, height: 700 })
      await screenshot(`plugin-update-narrow-${name}`)
      if (size !== null) await page.setViewportSize(size)
      await approvals.getByRole('button', { name: 'Allow once' }).click()
      await frame.getByText('How many words, please?').waitFor()
      await conversation.getByText('It asks more kindly now.').first().waitFor()
      assert.equal(await panel.count(), 1)
      await conversation.getByText('Defined Word counter (words-2 pkg-2)').click()
      await conversation.getByText('Shown against pkg-1.').waitFor()
      await screenshot(`plugin-defined-${name}`)
      await page.setViewportSize({ width: 900, height: 700 })
      await screenshot(`plugin-updated-narrow-${name}`)

      await panel.getByRole('button', { name: 'Stop the plugin Word counter' }).click()
      await panel.waitFor({ state: 'detached' })
      await conversation.getByText('words-2 is stopped, and everything it brought is gone.').first().waitFor()
      await send('Go on')
      await conversation.getByText('Without the plugin.').first().waitFor()
      await screenshot(`plugin-stopped-${name}`)
      assert.equal(await chat.locator('iframe').count(), 0)
      const offered = server.chats().map(({ body }) => JSON.stringify((JSON.parse(body) as { readonly tools?: unknown }).tools).includes('"count_words"'))
      assert.deepEqual([offered[0], offered.includes(true), offered.at(-1)], [false, true, false])
      assert.equal(server.unused(), 0)
      await untilEqual(() => runsInLog(workbench), [
        'approval pkg-1 rejected',
        'approval pkg-1 allowed',
        ...['starting', 'awaiting-client', 'running'].map((state) => `run-1 pkg-1 ${state}`),
        'approval pkg-2 allowed',
        ...['starting', 'awaiting-client', 'running'].map((state) => `run-2 pkg-2 ${state}`),
        'run-1 pkg-1 replaced',
        'run-2 pkg-2 stopped',
      ])
    }))

const looping = "slot('panel', () => [ui.h('p', null, 'Not pressed yet.'), ui.h('button', { onclick: () => { for (;;) {} } }, 'Never end')])"
const endless: ModelScript = {
  steps: [
    { when: said(/^Hold it up/), answer: call('cordis_define', { plugin: { kind: 'new', idPrefix: 'busy' }, name: 'Busy', purpose: 'Never ends.', code: { client: looping } }) },
    { when: said(/Defined pkg-1/), answer: call('cordis_run', { pluginId: 'busy-1', packageId: 'pkg-1', mode: 'run' }) },
    { when: drawn('pkg-1'), answer: { parts: [{ text: 'Press it.' }] } },
    { when: said(/what it shows failed/), answer: { parts: [{ text: 'It will be mended.' }] } },
    { when: said(/awaiting/), answer: { parts: [{ text: 'It is being drawn.' }] }, repeat: true },
  ],
}

test('a plugin whose drawing never comes to an end leaves the chat at work, is taken away, and is shown again at a click', () =>
  withModelWindow(endless, { settings }, async ({ chat, conversation, message, send, runCommand, screenshot }) => {
    const panel = chat.getByRole('region', { name: 'Busy' })
    const frame = panel.locator('iframe').contentFrame()
    await runCommand('Bosun: Open Chat')
    await send('Hold it up')
    await chat.getByRole('region', { name: 'Approvals' }).getByRole('button', { name: 'Allow once' }).click()
    await frame.getByText('Not pressed yet.').waitFor()
    await conversation.getByText('Press it.').first().waitFor()

    // The click is answered by nobody: its frame is at work for ever, in a process that is not the chat's, until it is taken away.
    const click = frame.getByRole('button', { name: 'Never end' }).click({ noWaitAfter: true, timeout: 30_000 }).catch(() => undefined)
    await message.fill('The chat goes on.')
    await panel.getByText('Busy is not shown any more. It did not answer for 10 s, so it was taken away.').waitFor()
    await click
    assert.equal(await message.inputValue(), 'The chat goes on.')
    await conversation.getByText('It will be mended.').first().waitFor()
    await conversation.getByText('What the plugin busy-1 shows failed').first().waitFor()
    await screenshot('plugin-silent')
    await panel.getByRole('button', { name: 'Show it again' }).click()
    await frame.getByText('Not pressed yet.').waitFor()
  }))

/** What the log of the only session says of the plugin. */
const runsInLog = ({ logs }: Workbench): readonly string[] =>
  logs()
    .flatMap(({ rows }) => rows)
    .flatMap((row) => {
      const { packageId, outcome, runId, state } = row.data as Readonly<Record<string, string>>
      return row.type === 'cordis/approval' ? [`approval ${packageId} ${outcome}`] : row.type === 'cordis/run' ? [`${runId} ${packageId} ${state}`] : []
    })
