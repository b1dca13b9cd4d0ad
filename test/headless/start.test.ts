import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
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
