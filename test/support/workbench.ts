import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { chromium, type Browser, type FrameLocator, type Locator, type Page } from 'playwright-core'
import { chromiumArgs, findChromium } from '../../scripts/chromium.ts'
import { root } from '../../scripts/root.ts'
import { installVscodeServer, startVscodeServer, type ServerOptions, type VscodeServer } from '../../scripts/vscode-server.ts'

export type WorkbenchOptions = {
  /** Files to write over the fixture workspace. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Start with an empty folder instead of the fixture workspace. */
  readonly isEmpty?: boolean
  /** Folders below the one that is opened, each a root of the window, by its name. */
  readonly roots?: readonly string[]
  /** Settings of the machine. What has application scope can only be set as a person does. */
  readonly settings?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
  /** Ask whether the folder is trusted, which starts it in Restricted Mode. */
  readonly withWorkspaceTrust?: boolean
  readonly viewport?: { readonly width: number; readonly height: number }
  /** A colour theme by its label, like `Default Light Modern`. */
  readonly theme?: string
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
  readonly server: () => VscodeServer
  /** Run a command by its title, through the command palette. */
  readonly runCommand: (title: string) => Promise<void>
  /** Open a file of the folder in an editor, through the quick open box. */
  readonly openFile: (path: string) => Promise<void>
  /** The notification toasts whose text contains `text`. */
  readonly notification: (text: string) => Locator
  /** Write `out/screenshots/<name>.png` and return its path. */
  readonly screenshot: (name: string) => Promise<string>
  /** Reload the window by its command and wait for the workbench. The extension host starts anew. */
  readonly reload: () => Promise<void>
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
  await mkdir(home)
  await fillFolder(folder, options)
  const extensions = process.env[packagedExtensions]
  if (extensions === undefined) throw new Error('Run this through `npm run test:e2e -- PART_OF_THE_FILE_NAME`, which packs the extension first.')
  await cp(extensions, serverOptions.extensionsDir, { recursive: true })

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
    await open()
    return {
      page,
      folder,
      home,
      storage: join(serverOptions.dataDir, 'data/User/globalStorage/bosun.bosun'),
      chat: chatFrame(page),
      server: () => server,
      runCommand: (title) => runCommand(page, title),
      openFile: (path) => openFile(page, path),
      notification: (text) => page.locator('.notification-toast').filter({ hasText: text }),
      screenshot: (name) => screenshot(page, name),
      reload: async () => {
        const loaded = page.waitForEvent('load')
        await runCommand(page, 'Developer: Reload Window')
        await loaded
        await untilReady(page)
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

/** The document inside Bosun's webview: VS Code nests it two frames deep. */
export const chatFrame = (page: Page): FrameLocator =>
  page.frameLocator('iframe.webview.ready[src*="extensionId=bosun.bosun"]').frameLocator('#active-frame')

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
async function runCommand(page: Page, title: string): Promise<void> {
  const row = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: title }).first()
  for (let attempt = 1; ; attempt += 1) {
    await page.keyboard.press('F1')
    try {
      await page.locator('.quick-input-widget input').fill(`>${title}`, { timeout: 5_000 })
      await row.waitFor({ timeout: 5_000 })
      return await row.click()
    } catch (error) {
      if (attempt === 10) throw error
      await page.keyboard.press('Escape')
    }
  }
}

async function openFile(page: Page, path: string): Promise<void> {
  await page.keyboard.press('ControlOrMeta+P')
  const name = path.slice(path.lastIndexOf('/') + 1)
  await pick(page, path, name)
  await page.getByRole('tab', { name }).first().waitFor()
}

async function pick(page: Page, typed: string, label: string): Promise<void> {
  const input = page.locator('.quick-input-widget input')
  await input.waitFor()
  await input.fill(typed)
  const row = page.locator('.quick-input-list .monaco-list-row').filter({ hasText: label }).first()
  await row.waitFor()
  await row.click()
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
