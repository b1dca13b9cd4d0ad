import { expect, it } from 'vitest'
import { runWithSecondTry, type TestOutcome } from '../../../scripts/second-try.ts'

/** A file's tests in one run: `+` passed, `-` failed, `~` skipped before the name. */
type Run = readonly string[]

const outcomes = { '+': 'passed', '-': 'failed', '~': 'skipped' } as const

/** Each file with its runs, one after the other; those whose name begins with `alone` make a group that runs one by one. */
async function check(files: Readonly<Record<string, readonly Run[]>>, total: string, { hasSecondTry = true, ran = [] as readonly string[] } = {}) {
  const started: string[] = []
  const runs = new Map(Object.entries(files).map(([file, each]) => [file, [...each]]))
  const names = [...runs.keys()]
  const isAlone = (file: string) => file.startsWith('/t/alone')
  const { passed, failed, skipped, passedOnSecondTry } = await runWithSecondTry({
    groups: [
      { files: names.filter(isAlone), atOnce: 1 },
      { files: names.filter((file) => !isAlone(file)), atOnce: 2 },
    ],
    hasSecondTry,
    runFiles: async (group, atOnce) => {
      started.push(`${group.join(' ')} by ${atOnce}`)
      return group.flatMap((file) => (runs.get(file)?.shift() ?? []).map((mark): TestOutcome => ({ file, name: mark.slice(1), outcome: outcomes[mark[0] as keyof typeof outcomes] })))
    },
  })
  expect([`${passed} ${failed} ${skipped}`, ...passedOnSecondTry].join('; ')).toBe(total)
  if (ran.length > 0) expect(started).toEqual(ran)
}

it('counts what passes at once, and runs nothing twice', () =>
  check({ '/t/a.ts': [['+one', '~two']], '/t/alone.ts': [['+three']] }, '2 0 1', { ran: ['/t/alone.ts by 1', '/t/a.ts by 2'] }))
it('counts and names what passes on the second try, alone', () =>
  check({ '/t/a.ts': [['+one', '-two'], ['+one', '+two']], '/t/b.ts': [['+three']] }, '3 0 0; a.ts: two', { ran: ['/t/a.ts /t/b.ts by 2', '/t/a.ts by 1'] }))
it('counts what fails twice as failed', () => check({ '/t/a.ts': [['+one', '-two', '-three'], ['+one', '-two', '+three']] }, '2 1 0; a.ts: three'))
it('does not undo what passed at first', () => check({ '/t/a.ts': [['+one', '-two'], ['-one', '+two']] }, '2 0 0; a.ts: two'))
it('counts what does not run again as failed', () => check({ '/t/a.ts': [['+one', '-two'], []] }, '1 1 0'))
it('counts what is skipped on the second try as failed', () => check({ '/t/a.ts': [['-two'], ['~two']] }, '0 1 0'))
it('takes a file that did not load as it is on the second try', () => check({ '/t/a.ts': [['-/t/a.ts'], ['+one', '~two']] }, '1 0 1; a.ts'))
it('counts a file that loads on neither try once', () => check({ '/t/a.ts': [['-/t/a.ts'], ['-/t/a.ts']] }, '0 1 0'))
it('counts a file that was ended and then tells nothing as failed', () => check({ '/t/a.ts': [['+one', '-/t/a.ts'], []] }, '0 1 0'))
it('counts what fails at first where there is no second try', () => check({ '/t/a.ts': [['+one', '-two'], ['+one', '+two']] }, '1 1 0', { hasSecondTry: false, ran: ['/t/a.ts by 2'] }))
it('does not try again where many files fail', () =>
  check(Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`/t/${name}.ts`, [['-one'], ['+one']]])), '0 5 0'))
