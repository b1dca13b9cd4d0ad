import assert from 'node:assert/strict'
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { chromium, type Browser, type FrameLocator, type Locator, type Page } from 'playwright-core'
import { chromiumArgs, findChromium } from '../../scripts/chromium.ts'
import { packFixtureExtension, type FixtureExtension } from '../../scripts/fixture-extension.ts'
import { root } from '../../scripts/root.ts'
import { installExtension, installVscodeServer, startVscodeServer, uninstallExtension, type ServerOptions, type VscodeServer } from '../../scripts/vscode-server.ts'
import { logsIn, readLog, type StoredLog } from './stored-logs.ts'

export type WorkbenchOptions = {
  /** Files to write over the fixture workspace. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Start with an empty folder instead of the fixture workspace. */
  readonly isEmpty?: boolean
  /** Folders below the one that is opened, each a root of the window, by its name. */
  readonly roots?: readonly string[]
  /** Extensions of `test/fixtures` to install beside Bosun. */
  readonly extensions?: readonly FixtureExtension[]
  /** Settings of the machine. What has application scope can only be set as a person does. */
  readonly settings?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  /** Ask whether the folder is trusted, which starts it in Restricted Mode. */
  readonly withWorkspaceTrust?: boolean
  readonly viewport?: { readonly width: number; readonly height: number }
  /** A colour theme by its label, like `Default Light Modern`. */
  readonly theme?: string
}

/** A list or a box that the editor asks the person in. */
export type QuickInput = {
  /** Resolves once it is on screen. */
  readonly waitFor: () => Promise<void>
  /** Where the person types. */
  readonly input: Locator
  /** The rows of a list whose text contains `text`. */
  readonly row: (text: string) => Locator
  /** The row that Enter would choose, if its text contains `text`. */
  readonly chosen: (text: string) => Locator
  /** Put `text` in the place of what stands in the box. */
  readonly fill: (text: string) => Promise<void>
  /** Fill the box, press Enter, and wait until the editor has left it. */
  readonly answer: (text: string) => Promise<void>
  /** Choose the first row whose text contains `text`, and wait until the editor has left the list. */
  readonly pick: (text: string) => Promise<void>
}

export type Workbench = {
  readonly page: Page
  /** The open folder, a fresh copy that belongs to this workbench. */
  readonly folder: string
  /** The home folder of the extension host, empty at first. */
  readonly home: string
  /** The folder that holds the extension's global storage. */
  readonly storage: string
  /** The document inside the chat's webview. */
  readonly chat: FrameLocator
  /** The talk that stands in the chat. */
  readonly conversation: Locator
  /** The box of the chat in which the person writes. */
  readonly message: Locator
  /** Write a message into its box and press the button that sends it. */
  readonly send: (text: string) => Promise<void>
  /** The document of the page of Bosun's that stands in the editor area. */
  readonly editorPage: FrameLocator
  /** The document of the editor's own preview of Markdown. */
  readonly preview: FrameLocator
  /** Every session's log as it stands on the disk, where what the view shows comes a moment later. */
  readonly logs: () => readonly StoredLog[]
  readonly server: () => VscodeServer
  /** Run a command by its title, through the command palette. */
  readonly runCommand: (title: string) => Promise<void>
  /** Open a file of the folder in an editor, through the quick open box. */
  readonly openFile: (path: string) => Promise<void>
  /**
   * The list or box whose title or prompt contains `words`. One widget draws them all, and what was answered stays until the
   * extension host has taken the answer: only these words tell that the next one is there, and what is typed goes into it.
   */
  readonly quickInput: (words: string) => QuickInput
  /** The notification toasts whose text contains `text`. */
  readonly notification: (text: string) => Locator
  /** Press a button of the notification that contains `text`, also once it has gone to the bell, as one does by itself after ten seconds. */
  readonly pressInNotification: (text: string, button: string) => Promise<void>
  /** Write `out/screenshots/<name>.png` and return its path. */
  readonly screenshot: (name: string) => Promise<string>
  /** Reload the window by its command and wait for the workbench. The extension host starts anew. */
  readonly reload: () => Promise<void>
  /** Uninstall an extension by its id and reload the window. */
  readonly uninstall: (id: string) => Promise<void>
  /** Kill the server and every extension host with SIGKILL. */
  readonly kill: () => Promise<void>
  /** After `kill`: start again on the same folders and open the window again. */
  readonly restart: () => Promise<void>
  readonly close: () => Promise<void>
}

/** The extensions folder that the runner has installed the packaged extension into. */
const packagedExtensions = 'BOSUN_TEST_EXTENSIONS'

/**
 * Open a real VS Code on a fresh workspace with the packaged extension, ready for clicks.
 *
 * Everything it starts and writes is gone after `close`; without it, when this process ends.
 */
export async function openWorkbench(options: WorkbenchOptions = {}): Promise<Workbench> {
  const report = (line: string) => console.error(line)
  await installVscodeServer(report)
  const executablePath = await findChromium(report)
  const scratch = await mkdtemp(join(tmpdir(), 'bosun-e2e-'))
  const folder = join(scratch, 'workspace')
  const home = join(scratch, 'home')
  const serverOptions: ServerOptions = {
    port: 0,
    dataDir: join(scratch, 'data'),
    extensionsDir: join(scratch, 'extensions'),
    endsWhenIdle: true,
    withWorkspaceTrust: options.withWorkspaceTrust === true,
    settings: { ...quietSettings, ...(options.theme === undefined ? {} : { 'workbench.colorTheme': options.theme }), ...options.settings },
    env: { HOME: home, USERPROFILE: home, ...options.env },
  }
  const storage = join(serverOptions.dataDir, 'data/User/globalStorage/bosun.bosun')
  await mkdir(home)
  await fillFolder(folder, options)
  const packaged = process.env[packagedExtensions]
  if (packaged === undefined) throw new Error('Run this through `npm run test:e2e -- PART_OF_THE_FILE_NAME`, which packs the extension first.')
  await cp(packaged, serverOptions.extensionsDir, { recursive: true })
  for (const name of options.extensions ?? []) await installExtension({ ...serverOptions, vsix: await packFixtureExtension(name, join(scratch, 'packed')) })

  let server = await startVscodeServer(serverOptions)
  let browser: Browser | undefined
  const close = async () => {
    await browser?.close()
    await server.stop()
    await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
  try {
    browser = await chromium.launch({ executablePath, args: chromiumArgs })
    const page = await browser.newPage({ viewport: options.viewport ?? { width: 1280, height: 900 } })
    // A loaded machine with two cores takes long to draw a first window.
    page.setDefaultTimeout(120_000)
    const open = async () => {
      await page.goto(`${server.url}/?${options.roots === undefined ? `folder=${encodeURIComponent(folder)}` : `workspace=${encodeURIComponent(join(folder, workspaceFile))}`}`)
      await untilReady(page)
    }
    const reload = async () => {
      const loaded = page.waitForEvent('load')
      await runCommand(page, 'Developer: Reload Window')
      await loaded
      await untilReady(page)
    }
    await open()
    return {
      page,
      folder,
      home,
      storage,
      ...chatParts(page),
      editorPage: documentOf(page, `${bosunFrame}:not(${inSideBar})`),
      preview: documentOf(page, 'iframe.webview.ready[src*="extensionId=vscode.markdown-language-features"]'),
      logs: () => logsIn(storage).map(readLog),
      server: () => server,
      runCommand: (title) => runCommand(page, title),
      openFile: (path) => openFile(page, path),
      quickInput: (words) => quickInput(page, words),
      notification: (text) => page.locator('.notification-toast').filter({ hasText: text }),
      pressInNotification: (text, button) => pressInNotification(page, { text, button }),
      screenshot: (name) => screenshot(page, name),
      reload,
      uninstall: async (id) => {
        await uninstallExtension({ ...serverOptions, id })
        await reload()
      },
      kill: () => killServer(server),
      restart: async () => {
        // A page of the same origin keeps what the window had stored, so the port stays.
        server = await startVscodeServer({ ...serverOptions, port: server.port })
        await open()
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Open a workbench, hand it to `body`, close it. A failure leaves a screenshot in `out/screenshots`. */
export async function withWorkbench(options: WorkbenchOptions, body: (workbench: Workbench) => Promise<void>): Promise<void> {
  const workbench = await openWorkbench(options)
  try {
    await body(workbench)
  } catch (error) {
    const path = await workbench.screenshot(`failed-${Date.now()}`).catch(() => undefined)
    if (path !== undefined) console.error(`The window as it stood: ${path}`)
    throw error
  } finally {
    await workbench.close()
  }
}

/** What a busy machine may take; a loop without an end would keep all other tests from theirs. */
const patienceMs = 120_000
const pause = () => new Promise((resolve) => setTimeout(resolve, 100))

/** Wait until it is so. Errors: says `what` never came, after two minutes. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const end = Date.now() + patienceMs; !(await isSo()); await pause()) if (Date.now() > end) throw new Error(`It never came: ${what}`)
}

/** Wait until what is read equals `expected`, whole. Errors: the difference that is left after two minutes. */
export async function untilEqual<Value>(read: () => Value | Promise<Value>, expected: Value): Promise<void> {
  for (const end = Date.now() + patienceMs; ; await pause()) {
    const actual = await read()
    if (isDeepStrictEqual(actual, expected)) return
    if (Date.now() > end) return assert.deepEqual(actual, expected)
  }
}

/** Press a button that a row shows while the mouse is over it: rows move, and the next one has no such button. */
export async function pressInRow(row: Locator, button: string | RegExp): Promise<void> {
  for (const end = Date.now() + patienceMs; ; await pause()) {
    await row.hover()
    try {
      return await row.getByRole('button', { name: button }).click({ timeout: 5_000 })
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}

/** Press a button each time that it comes, until `end` is in sight, as of questions that come one after the other. Gives how often; `look` is called before each. */
export async function pressUntil(button: Locator, end: Locator, look: (count: number) => Promise<void> = async () => {}): Promise<number> {
  for (let count = 0, misses = 0; ; ) {
    await Promise.race([button.waitFor(), end.waitFor()])
    if (await end.isVisible()) return count
    await look(count)
    try {
      await button.click({ timeout: 5_000 })
      count += 1
      misses = 0
    } catch (error) {
      // The one that was seen has gone: pressed just before, or to the bell until it is asked again.
      if ((misses += 1) === 30) throw error
    }
  }
}

/** Click into a line of an editor, and wait until keys go there. */
export async function clickLine(line: Locator): Promise<void> {
  await line.click()
  await line.page().locator('.monaco-editor.focused').first().waitFor()
}

const bosunFrame = 'iframe.webview.ready[src*="extensionId=bosun.bosun"]'
const inSideBar = '[src*="purpose=webviewView"]'

/** The document inside a webview: VS Code nests it two frames deep. */
const documentOf = (page: Page, frame: string): FrameLocator => page.frameLocator(frame).frameLocator('#active-frame')

/** The chat of a window: its document, and the parts that a person always finds. */
export function chatParts(page: Page): Pick<Workbench, 'chat' | 'conversation' | 'message' | 'send'> {
  const chat = documentOf(page, `${bosunFrame}${inSideBar}`)
  const message = chat.getByRole('textbox', { name: 'Message' })
  return {
    chat,
    conversation: chat.getByRole('log', { name: 'Conversation' }),
    message,
    send: async (text) => {
      await message.fill(text)
      await chat.getByRole('button', { name: 'Send' }).click()
    },
  }
}

/** What would draw over the window or start by itself. */
const quietSettings = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'visible',
  'chat.disableAIFeatures': true,
  'workbench.tips.enabled': false,
  'extensions.ignoreRecommendations': true,
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'git.openRepositoryInParentFolders': 'never',
  'telemetry.telemetryLevel': 'off',
}

/** Names the roots of a window that has several. */
const workspaceFile = 'roots.code-workspace'

async function fillFolder(folder: string, { files = {}, isEmpty, roots }: WorkbenchOptions): Promise<void> {
  if (isEmpty === true) await mkdir(folder)
  else await cp(join(root, 'test/fixtures/workspace'), folder, { recursive: true })
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  if (roots !== undefined) await writeFile(join(folder, workspaceFile), JSON.stringify({ folders: roots.map((path) => ({ path })) }))
}

/** The workbench is drawn and its extension host has answered. */
async function untilReady(page: Page): Promise<void> {
  await page.locator('.monaco-workbench').waitFor({ timeout: 120_000 })
  await page.locator('.explorer-folders-view .monaco-list-row, .explorer-folders-view .monaco-list').first().waitFor({ timeout: 120_000 })
}

/** A window that just opened may not know the extension's commands yet, and a list that stands open does not learn of them. */
const runCommand = (page: Page, title: string) => pickFrom(page, { key: 'F1', typed: `>${title}`, label: title })

async function openFile(page: Page, path: string): Promise<void> {
  const name = path.slice(path.lastIndexOf('/') + 1)
  await pickFrom(page, { key: 'ControlOrMeta+P', typed: path, label: name })
  await page.getByRole('tab', { name }).first().waitFor()
}

/** Choose from what a key opens. A window that still opens may take the focus away from it, which closes it. */
async function pickFrom(page: Page, { key, typed, label }: { readonly key: string; readonly typed: string; readonly label: string }): Promise<void> {
  const input = page.locator('.quick-input-widget .quick-input-box input')
  const row = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: label }).first()
  for (let attempt = 1; ; attempt += 1) {
    await page.keyboard.press(key)
    try {
      await input.fill(typed, { timeout: 5_000 })
      await row.waitFor({ timeout: 5_000 })
      // By key: a click on what loads the window again may wait for a navigation that has already been.
      const isFocused = (await row.getAttribute('class'))?.split(' ').includes('focused') === true
      if (!isFocused) return await row.click({ timeout: 5_000 })
      // What was opened meanwhile, a question say, is not answered by it.
      await input.focus({ timeout: 5_000 })
      const key = await input.evaluateHandle(
        (element) => {
          const taken = { is: false }
          element.addEventListener('keydown', () => void (taken.is = true), { once: true, capture: true })
          return taken
        },
        undefined,
        { timeout: 5_000 },
      )
      await page.keyboard.press('Enter')
      // A window that is loaded again can no more be asked, and has taken it.
      if (await key.evaluate(({ is }) => is).catch(() => true)) return
      throw new Error(`The key for “${label}” went elsewhere.`)
    } catch (error) {
      if (attempt === 10) throw error
      await page.keyboard.press('Escape')
    }
  }
}

function quickInput(page: Page, words: string): QuickInput {
  const widget = page.locator('.quick-input-widget').filter({ has: page.locator('.quick-input-title, .quick-input-message').filter({ hasText: words }) })
  const input = widget.locator('.quick-input-box input')
  const row = (text: string) => widget.locator('.quick-input-list .monaco-list-row').filter({ hasText: text })
  const fill = async (text: string) => {
    await input.fill(text)
    assert.equal(await input.inputValue(), text, `What was typed into “${words}” stands there.`)
  }
  return {
    waitFor: () => widget.waitFor(),
    input,
    row,
    chosen: (text) => row(text).and(page.locator('.focused')),
    fill,
    answer: async (text) => {
      await fill(text)
      await page.keyboard.press('Enter')
      await widget.waitFor({ state: 'hidden' })
    },
    pick: async (text) => {
      const chosen = row(text).first()
      await chosen.click()
      await chosen.waitFor({ state: 'hidden' })
    },
  }
}

async function pressInNotification(page: Page, { text, button }: { readonly text: string; readonly button: string }): Promise<void> {
  const pressed = page.locator('.notification-list-item').filter({ hasText: text, visible: true }).getByRole('button', { name: button, exact: true }).first()
  try {
    await pressed.click({ timeout: 5_000 })
  } catch {
    // It is at the bell, whose list would lie over the chat if it stayed.
    await runCommand(page, 'Notifications: Show Notifications')
    await pressed.click()
    if (await page.locator('.notifications-center').isVisible()) await runCommand(page, 'Notifications: Hide Notifications')
  }
}

async function screenshot(page: Page, name: string): Promise<string> {
  const path = join(root, 'out/screenshots', `${name}.png`)
  await mkdir(dirname(path), { recursive: true })
  await page.screenshot({ path })
  return path
}

async function killServer({ pid, ended }: VscodeServer): Promise<void> {
  process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL')
  await ended
}
