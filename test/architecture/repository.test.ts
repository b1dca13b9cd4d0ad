import { execFileSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from '../../scripts/root.ts'

const git = (...args: readonly string[]) => execFileSync('git', [...args], { cwd: root, encoding: 'utf8' })

describe('committed files', () => {
  // The clone this test runs in and the one it may be a work tree of.
  const ownFolders = [root, dirname(resolve(root, git('rev-parse', '--git-common-dir').trim()))]
  const files = git('ls-files', '-z').split('\0').filter((path) => path !== '' && isReadable(join(root, path)))

  it('are there', () => expect(files).toContain('package.json'))
  it('name no package registry and no folder of the machine they were written on', () =>
    expect(files.flatMap((path) => contentProblems(path, readFileSync(join(root, path), 'utf8'), ownFolders))).toEqual([]))
})

describe('the check of committed files', () => {
  const check = (path: string, text: string, problems: readonly string[]) =>
    expect(contentProblems(path, text, ['/where/it/was/written'])).toEqual(problems)

  it('lets ordinary text pass', () => check('README.md', 'Install from the registry at https://example.com', []))
  it('finds a registry host', () => check('.npmrc', 'a=1\nregistry=https://' + 'registry' + '.example.org/', ['.npmrc:2 names a package registry host']))
  it('finds a download address in the lock file', () =>
    check('package-lock.json', '{\n"resolved": "https://example.org/a.tgz"', ['package-lock.json:2 records a download address']))
  it('finds the folder of this clone', () =>
    check('scripts/a.ts', "cd('/where/it/was/written/dist')", ['scripts/a.ts:1 names a folder of the machine it was written on']))
})

// The pattern must not match its own line.
const registryHost = /\bregistry\.[\w-]+\.\w+|\bnpm[j]s\.(org|com)|\bdeb\.debia[n]\.org|\bpyp[i]\.org/

function contentProblems(path: string, text: string, ownFolders: readonly string[]): readonly string[] {
  return text.split('\n').flatMap((line, index) => {
    const at = `${path}:${index + 1}`
    if (registryHost.test(line)) return [`${at} names a package registry host`]
    if (path === 'package-lock.json' && /"resolved": "(https?|file|git)/.test(line)) return [`${at} records a download address`]
    if (ownFolders.some((folder) => line.includes(folder))) return [`${at} names a folder of the machine it was written on`]
    return []
  })
}

/** Links and files deleted in the work tree are left out. */
function isReadable(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
