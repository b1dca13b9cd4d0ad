import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { imageHeader } from '../../extension/base/image-header.ts'
import type { CompletionItem, ViewMessage } from '../../extension/protocol/messages.ts'
import { imageLimits } from '../../extension/protocol/image-limits.ts'
import type { ComposerView } from '../../extension/protocol/view-state.ts'
import { baseState } from '../webview/harness/fixtures.ts'
import { openHarness, startBrowser, type HarnessPage } from '../webview/harness/harness-page.ts'
import { untilEqual } from '../support/workbench.ts'

/* The composer's menus and attachments in a real browser, with a host that the test plays. */
const browser = await startBrowser()
after(() => browser.close())

let chat: HarnessPage
beforeEach(async () => {
  chat = await openHarness(browser, { theme: 'dark-modern', width: 300, height: 700 })
  await show()
})
afterEach(() => chat.close())

const show = async (composer: Partial<ComposerView> = {}) => {
  await chat.snapshot({ ...baseState, composer: { ...baseState.composer, ...composer } })
  await chat.page.locator('.composer').waitFor()
}
const box = () => chat.page.getByRole('textbox', { name: 'Message' })
const options = () => chat.page.getByRole('option')
const postedOf = async <Type extends ViewMessage['type']>(type: Type) => (await chat.posted()).filter((message): message is Extract<ViewMessage, { type: Type }> => message.type === type)
const item = (path: string, insert = `@${path} `): CompletionItem => ({ kind: 'file', label: path, detail: '', icon: 'file', insert })

/** Type and let the host answer what is asked last. */
async function type(text: string, ...items: readonly CompletionItem[]) {
  await box().pressSequentially(text)
  const asked = (await postedOf('completions')).at(-1)!
  await chat.post({ type: 'completions', id: asked.id, items, isComplete: true })
  await options().first().waitFor()
  return asked
}

describe('the menu', () => {
  test('is moved in and taken from by keys, and the box keeps the focus', async () => {
    const asked = await type('see @da', item('date.ts'), item('data.ts'), item('dawn.ts'))
    assert.deepEqual([asked.kind, asked.query], ['@', 'da'])
    await box().press('ArrowDown')
    await untilEqual(() => options().nth(1).getAttribute('aria-selected'), 'true')
    await untilEqual(() => box().getAttribute('aria-activedescendant'), await options().nth(1).getAttribute('id'))
    await box().press('Enter')
    await untilEqual(() => box().inputValue(), 'see @data.ts ')
    await untilEqual(() => options().count(), 0)
    assert.deepEqual(await postedOf('send'), [])
    assert.equal(await chat.page.evaluate(() => document.activeElement?.getAttribute('aria-label')), 'Message')
  })

  test('is taken from by Tab and by a click, and undo gives back what was typed', async () => {
    await type('@da', item('date.ts'))
    await box().press('Tab')
    await untilEqual(() => box().inputValue(), '@date.ts ')
    await box().press('ControlOrMeta+z')
    await untilEqual(() => box().inputValue(), '@da')
    await type('t', item('date.ts'))
    await options().first().click()
    await untilEqual(() => box().inputValue(), '@date.ts ')
  })

  test('goes on within a folder', async () => {
    await type('@s', { ...item('src', '@src/'), kind: 'folder' })
    await box().press('Enter')
    await untilEqual(() => box().inputValue(), '@src/')
    await chat.page.waitForFunction(() => window.harness.posted.some((message) => (message as { query?: string }).query === 'src/'))
  })

  test('closes with Escape, which stops nothing, and leaves what was typed', async () => {
    await chat.snapshot({ ...baseState, session: { ...baseState.session!, status: 'running' } })
    await type('@da', item('date.ts'))
    await box().press('Escape')
    await box().press('Escape')
    await untilEqual(() => options().count(), 0)
    await untilEqual(() => box().inputValue(), '@da')
    assert.deepEqual(await postedOf('stop'), [])
    await box().press('Enter')
    assert.deepEqual((await postedOf('send')).map(({ text }) => text), ['@da'])
  })

  test('never holds typing up: without an answer Enter sends', async () => {
    await box().pressSequentially('ask @nobody')
    await box().press('Enter')
    assert.deepEqual((await postedOf('send')).map(({ text }) => text), ['ask @nobody'])
  })

  test('runs a command that stands there whole with one Enter', async () => {
    await type('/clear', { kind: 'command', label: '/clear', detail: '', icon: 'terminal', insert: '/clear ' })
    await box().press('Enter')
    assert.deepEqual((await postedOf('send')).map(({ text }) => text), ['/clear'])
  })

  test('fits a view of 280 pixels', async () => {
    await chat.page.setViewportSize({ width: 280, height: 500 })
    await type('@d', { ...item('a-very-long-name-of-a-file-that-nobody-can-read.component.test.tsx'), detail: 'packages/deep/in/the/tree' })
    const { x, width } = (await chat.page.getByRole('listbox').boundingBox())!
    assert.ok(x >= 0 && x + width <= 280)
    assert.equal(await chat.page.evaluate(() => document.documentElement.scrollWidth), 280)
  })

  test('comes from the button too', async () => {
    await chat.page.getByRole('button', { name: 'Add to the message' }).click()
    await chat.page.getByRole('menuitem', { name: /@/ }).click()
    await untilEqual(() => box().inputValue(), '@')
    await untilEqual(async () => (await postedOf('completions')).at(-1)?.kind, '@')
  })
})

/** A drawing of that size in the clipboard or under the mouse. */
const bring = (kind: 'paste' | 'drop', width: number, height: number) =>
  box().evaluate(
    async (target, { kind, width, height }) => {
      const canvas = new OffscreenCanvas(width, height)
      const context = canvas.getContext('2d')!
      for (let at = 0; at < 200; at++) {
        context.fillStyle = `hsl(${at * 7} 80% 50%)`
        context.fillRect((at * 97) % width, (at * 61) % height, width / 5, height / 5)
      }
      const transfer = new DataTransfer()
      transfer.items.add(new File([await canvas.convertToBlob({ type: 'image/png' })], 'sea.png', { type: 'image/png' }))
      const options = { bubbles: true, cancelable: true }
      target.dispatchEvent(kind === 'paste' ? new ClipboardEvent('paste', { ...options, clipboardData: transfer }) : new DragEvent('drop', { ...options, dataTransfer: transfer }))
    },
    { kind, width, height },
  )

describe('an image', () => {
  for (const kind of ['paste', 'drop'] as const) {
    test(`that comes by ${kind} is made to fit and told to the host`, async () => {
      await bring(kind, 3_000, 1_500)
      await chat.page.waitForFunction(() => window.harness.posted.some((message) => (message as { type: string }).type === 'attach-image'))
      const [told] = await postedOf('attach-image')
      const bytes = Buffer.from(told!.data, 'base64')
      assert.deepEqual(imageHeader(bytes), { mediaType: 'image/png', width: 2_000, height: 1_000 })
      assert.ok(bytes.length <= imageLimits.maxBytes)
      assert.equal(told!.name, 'sea.png')
    })
  }

  test('that fits goes as it is', async () => {
    await bring('paste', 60, 40)
    await chat.page.waitForFunction(() => window.harness.posted.some((message) => (message as { type: string }).type === 'attach-image'))
    assert.deepEqual(imageHeader(Buffer.from((await postedOf('attach-image'))[0]!.data, 'base64')), { mediaType: 'image/png', width: 60, height: 40 })
  })

  test('holds the message back until it is there', async () => {
    await bring('paste', 60, 40)
    await chat.page.waitForFunction(() => window.harness.posted.some((message) => (message as { type: string }).type === 'attach-image'))
    await box().pressSequentially('look')
    await box().press('Enter')
    assert.deepEqual(await postedOf('send'), [])
    await chat.post({ type: 'attached', id: (await postedOf('attach-image'))[0]!.id, problem: null })
    await chat.page.getByRole('button', { name: 'Send' }).and(chat.page.locator(':enabled')).waitFor()
    await box().press('Enter')
    assert.deepEqual((await postedOf('send')).map(({ text }) => text), ['look'])
  })

  test('that is refused says why', async () => {
    await bring('paste', 60, 40)
    await chat.page.waitForFunction(() => window.harness.posted.some((message) => (message as { type: string }).type === 'attach-image'))
    await chat.post({ type: 'attached', id: (await postedOf('attach-image'))[0]!.id, problem: 'Deep reads text only.' })
    await chat.page.getByRole('alert').filter({ hasText: 'Deep reads text only.' }).waitFor()
  })

  test('stands over the box with its name and size, and is taken out by a button', async () => {
    await show({ attachments: [{ id: 'a1', kind: 'image', label: 'sea.png', detail: '60 × 40, 2 kB', attachmentId: 'sha256:1' }] })
    const chip = chat.page.getByRole('list', { name: 'Attached' }).getByRole('listitem')
    assert.match((await chip.textContent()) ?? '', /sea\.png.*60 × 40, 2 kB/)
    await chip.getByRole('button', { name: 'Remove sea.png' }).click()
    assert.deepEqual(await postedOf('detach'), [{ type: 'detach', id: 'a1' }])
    assert.deepEqual(await postedOf('need-image'), [{ type: 'need-image', attachmentId: 'sha256:1' }])
  })
})

test('words that come with a picture are pasted as words', async () => {
  await box().evaluate((target) => {
    const transfer = new DataTransfer()
    transfer.setData('text/plain', 'A1\tB1')
    transfer.items.add(new File(['x'], 'image.png', { type: 'image/png' }))
    target.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData: transfer }))
  })
  assert.deepEqual(await postedOf('attach-image'), [])
})

test('files dropped from the editor’s lists are named', async () => {
  await box().evaluate((target) => {
    const transfer = new DataTransfer()
    transfer.setData('text/uri-list', 'file:///w/a.ts')
    target.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: transfer }))
  })
  assert.deepEqual(await postedOf('mention'), [{ type: 'mention', uris: ['file:///w/a.ts'] }])
  await chat.post({ type: 'insert-text', text: '@a.ts ' })
  await chat.page.waitForFunction(() => document.querySelector('textarea')?.value === '@a.ts ')
})
