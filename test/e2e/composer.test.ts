import assert from 'node:assert/strict'
import { test } from 'node:test'
import { imageHeader } from '../../extension/base/image-header.ts'
import { startModelServer } from '../support/model-server.ts'
import { withWorkbench, type Workbench } from '../support/workbench.ts'

const composer = ({ chat }: Workbench) => chat.getByRole('textbox', { name: 'Message' })
const options = ({ chat }: Workbench) => chat.getByRole('option')

/** A drawing in the clipboard, pasted into the box. */
const paste = (workbench: Workbench, width: number, height: number) =>
  composer(workbench).evaluate(
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

test('a message names a file chosen by keys, carries a selection and a pasted image, and the model gets just that', async () => {
  const server = await startModelServer({ steps: [{ answer: { parts: [{ text: 'I see the sea.' }] }, repeat: true }] })
  const settings = {
    'bosun.providers': { loopback: { name: 'Loopback', baseUrl: server.url, models: { scripted: { images: true } }, keyName: null } },
    'bosun.model.provider': 'loopback',
    'bosun.model.name': 'scripted',
  }
  try {
    await withWorkbench({ settings, files: { '.gitignore': 'hidden/\n', 'hidden/tides.ts': '' } }, async (workbench) => {
      const { chat, page } = workbench
      await workbench.openFile('README.md')
      await workbench.runCommand('Bosun: Open Chat')
      await composer(workbench).waitFor()

      await composer(workbench).pressSequentially('/')
      await options(workbench).filter({ hasText: '/model' }).waitFor()
      await workbench.screenshot('menu-commands')
      await composer(workbench).press('Escape')
      await options(workbench).first().waitFor({ state: 'detached' })
      await composer(workbench).fill('')

      await composer(workbench).pressSequentially('Explain @tid')
      await options(workbench).filter({ hasText: 'tides.ts' }).first().waitFor()
      assert.equal(await options(workbench).filter({ hasText: 'hidden' }).count(), 0)
      await workbench.screenshot('menu-references')
      await composer(workbench).press('Enter')
      assert.equal(await composer(workbench).inputValue(), 'Explain @src/tides.ts ')

      await paste(workbench, 3_000, 1_000)
      await chat.getByRole('listitem').filter({ hasText: '2000 × 667' }).waitFor()

      await page.locator('.monaco-editor .view-line').first().click()
      await page.keyboard.press('ControlOrMeta+a')
      await workbench.runCommand('Bosun: Ask Bosun About Selection')
      await chat.getByRole('listitem').filter({ hasText: /README\.md.*lines 1 to/ }).waitFor()

      // What is written and put beside it outlives the window.
      await workbench.reload()
      await workbench.runCommand('Bosun: Open Chat')
      await chat.getByRole('listitem').filter({ hasText: '2000 × 667' }).waitFor()
      assert.equal(await composer(workbench).inputValue(), 'Explain @src/tides.ts ')
      await workbench.screenshot('composer-attached')

      await chat.getByRole('button', { name: 'Send' }).click()
      await chat.getByRole('log', { name: 'Conversation' }).getByText('I see the sea.').waitFor()
      await chat.getByRole('list', { name: 'Attached' }).waitFor({ state: 'detached' })
      await workbench.screenshot('composer-sent')
    })

    const { messages } = JSON.parse(server.chats().at(-1)!.body) as { readonly messages: readonly WireMessage[] }
    const prompt = messages.findLast(({ content }) => Array.isArray(content))
    assert.ok(Array.isArray(prompt?.content))
    assert.deepEqual(prompt.content.map((part) => part.type), ['text', 'image_url'])
    assert.equal(prompt.content[0]?.text, 'Explain @src/tides.ts')
    const bytes = Buffer.from(prompt.content[1]!.image_url!.url.replace('data:image/png;base64,', ''), 'base64')
    assert.deepEqual(imageHeader(bytes), { mediaType: 'image/png', width: 2_000, height: 667 })
    const after = messages.slice(messages.indexOf(prompt) + 1).map(({ content }) => content)
    assert.ok(after.some((content) => typeof content === 'string' && content.startsWith('<reference name="selection">\nREADME.md:1-')))
    assert.match(JSON.stringify(messages[0]), /`@path` in the person’s words/)
  } finally {
    await server.close()
  }
})

test('a message looks up a symbol and the problems of the editor, and comes back when there is nothing to look up', async () => {
  const server = await startModelServer({ steps: [{ answer: { parts: [{ text: 'I have seen it.' }] }, repeat: true }] })
  const settings = { 'bosun.providers': { loopback: { baseUrl: server.url, models: ['scripted'], keyName: null } }, 'bosun.model.provider': 'loopback', 'bosun.model.name': 'scripted', 'bosun.titles.enabled': false }
  try {
    await withWorkbench({ settings, files: { 'src/broken.ts': 'export const depth: number = "deep"\n' } }, async (workbench) => {
      const { chat, page } = workbench
      await workbench.openFile('src/broken.ts')
      await page.locator('.squiggly-error').first().waitFor()
      await workbench.runCommand('Bosun: Open Chat')
      await composer(workbench).waitFor()

      await composer(workbench).fill('Look at @terminal')
      await chat.getByRole('button', { name: 'Send' }).click()
      await chat.getByRole('alert').filter({ hasText: '@terminal: nothing is selected' }).waitFor()
      assert.equal(await composer(workbench).inputValue(), 'Look at @terminal')
      assert.deepEqual(server.chats(), [])

      await composer(workbench).fill('')
      await composer(workbench).pressSequentially('Mend @problems at @symbol:highestTid')
      await options(workbench).filter({ hasText: 'highestTide' }).first().waitFor()
      await composer(workbench).press('Tab')
      await chat.getByRole('button', { name: 'Send' }).click()
      await chat.getByRole('log', { name: 'Conversation' }).getByText('I have seen it.').waitFor()
    })
    const { messages } = JSON.parse(server.chats().at(-1)!.body) as { readonly messages: readonly WireMessage[] }
    const told = messages.map(({ content }) => (typeof content === 'string' ? content : ''))
    assert.ok(told.some((text) => /<reference name="@problems">\nsrc\/broken\.ts:1 error ts 2322: Type 'string'/.test(text)), told.join('\n---\n'))
    assert.ok(told.some((text) => /<reference name="@symbol:highestTide">\nfunction highestTide(?:\(\))? at src\/tides\.ts:\d+\n[\s\S]*\breturn\b/.test(text)), told.join('\n---\n'))
  } finally {
    await server.close()
  }
})
