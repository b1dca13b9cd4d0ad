import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageHeader } from '../../extension/base/image-header.ts'
import type { ModelServer } from '../support/model-server.ts'
import { withModelWindow } from '../support/model-window.ts'
import { clickLine, untilEqual, type Workbench } from '../support/workbench.ts'

/** A drawing in the clipboard, pasted into the box. */
const paste = ({ message }: Workbench, width: number, height: number) =>
  message.evaluate(
    async (box, size) => {
      const canvas = new OffscreenCanvas(size.width, size.height)
      const context = canvas.getContext('2d')!
      context.fillStyle = 'teal'
      context.fillRect(0, 0, size.width, size.height / 2)
      const transfer = new DataTransfer()
      transfer.items.add(new File([await canvas.convertToBlob({ type: 'image/png' })], 'sea.png', { type: 'image/png' }))
      box.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData: transfer }))
    },
    { width, height },
  )

interface WireMessage {
  readonly role: string
  readonly content: string | readonly { readonly type: string; readonly text?: string; readonly image_url?: { readonly url: string } }[]
}

/** The messages of the last request. */
const lastMessages = (server: ModelServer) => (JSON.parse(server.chats().at(-1)!.body) as { readonly messages: readonly WireMessage[] }).messages

test('a message names a file chosen by keys, carries a selection and a pasted image, and the model gets just that', () =>
  withModelWindow(
    { steps: [{ answer: { parts: [{ text: 'I see the sea.' }] }, repeat: true }] },
    { models: { scripted: { images: true } }, files: { '.gitignore': 'hidden/\n', 'hidden/tides.ts': '' } },
    async (workbench, server) => {
      const { chat, conversation, message, page } = workbench
      const options = chat.getByRole('option')
      await workbench.openFile('README.md')
      await workbench.runCommand('Bosun: Open Chat')

      await message.pressSequentially('/')
      await options.filter({ hasText: '/model' }).waitFor()
      await workbench.screenshot('menu-commands')
      await message.press('Escape')
      await options.first().waitFor({ state: 'detached' })
      await message.fill('')

      await message.pressSequentially('Explain @tid')
      await options.filter({ hasText: 'tides.ts' }).first().waitFor()
      assert.equal(await options.filter({ hasText: 'hidden' }).count(), 0)
      await workbench.screenshot('menu-references')
      await message.press('Enter')
      await untilEqual(() => message.inputValue(), 'Explain @src/tides.ts ')

      await paste(workbench, 3_000, 1_000)
      await chat.getByRole('listitem').filter({ hasText: '2000 × 667' }).waitFor()

      await clickLine(page.locator('.monaco-editor .view-line').first())
      await page.keyboard.press('ControlOrMeta+a')
      await workbench.runCommand('Bosun: Ask Bosun About Selection')
      await chat.getByRole('listitem').filter({ hasText: /README\.md.*lines 1 to/ }).waitFor()

      // What is written and put beside it outlives the window.
      await workbench.reload()
      await workbench.runCommand('Bosun: Open Chat')
      await chat.getByRole('listitem').filter({ hasText: '2000 × 667' }).waitFor()
      await untilEqual(() => message.inputValue(), 'Explain @src/tides.ts ')
      await workbench.screenshot('composer-attached')

      await chat.getByRole('button', { name: 'Send' }).click()
      await conversation.getByText('I see the sea.').waitFor()
      await chat.getByRole('list', { name: 'Attached' }).waitFor({ state: 'detached' })
      await workbench.screenshot('composer-sent')

      const messages = lastMessages(server)
      const prompt = messages.findLast(({ content }) => Array.isArray(content))
      assert.ok(Array.isArray(prompt?.content))
      assert.deepEqual(prompt.content.map((part) => part.type), ['text', 'image_url'])
      assert.equal(prompt.content[0]?.text, 'Explain @src/tides.ts')
      const bytes = Buffer.from(prompt.content[1]!.image_url!.url.replace('data:image/png;base64,', ''), 'base64')
      assert.deepEqual(imageHeader(bytes), { mediaType: 'image/png', width: 2_000, height: 667 })
      const after = messages.slice(messages.indexOf(prompt) + 1).map(({ content }) => content)
      assert.ok(after.some((content) => typeof content === 'string' && content.startsWith('<reference name="selection">\nREADME.md:1-')))
      assert.match(JSON.stringify(messages[0]), /`@path` in the person’s words/)
    },
  ))

test('a message looks up a symbol and the problems of the editor, and comes back when there is nothing to look up', () =>
  withModelWindow(
    { steps: [{ answer: { parts: [{ text: 'I have seen it.' }] }, repeat: true }] },
    { settings: { 'bosun.titles.enabled': false }, files: { 'src/broken.ts': 'export const depth: number = "deep"\n' } },
    async (workbench, server) => {
      const { chat, conversation, message, page } = workbench
      await workbench.openFile('src/broken.ts')
      await page.locator('.squiggly-error').first().waitFor()
      await workbench.runCommand('Bosun: Open Chat')

      await workbench.send('Look at @terminal')
      await chat.getByRole('alert').filter({ hasText: '@terminal: nothing is selected' }).waitFor()
      await untilEqual(() => message.inputValue(), 'Look at @terminal')
      assert.deepEqual(server.chats(), [])

      await message.fill('')
      await message.pressSequentially('Mend @problems at @symbol:highestTid')
      await chat.getByRole('option').filter({ hasText: 'highestTide' }).first().waitFor()
      await message.press('Tab')
      await chat.getByRole('button', { name: 'Send' }).click()
      await conversation.getByText('I have seen it.').waitFor()

      const told = lastMessages(server).map(({ content }) => (typeof content === 'string' ? content : ''))
      assert.ok(told.some((text) => /<reference name="@problems">\nsrc\/broken\.ts:1 error ts 2322: Type 'string'/.test(text)), told.join('\n---\n'))
      assert.ok(told.some((text) => /<reference name="@symbol:highestTide">\nfunction highestTide(?:\(\))? at src\/tides\.ts:\d+\n[\s\S]*\breturn\b/.test(text)), told.join('\n---\n'))
    },
  ))
