import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRipgrepFinder, type RipgrepPlaces } from '../../../../extension/platform/node/find-ripgrep.ts'

const program = process.platform === 'win32' ? 'rg.exe' : 'rg'
let root: string
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'find-rg-')))
})
afterEach(() => rm(root, { recursive: true }))

const put = async (place: string) => {
  const path = join(root, place, program)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, '')
  await chmod(path, 0o755)
  return path
}
const at = (place: string) => join(root, place, program)
const finder = (places: Partial<RipgrepPlaces> = {}) =>
  createRipgrepFinder({
    configured: () => null,
    packaged: () => Promise.resolve(at('packaged')),
    editors: () => Promise.resolve(at('editor')),
    searchPath: () => ['relative', `"${join(root, 'path')}"`].join(delimiter),
    ...places,
  })

describe('ripgrep', () => {
  it('is what the setting says, else the packaged one, else the editor’s own, else the one on PATH', async () => {
    const seen: string[] = []
    for (const place of ['path', 'editor', 'packaged', 'set']) {
      await put(place)
      seen.push(await finder(place === 'set' ? { configured: () => at('set') } : {})())
    }
    expect(seen).toEqual([at('path'), at('editor'), at('packaged'), at('set')])
  })
  it('is the next one where a package has none for this machine, or the editor ships none', async () => {
    await put('path')
    expect(await finder({ packaged: () => Promise.reject(new Error('Could not find @vscode/ripgrep-x')), editors: () => Promise.resolve(null) })()).toBe(at('path'))
  })
  it('follows the setting when it changes', async () => {
    await put('packaged')
    await put('set')
    let configured: string | null = null
    const find = finder({ configured: () => configured })
    expect(await find()).toBe(at('packaged'))
    configured = at('set')
    expect(await find()).toBe(at('set'))
  })
  it('that the setting names and that cannot be run is a failure, not another program', async () => {
    await put('packaged')
    for (const wrong of [at('gone'), root]) {
      await expect(finder({ configured: () => wrong })()).rejects.toMatchObject({ code: 'SEARCH_FAILED', message: expect.stringContaining(`bosun.search.ripgrepPath names ${wrong}`) as unknown })
    }
  })
  it('that is nowhere is a failure that says what to do, until it is installed', async () => {
    const find = finder()
    await expect(find()).rejects.toMatchObject({ code: 'SEARCH_FAILED', message: expect.stringContaining('install it') as unknown })
    await put('path')
    expect(await find()).toBe(at('path'))
  })
  it('is not a file of that name that may not be run', async () => {
    if (process.platform === 'win32') return
    await chmod(await put('packaged'), 0o644)
    await put('editor')
    expect(await finder()()).toBe(at('editor'))
  })
  it('is the packaged one here', async () => expect(await createRipgrepFinder({ configured: () => null })()).toContain('@vscode/ripgrep'))
})
