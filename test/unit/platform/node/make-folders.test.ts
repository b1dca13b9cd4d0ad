import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { makeFolders } from '../../../../extension/platform/node/make-folders.ts'

const root = mkdtempSync(join(tmpdir(), 'bosun-folders-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const codeOf = (path: string) => makeFolders(path).then(() => 'made', (error: unknown) => (error as NodeJS.ErrnoException).code)

describe('folders', () => {
  it('are made with those above them, once, and the topmost new one is named', async () => {
    const deep = join(root, 'a/b/c')
    expect([await makeFolders(deep, 0o700), await makeFolders(deep), statSync(deep).mode & 0o777]).toEqual([join(root, 'a'), undefined, 0o700])
  })
  it('may be made by two at once', async () => {
    const both = await Promise.all([makeFolders(join(root, 'x/y')), makeFolders(join(root, 'x/z'))])
    expect([both.length, statSync(join(root, 'x/y')).isDirectory(), statSync(join(root, 'x/z')).isDirectory()]).toEqual([2, true, true])
  })
  it('are not made where a file stands', async () => {
    writeFileSync(join(root, 'file'), '')
    expect([await codeOf(join(root, 'file')), await codeOf(join(root, 'file/below'))]).toEqual(['EEXIST', 'ENOTDIR'])
  })
  it.runIf(process.platform === 'linux')('below a folder that takes none fail and do not try for ever', async () => expect([await codeOf('/proc/none'), await codeOf('/proc/none/below')]).toEqual(['ENOENT', 'ENOENT']))
})
