import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findDesktopEditor } from '../../../scripts/desktop-editor.ts'

describe.skipIf(process.platform === 'win32')('the desktop editor', () => {
  let folder: string
  beforeEach(async () => void (folder = await realpath(await mkdtemp(join(tmpdir(), 'bosun-desktop-')))))
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const check = async (files: readonly string[], asked: string, found: string | undefined) => {
    for (const file of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true })
      await writeFile(join(folder, file), '')
    }
    const editor = findDesktopEditor(join(folder, asked))
    expect(editor === undefined ? undefined : relative(folder, editor)).toBe(found)
  }

  it('is the executable behind the launcher on Linux', () => check(['code/bin/code', 'code/code'], 'code/bin/code', 'code/code'))
  it('is the executable behind the launcher on macOS', () =>
    check(['Contents/Resources/app/bin/code', 'Contents/MacOS/Electron'], 'Contents/Resources/app/bin/code', 'Contents/MacOS/Electron'))
  it('is the executable itself when that is named', () => check(['code/code'], 'code/code', 'code/code'))
  it('is the launcher when nothing is behind it', () => check(['usr/bin/code'], 'usr/bin/code', 'usr/bin/code'))
  it('is none when there is no such file', () => check([], 'code', undefined))
  it('is found through a link', async () => {
    await check(['share/code/bin/code', 'share/code/code'], 'share/code/bin/code', 'share/code/code')
    await symlink(join(folder, 'share/code/bin/code'), join(folder, 'code'))
    await check([], 'code', 'share/code/code')
  })
})
