import { describe, expect, it } from 'vitest'
import { MAX_PROBLEMS, ProblemLines } from '../../../../extension/features/jobs/problem-lines.ts'
import type { JobProblem } from '../../../../extension/features/jobs/service.ts'

const read = (...lines: string[]) => {
  const parser = new ProblemLines()
  for (const line of lines) parser.push(line)
  return parser.problems
}

describe('a line that names a problem', () => {
  const rows: readonly [string, string, Partial<JobProblem> | null][] = [
    ['tsc', "src/a.ts(3,7): error TS2322: Type 'string' is not assignable.", { path: 'src/a.ts', line: 3, column: 7, severity: 'error', code: 'TS2322', message: "Type 'string' is not assignable.", source: 'tsc' }],
    ['tsc with --pretty', 'src/a.ts:3:7 - error TS2322: No.', { path: 'src/a.ts', line: 3, column: 7, severity: 'error', code: 'TS2322', message: 'No.', source: 'tsc' }],
    ['tsc for a folder with brackets', 'app/(group)/a.tsx(3,7): error TS1: No.', { path: 'app/(group)/a.tsx', line: 3, column: 7, severity: 'error', code: 'TS1', message: 'No.', source: 'tsc' }],
    ['gcc', 'main.c:10:5: error: expected ‘;’ before ‘}’', { path: 'main.c', line: 10, column: 5, severity: 'error', message: 'expected ‘;’ before ‘}’', source: 'gcc' }],
    ['gcc with a flag', 'main.c:10:5: warning: unused variable ‘x’ [-Wunused-variable]', { path: 'main.c', line: 10, column: 5, severity: 'warning', message: 'unused variable ‘x’', code: 'unused-variable', source: 'gcc' }],
    ['gcc that gives up', 'main.c:1:10: fatal error: nope.h: No such file', { path: 'main.c', line: 1, column: 10, severity: 'error', message: 'nope.h: No such file', source: 'gcc' }],
    ['a note', 'main.c:4:1: note: declared here', { path: 'main.c', line: 4, column: 1, severity: 'info', message: 'declared here', source: 'gcc' }],
    ['a path of Windows', 'C:\\src\\main.c:10:5: error: no', { path: 'C:\\src\\main.c', line: 10, column: 5, severity: 'error', message: 'no', source: 'gcc' }],
    ['go', './main.go:12:2: undefined: foo', { path: './main.go', line: 12, column: 2, severity: 'error', message: 'undefined: foo', source: 'output' }],
    ['a file and a line alone', 'setup.cfg:4: bad option', { path: 'setup.cfg', line: 4, severity: 'error', message: 'bad option', source: 'output' }],
    ['a place with its severity', 'a.py:4:1: warning: W291 trailing', { path: 'a.py', line: 4, column: 1, severity: 'warning', message: 'W291 trailing', source: 'gcc' }],
    ['an address', 'Local: http://localhost:3000/', null],
    ['a time', '12:30:45: something happened', null],
    ['a log line', '2026-01-01 12:30:45 error: something', null],
    ['a place without words', 'a.ts:3:4:', null],
    ['a frame of a stack', '    at run (/app/a.js:3:4)', null],
    ['something far too long', `a.ts:3:4: ${'x'.repeat(2_000)}`, null],
    ['blanks without end', `a.ts:3:4: error: ${' '.repeat(900)}x`, { path: 'a.ts', line: 3, column: 4, severity: 'error', message: 'x', source: 'gcc' }],
  ]
  it.each(rows)('of %s', (_name, line, problem) => expect(read(line)).toEqual(problem === null ? [] : [problem]))
})

it('takes the problems of eslint from under the name of their file', () => {
  const problems = read('', '/app/src/a.ts', '  1:10  error    Unexpected any. Use unknown  @typescript-eslint/no-explicit-any', '  2:1   warning  Missing semicolon', '', '  9:9   error  belongs to nobody  x', '✖ 2 problems (1 error, 1 warning)')
  expect(problems).toEqual([
    { path: '/app/src/a.ts', line: 1, column: 10, severity: 'error', message: 'Unexpected any. Use unknown', code: '@typescript-eslint/no-explicit-any', source: 'eslint' },
    { path: '/app/src/a.ts', line: 2, column: 1, severity: 'warning', message: 'Missing semicolon', source: 'eslint' },
  ])
})

describe('a program that watches', () => {
  const start = '[10:00:00] File change detected. Starting incremental compilation...'
  const found = (count: number) => `[10:00:01] Found ${count} errors. Watching for file changes.`
  const at = (line: number) => `a.ts(${line},1): error TS1: no`
  const linesOf = (problems: readonly JobProblem[]) => problems.map(({ line }) => line)

  it('keeps the problems of a round until the next one has its own, or ends without', () => {
    const parser = new ProblemLines()
    const push = (...lines: string[]) => lines.map((line) => parser.push(line))
    expect([push('Starting compilation in watch mode...', at(1), at(2), found(2)), linesOf(parser.problems)]).toEqual([[false, true, true, false], [1, 2]])
    expect([push(start), linesOf(parser.problems)]).toEqual([[false], [1, 2]])
    expect([push(at(2), found(1)), linesOf(parser.problems)]).toEqual([[true, false], [2]])
    expect([push(start, found(0)), linesOf(parser.problems)]).toEqual([[false, true], []])
  })
  it('tells nothing new of a problem that is named twice', () => {
    const parser = new ProblemLines()
    expect([parser.push(at(1)), parser.push(at(1)), linesOf(parser.problems)]).toEqual([true, false, [1]])
  })
})

it('keeps at most 1 000 problems', () => {
  const parser = new ProblemLines()
  for (let line = 1; line <= MAX_PROBLEMS + 5; line += 1) parser.push(`a.c:${line}:1: error: no`)
  expect(parser.problems).toHaveLength(MAX_PROBLEMS)
})
