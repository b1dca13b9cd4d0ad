import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { homeFolder } from '../../extension/platform/node/machine.ts'
import { headlessBundle } from '../support/build-headless.ts'
import { createFolders, runHeadless } from '../support/headless.ts'

describe('compiled code', () => {
  const cleanUps: (() => void)[] = []
  afterEach(() => {
    for (const cleanUp of cleanUps.splice(0)) cleanUp()
  })
  const cacheOf = (root: string) => (process.platform === 'linux' ? { XDG_CACHE_HOME: root } : { HOME: root, LOCALAPPDATA: root })

  it('is kept in the person’s cache folder, so that the next start does not compile it anew', async () => {
    const { root, remove } = createFolders()
    cleanUps.push(remove)
    expect(await runHeadless(['catalogue'], { env: cacheOf(root) })).toMatchObject({ code: 0 })
    const kept = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /bosun.compiled./.test(path))
    expect(kept.length).toBeGreaterThan(1)
  })
  it('that cannot be kept or is broken costs time, nothing else', async () => {
    const { root, remove } = createFolders()
    cleanUps.push(remove)
    writeFileSync(join(root, 'file'), 'not a folder')
    expect(await runHeadless(['catalogue'], { env: cacheOf(join(root, 'file')) })).toMatchObject({ code: 0, stderr: '' })
    await runHeadless(['catalogue'], { env: cacheOf(root) })
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) if (entry.isFile()) writeFileSync(join(entry.parentPath, entry.name), 'broken')
    expect(await runHeadless(['catalogue'], { env: cacheOf(root) })).toMatchObject({ code: 0, stderr: '' })
  })
})

describe('a Node that is too old', () => {
  /** The program under a Node that says it is 20 and lacks what it lacks. */
  const start = (bundle: string, ...args: readonly string[]) => {
    const old = "import module from 'node:module'; Object.defineProperty(process.versions, 'node', { value: '20.20.2' }); Object.defineProperty(process, 'version', { value: 'v20.20.2' }); delete module.enableCompileCache; module.syncBuiltinESMExports()"
    return spawnSync(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(old)}`, bundle, ...args], { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: process.env['HOME'] } })
  }

  it('hands over to the one that was installed beside the program', () => {
    const { status, stdout, stderr } = start(headlessBundle, 'catalogue')
    expect([status, stderr, (JSON.parse(stdout) as readonly unknown[]).length > 50]).toEqual([0, '', true])
    expect(start(headlessBundle, 'nonsense')).toMatchObject({ status: 2, stdout: '' })
  })
  it('says what to do where there is none', () => {
    const { root, remove } = createFolders()
    try {
      const alone = join(root, 'headless.mjs')
      copyFileSync(headlessBundle, alone)
      expect(start(alone, 'catalogue')).toMatchObject({ status: 1, stdout: '', stderr: 'Bosun needs Node 22 or newer, and this is v20.20.2. Start it by "npm run -s headless -- …", which brings its own.\n' })
    } finally {
      remove()
    }
  })
})

describe('odd surroundings', () => {
  const cleanUps: (() => void)[] = []
  afterEach(() => {
    for (const cleanUp of cleanUps.splice(0)) cleanUp()
  })
  const folders = () => {
    const { paths, remove } = createFolders('work', 'store')
    cleanUps.push(remove)
    const [work = '', store = ''] = paths
    mkdirSync(work)
    writeFileSync(join(work, 'a.txt'), 'here\n')
    return { work, store }
  }
  const read = ['tool', 'read', '{"file_path":"a.txt"}', '--permissions', 'allow']

  it.each([
    ['a folder for temporary files that is not there', { TMPDIR: '/not/there' }],
    ['no time zone and no language that is known', { TZ: 'No/Where', LC_ALL: 'xx_XX.UTF-8' }],
  ])('work: %s', async (_name, env) => {
    const { work, store } = folders()
    expect(await runHeadless([...read, '--cwd', work, '--storage', store], { env })).toMatchObject({ code: 0, stderr: '', lines: [{ isError: false }] })
  })

  it.runIf(process.platform !== 'win32')('without a home folder nothing of the person is looked for in the project', async () => {
    const { work, store } = folders()
    expect(await runHeadless([...read, '--cwd', work, '--storage', store], { cwd: work, env: { HOME: '' } })).toMatchObject({ code: 0 })
    expect(readdirSync(work)).toEqual(['a.txt'])
    const { homedir } = userInfo()
    for (const named of ['', 'some/where']) expect(homeFolderWith(named)).toBe(homedir)
  })

  it.runIf(process.platform !== 'win32')('started in a folder that is gone, it works in another one, and says so where none is named', async () => {
    const { work, store } = folders()
    const inGone = (...args: readonly string[]) =>
      spawnSync('/bin/sh', ['-c', 'mkdir "$1" && cd "$1" && rmdir "$1" && shift && exec "$@"', 'sh', join(work, 'gone'), process.execPath, headlessBundle, ...args], { encoding: 'utf8', env: { PATH: process.env['PATH'], HOME: process.env['HOME'] } })
    expect(JSON.parse(inGone(...read, '--cwd', work, '--storage', store).stdout)).toMatchObject({ isError: false })
    expect(inGone(...read, '--storage', store)).toMatchObject({ status: 2, stderr: expect.stringMatching(/^The folder that this was started in is gone/) as string })
  })
})

/** What counts as the home folder where the environment says this. */
function homeFolderWith(named: string): string {
  vi.stubEnv('HOME', named)
  try {
    return homeFolder()
  } finally {
    vi.unstubAllEnvs()
  }
}

describe('commands', () => {
  const tool = async (...more: readonly string[]) => {
    const { paths, root, remove } = createFolders('work', 'store')
    const [work = root, store = root] = paths
    mkdirSync(work)
    const { lines } = await runHeadless(['tool', 'bash', JSON.stringify({ command: 'echo hello', description: 'Greet' }), '--cwd', work, '--storage', store, '--permissions', 'allow', ...more])
    remove()
    return lines[0] as { readonly value?: { readonly stdout?: string; readonly sandbox?: unknown }; readonly error?: { readonly info: { readonly code: string } } }
  }
  it('are confined only when the one who starts the program says so', async () => {
    expect(await tool()).toMatchObject({ isError: false, value: expect.not.objectContaining({ sandbox: expect.anything() as unknown }) as unknown })
    const { value, error } = await tool('--sandbox', 'require')
    // Where no sandbox runs, nothing does.
    if (error) expect(error.info.code).toBe('SANDBOX_UNAVAILABLE')
    else expect(value?.sandbox).toMatchObject({ mode: 'workspace-write', denied: false })
  })
})
