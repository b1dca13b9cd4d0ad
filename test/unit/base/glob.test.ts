import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { rgPath } from '@vscode/ripgrep'
import { describe, expect, it } from 'vitest'
import { compileGlob } from '../../../extension/base/glob.ts'

const matching = (glob: string, paths: readonly string[]) => {
  const compiled = compileGlob(glob)
  return 'problem' in compiled ? compiled : paths.filter(compiled.matches)
}

describe('globs', () => {
  const check = (glob: string, paths: string, matches: string) => expect(matching(glob, paths.split(' '))).toEqual(matches.split(' ').filter((path) => path !== ''))

  it('a name matches at any depth', () => check('*.ts', 'a.ts d/b.ts d/e/c.ts a.tsx .ts', 'a.ts d/b.ts d/e/c.ts .ts'))
  it('a path matches from the root', () => check('src/*.ts', 'src/a.ts x/src/a.ts src/d/a.ts', 'src/a.ts'))
  it('a leading slash holds a name to the root', () => check('/a', 'a d/a', 'a'))
  it('a leading ./ is the root', () => check('./src/*', 'src/a x/src/a', 'src/a'))
  it('** spans folders, also none', () => check('src/**/a', 'src/a src/x/a src/x/y/a a', 'src/a src/x/a src/x/y/a'))
  it('** at the start', () => check('**/t/*', 't/a x/t/a t/x/a', 't/a x/t/a'))
  it('** at the end means what is below', () => check('src/**', 'src src/a src/b/c', 'src/a src/b/c'))
  it('** alone means everything', () => check('**', 'a b/c', 'a b/c'))
  it('** within a name is *', () => check('a**b', 'ab axb ax/b', 'ab axb'))
  it('? is one character, whatever its length in memory', () => check('a?b', 'axb ab a😀b a/b', 'axb a😀b'))
  it('braces choose, nested too', () => check('{a,b{c,d}}.{ts,js}', 'a.ts bc.js bd.ts b.ts', 'a.ts bc.js bd.ts'))
  it('braces choose paths', () => check('{src,test}/**/*.ts', 'src/a.ts test/x/b.ts other/a.ts', 'src/a.ts test/x/b.ts'))
  it('an empty choice', () => check('a{,.min}.js', 'a.js a.min.js', 'a.js a.min.js'))
  it('classes, ranges and negations', () => check('[a-c0][!x][^y]', 'aaa 0aa daa axa aay', 'aaa 0aa'))
  it('a bracket and a dash in a class', () => check('[]a-]', '] a - b', '] a -'))
  it('an escaped wildcard is itself', () => check(String.raw`\*\{\[`, '*{[ x{[', '*{['))
  it('a comma outside braces is itself', () => check('a,b', 'a,b a', 'a,b'))
  it('names with a dot are nothing special', () => check('*', '.a .b/c', '.a .b/c'))
  it('a folder is not a file', () => check('src/', 'src src/a', ''))
  it('case counts', () => check('A', 'a A', 'A'))
})

describe('globs that are wrong', () => {
  it.each([
    ['[a', /"\[" has no closing/],
    ['{a,b', /"\{" has no closing/],
    ['a}', /"\}" has no opening/],
    ['a\\', /escapes nothing/],
    ['[z-a]', /"z-a" runs backwards/],
    ['!a', /cannot begin with "!"/],
    ['{0,1}'.repeat(11), /more than 1000/],
  ])('%s', (glob, problem) => expect(compileGlob(glob)).toEqual({ problem: expect.stringMatching(problem) }))
})

// Matching by trying everything would take years here, so the bound may be as loose as a busy machine needs.
it('no glob is slow', () => {
  const startedAt = performance.now()
  expect(matching('*a'.repeat(60) + 'b', ['a'.repeat(5000)])).toEqual([])
  expect(matching('**/a/'.repeat(30) + 'b', ['a/'.repeat(2000) + 'c'])).toEqual([])
  expect(performance.now() - startedAt).toBeLessThan(10_000)
})

it('finds what ripgrep finds, which takes a character beyond ASCII for several', async () => {
  const root = await mkdtemp(join(tmpdir(), 'glob-'))
  const paths = ['a.ts', 'b.js', 'ab', 'src/a.ts', 'src/b.tsx', 'src/x/a.ts', 'src/x/y/b.js', 'x/src/a.ts', '.hidden/a.ts', 'src/.a', 'x-y', 'x[y', 'e.ts', 'a,b']
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), '')
  }
  const globs = ['*.ts', '*', 'a*', '?b', 'src/*', 'src/**', '**/src/*.ts', '**/*.ts', 'src/**/*.{ts,js}', '/a.ts', '[ab].*', '[!a].ts', '{a,b}.{ts,js}', 'src/x/**', '**', '*/a.ts', 'src', 'src/', '.*', 'x[[]y', String.raw`x\[y`, '?.ts', 'a,b', '**/x/**/*.js', 's*c/a.ts', '{src,x}/**', '**/y/b.js', 'a**']
  const check = async (glob: string) => {
    const { stdout } = await promisify(execFile)(rgPath, ['--no-config', '--files', '--hidden', '--no-ignore', '--glob', glob], { cwd: root }).catch((error: { stdout: string }) => error)
    expect([glob, ...[...(matching(glob, paths) as string[])].sort()]).toEqual([glob, ...stdout.split('\n').filter((path) => path !== '').sort()])
  }
  await Promise.all(globs.map(check))
  await rm(root, { recursive: true })
})
