import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import type { PageHostMessage, PageKey, PageView } from '../../../extension/protocol/editor-page.ts'
import { chatPage } from '../../../extension/protocol/page.ts'
import { PROTOCOL_VERSION, type HostMessage, type ViewMessage } from '../../../extension/protocol/messages.ts'
import type { ViewState } from '../../../extension/protocol/view-state.ts'
import { chromiumArgs, findChromium } from '../../../scripts/chromium.ts'
import { root } from '../../../scripts/root.ts'
import type { Fixture } from './fixtures.ts'

export const themes = ['dark-modern', 'light-modern', 'high-contrast'] as const
export type Theme = (typeof themes)[number]

export interface HarnessOptions {
  readonly theme: Theme
  readonly width: number
  readonly height: number
  /** Saved UI intent, as the editor would give it back. */
  readonly savedState?: unknown
  /** A page of the editor area in the place of the chat. */
  readonly pageKey?: PageKey
  /** A fixed time for the page, epoch milliseconds; the real one when absent. */
  readonly time?: number
}

/** The chat's own bundle in a page, with a host that the test plays. */
export interface HarnessPage {
  readonly page: Page
  /** Resolves when the page has heard them; it draws what they say with its next frame. */
  readonly post: (...messages: readonly (HostMessage | PageHostMessage)[]) => Promise<void>
  readonly snapshot: (state: ViewState) => Promise<void>
  readonly posted: () => Promise<readonly ViewMessage[]>
  /** Resolves when the page has drawn what it heard, and what came of that: three frames, for what it heard, for its effects and for sizes. */
  readonly drawn: () => Promise<void>
  /** Load the page anew with another saved state, as the editor would give it back. */
  readonly reload: (savedState: unknown) => Promise<void>
  readonly close: () => Promise<void>
}

/** What the fake host keeps in the page. */
declare global {
  interface Window {
    harness: { readonly posted: unknown[]; state: unknown }
  }
}

const origin = 'http://harness.test'
const contentTypes: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.ttf': 'font/ttf' }

export async function startBrowser(): Promise<Browser> {
  if (!existsSync(join(root, 'dist/webview.js'))) throw new Error('There is no dist/webview.js. Run `npm run build` first.')
  return chromium.launch({ executablePath: await findChromium((line) => console.error(line)), args: chromiumArgs })
}

/** Open the page that the editor would show, served from `dist/` without a network. */
export async function openHarness(browser: Browser, options: HarnessOptions): Promise<HarnessPage> {
  const theme = JSON.parse(await readFile(join(import.meta.dirname, 'themes', `${options.theme}.json`), 'utf8')) as { readonly bodyClass: string; readonly variables: Readonly<Record<string, string>> }
  const page = await browser.newPage({ viewport: { width: options.width, height: options.height } })
  if (options.time !== undefined) await page.clock.setFixedTime(options.time)
  const html = chatPage({
    cspSource: origin,
    nonce: 'harness',
    scriptUri: `${origin}/webview.js`,
    styleUri: `${origin}/webview.css`,
    iconStyleUri: `${origin}/codicon.css`,
    language: 'en',
    ...(options.pageKey && { page: options.pageKey }),
  })
  await page.route(`${origin}/**`, async (route) => {
    const path = new URL(route.request().url()).pathname
    if (path === '/') return route.fulfill({ contentType: 'text/html', body: html })
    return route.fulfill({ contentType: contentTypes[extname(path)] ?? 'text/plain', path: join(root, 'dist', path) })
  })
  await page.addInitScript(
    ({ theme, savedState }) => {
      // Not in the frames of plugins.
      if (window !== window.top) return
      const stored = sessionStorage.getItem('saved-state')
      window.harness = { posted: [], state: stored === null ? savedState : (JSON.parse(stored) as unknown) }
      Object.assign(window, {
        acquireVsCodeApi: () => ({
          postMessage: (message: unknown) => void window.harness.posted.push(message),
          getState: () => window.harness.state,
          setState: (state: unknown) => void (window.harness.state = state),
        }),
      })
      document.addEventListener('DOMContentLoaded', () => {
        for (const [name, value] of Object.entries(theme.variables)) document.documentElement.style.setProperty(name, value)
        document.documentElement.style.background = 'var(--vscode-sideBar-background)'
        document.body.className = theme.bodyClass
        // As the editor does for every webview: what the chat does not set itself shows through.
        const defaults = new CSSStyleSheet()
        defaults.replaceSync(`@layer vscode-default {
          html { scrollbar-color: var(--vscode-scrollbarSlider-background) var(--vscode-editor-background) }
          body { padding: 0 20px; background: transparent; color: var(--vscode-editor-foreground) }
          img { max-width: 100%; max-height: 100% }
          code { padding: 1px 3px; border-radius: 4px; background: var(--vscode-textPreformat-background); color: var(--vscode-textPreformat-foreground) }
          kbd { padding: 1px 3px; border: 1px solid; box-shadow: inset 0 -1px 0 black; vertical-align: middle }
          input:focus, textarea:focus { outline: 1px solid red; outline-offset: -1px }
        }`)
        document.adoptedStyleSheets.push(defaults)
      })
    },
    { theme, savedState: options.savedState },
  )
  await page.goto(`${origin}/`)
  let frame = 0
  const post = (...messages: readonly (HostMessage | PageHostMessage)[]) =>
    page.evaluate(
      (all: readonly unknown[]) =>
        new Promise<void>((resolve) => {
          let heard = 0
          // Later than the page's own listener, so that the page has heard what is heard here.
          window.addEventListener('message', function hear({ source }) {
            if (source === window) heard += 1
            if (heard < all.length) return
            window.removeEventListener('message', hear)
            resolve()
          })
          for (const message of all) window.postMessage(message, '*')
        }),
      messages as readonly unknown[],
    )
  return {
    page,
    post,
    snapshot: (state) => post({ type: 'snapshot', version: PROTOCOL_VERSION, frame: (frame += 1), state }),
    // What the page posted is what the typed actions made.
    posted: () => page.evaluate(() => window.harness.posted) as Promise<readonly ViewMessage[]>,
    drawn: () =>
      page.evaluate(async () => {
        for (let frame = 0; frame < 3; frame += 1) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      }),
    reload: async (savedState) => {
      await page.evaluate((state) => sessionStorage.setItem('saved-state', JSON.stringify(state)), savedState)
      await page.reload()
    },
    close: () => page.close(),
  }
}

/** A small picture for attachments: a gradient, made here. */
const picture = `data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAkElEQVR42g3MoREEIAwEwC/n26CNdIDGoN9gTkdjzqBPx8TQQdp59M7s52u3WZhp2IFtmoeh7Pf59tt6WNfoB32ze3RUfzBvm2FTYx7MzekxUfPBum2FLY11sDaXx0KtB37ba13DD3zTPRzlD3gbw6jBA27Sgyg+0G0Kk4YOtCkPofQgb8uw1MiD3EyPROXvD02AbMFoFipmAAAAAElFTkSuQmCC`

/** Show a fixture as it is meant to be seen, in a page that may have shown another before. */
export async function showFixture(harness: HarnessPage, fixture: Fixture): Promise<void> {
  await harness.reload({ open: (fixture.open ?? []).map((id) => [id, true]) })
  await harness.snapshot(fixture.state)
  await harness.post({ type: 'image', attachmentId: 'img1', uri: picture, byteLength: 2_310 })
  // An agent with one answer has no composer.
  await harness.page.locator('.bottom').waitFor({ state: 'attached' })
  for (const [frameId, code] of Object.entries(fixture.pluginCode ?? {})) {
    await harness.page.waitForFunction(() => window.harness.posted.some((message) => (message as ViewMessage).type === 'plugin-code'))
    await harness.post({ type: 'plugin', frameId, part: { kind: 'code', code } })
    await harness.page.waitForFunction(() => window.harness.posted.some((message) => (message as ViewMessage).type === 'plugin-frame'))
  }
  for (const name of fixture.press ?? []) {
    const pattern = /^\/(.*)\/$/.exec(name)?.[1]
    await harness.page.getByRole('button', { name: pattern === undefined ? name : new RegExp(pattern), exact: true }).first().click()
  }
  if (fixture.typed !== undefined) {
    await harness.page.getByRole('textbox', { name: 'Message' }).pressSequentially(fixture.typed)
    const asked = (await harness.posted()).findLast((message) => message.type === 'completions')
    if (asked !== undefined) await harness.post({ type: 'completions', id: asked.id, items: fixture.completions ?? [], isComplete: true })
  }
  // Colours of code come with their grammars.
  await harness.page.waitForTimeout(150)
}

/** Show what a page of the editor area shows, in a page that may have shown another before. */
export async function showPage(harness: HarnessPage, view: PageView): Promise<void> {
  await harness.reload({})
  // It listens once it is drawn.
  await harness.page.locator('.loading').waitFor()
  await harness.post({ type: 'page', version: PROTOCOL_VERSION, view })
  await harness.page.locator('main').waitFor()
}
