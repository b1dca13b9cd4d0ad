import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium } from 'playwright-core'
import { run } from './child-process.ts'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge', 'chrome']

/** Switches for a browser that speaks to nobody but the page under test. */
export const chromiumArgs = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/**
 * Where a Chromium is: the one named by `BOSUN_CHROMIUM`, one on PATH, or Playwright's own; else install one.
 *
 * Errors: says what to install when nothing worked.
 */
export async function findChromium(report: (line: string) => void): Promise<string> {
  const found = process.env['BOSUN_CHROMIUM'] ?? onPath() ?? playwrightOwn()
  if (found !== undefined) return found
  for (const install of [installWithPlaywright, installWithApt]) {
    await install(report).catch(() => undefined)
    const installed = onPath() ?? playwrightOwn()
    if (installed !== undefined) return installed
  }
  throw new Error('No Chromium was found and none could be installed. Install Chromium or Chrome, or name one in BOSUN_CHROMIUM.')
}

function onPath(): string | undefined {
  const suffix = process.platform === 'win32' ? '.exe' : ''
  const candidates = (process.env['PATH'] ?? '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name + suffix)))
  const macs = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium']
  return [...candidates, ...(process.platform === 'darwin' ? macs : [])].find((path) => existsSync(path))
}

function playwrightOwn(): string | undefined {
  const path = chromium.executablePath()
  return existsSync(path) ? path : undefined
}

async function installWithPlaywright(report: (line: string) => void): Promise<void> {
  report('Installing Chromium')
  await run(process.execPath, [join(import.meta.dirname, '../node_modules/playwright-core/cli.js'), 'install', 'chromium'])
}

async function installWithApt(report: (line: string) => void): Promise<void> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return
  report('Installing Chromium with apt-get')
  await run('apt-get', ['update', '-qq'])
  await run('apt-get', ['install', '-y', '-qq', 'chromium'], { env: { DEBIAN_FRONTEND: 'noninteractive' } })
}
