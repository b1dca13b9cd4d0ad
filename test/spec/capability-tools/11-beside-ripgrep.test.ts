import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { rgPath } from '@vscode/ripgrep'
import { afterAll, describe, expect, it } from 'vitest'
import { createDirectRunner } from '../../../extension/platform/node/direct-runner.ts'
import { createRipgrepSearch } from '../../../extension/platform/node/ripgrep-search.ts'

/* Chapters 10 and 11: what is found is what ripgrep itself finds, on a tree that nobody made for this. */

const root = realpathSync('node_modules')
const processes = createDirectRunner()
afterAll(() => processes.dispose())
const search = createRipgrepSearch({ processes })
const { signal } = new AbortController()

const noVersionControl = ['.git', '.svn', '.hg', '.bzr', '.jj', '.sl'].map((name) => `--glob=!${name}`)
function rg(...args: readonly string[]): readonly string[] {
  try {
    return execFileSync(rgPath, ['--no-config', '--no-require-git', ...args], { encoding: 'utf8', maxBuffer: 100_000_000 }).split('\n').filter((line) => line !== '')
  } catch (error) {
    if ((error as { status?: number }).status === 1) return []
    throw error
  }
}
const scope = (includeIgnored: boolean) => [...(includeIgnored ? ['--no-ignore'] : []), ...noVersionControl]
const text = (query: object, includeIgnored: boolean) => search.text({ root, pattern: '', ignoreCase: false, multiline: false, includeIgnored, contextLines: 0, signal, ...query })

describe.each([true, false])('with what is ignored: %s', (includeIgnored) => {
  it.each<[string, object, readonly string[]]>([
    ['a word', { pattern: 'createLanguageService' }, ['createLanguageService']],
    ['an expression', { pattern: String.raw`\bfunction\s+parse[A-Z]\w*\(` }, [String.raw`\bfunction\s+parse[A-Z]\w*\(`]],
    ['without regard to case', { pattern: 'mit license', ignoreCase: true }, ['-i', 'mit license']],
    ['in files of a type', { pattern: 'interface Disposable', type: 'ts' }, ['-tts', 'interface Disposable']],
    ['the start of a line', { pattern: '^#!/usr/bin/env node' }, ['^#!/usr/bin/env node']],
    ['other than ASCII', { pattern: 'é|“' }, ['é|“']],
    ['nothing', { pattern: 'thisStandsNowhere[0-9]{40}' }, ['thisStandsNowhere[0-9]{40}']],
  ])('lines with %s', async (_name, query, args) => {
    const ours = await text(query, includeIgnored)
    const theirs = rg('--with-filename', '--line-number', '--no-heading', '--crlf', '--color=never', '--null', ...scope(includeIgnored), ...args, root)
    const places = theirs.map((line) => line.replace(/\0(\d+):.*$/s, ':$1'))
    const found = ours.matches.map(({ path, lineNumber }) => `${path}:${lineNumber}`)
    // A file in which NUL stands behind its first matches is reported by ripgrep in words as well.
    expect(found.toSorted()).toEqual(places.filter((place) => /:\d+$/.test(place)).toSorted())
    expect((await text(query, includeIgnored)).matches).toEqual(ours.matches)
  })
  it.each(['*.d.ts', 'package.json', '**/lib/*.js', '*.{md,markdown}', '[A-L]*', '.*', '**/bin/**'])('files of %s', async (glob) => {
    const { paths } = await search.files({ root, glob, includeIgnored, sort: 'path', signal })
    // A glob of ripgrep brings back what ignore files hide, so the two can only be compared in one go where nothing is hidden.
    const listed = rg('--files', '--hidden', ...scope(includeIgnored), root)
    const wanted = new Set(rg('--files', '--hidden', '--no-ignore', ...noVersionControl, `--glob=${glob}`, root))
    expect(paths).toEqual(listed.filter((path) => wanted.has(path) && !/[/](\.git|\.svn|\.hg|\.bzr|\.jj|\.sl)[/]/.test(path)).toSorted((a, b) => (a < b ? -1 : 1)))
    expect((await search.files({ root, glob, includeIgnored, sort: 'path', signal })).paths).toEqual(paths)
  })
})
