import type { JobProblem } from './service.ts'

/** Of one job at a time; more are counted by nobody. */
export const MAX_PROBLEMS = 1_000
const MAX_MESSAGE_CHARS = 500
/** A longer line is no message for people. */
const MAX_PROBLEM_LINE_CHARS = 1_000

/** A line that opens or closes a round of a program that watches files. Source: output of `tsc --watch`, webpack, vite, esbuild and rollup. */
const roundStart = /File change detected\. Starting incremental compilation|Starting compilation in watch mode|^\s*(?:webpack\b.*\bcompiling|\[watch\] build started|rollup .*watch|change detected, rebuilding|build started\.\.\.)/i
const roundEnd = /Found \d+ errors?\. Watching for file changes|^\s*(?:webpack\b.*\bcompiled\b|\[watch\] build finished|created .* in [\d.]+m?s|built in [\d.]+m?s)/i

/**
 * Reads the output of compilers and linters line by line and keeps the problems it names.
 *
 * A new round of a watching program replaces the problems of the round before it when it ends, or with its first problem, so that
 * they do not vanish while it works.
 */
export class ProblemLines {
  #problems: readonly JobProblem[] = []
  readonly #seen = new Set<string>()
  /** The next problem, or the end of the round, begins the list anew. */
  #isRoundOpen = false
  /** The heading of a block whose lines name places inside one file. */
  #file: string | null = null

  get problems(): readonly JobProblem[] {
    return this.#problems
  }

  /** True when the problems are others now. */
  push(line: string): boolean {
    if (line.length > MAX_PROBLEM_LINE_CHARS) return false
    if (roundStart.test(line)) {
      this.#isRoundOpen = true
      this.#file = null
      return false
    }
    if (roundEnd.test(line)) {
      const changes = this.#isRoundOpen && this.#problems.length > 0
      if (this.#isRoundOpen) this.#clear()
      return changes
    }
    const found = this.#problemOf(line)
    if (found === null) return false
    if (this.#isRoundOpen) this.#clear()
    return this.#add(found)
  }

  #problemOf(line: string): JobProblem | null {
    const whole = wholeLine(line)
    if (whole !== null) {
      this.#file = null
      return whole
    }
    const inside = this.#file === null ? null : stylish(this.#file, line)
    if (inside !== null) return inside
    // A path alone on its line heads the block of a file; an empty line ends it.
    if (/^\S.*\.\w{1,8}$/.test(line) && /[\\/.]/.test(line) && !/[:;"'`<>|]\s|\s{2}/.test(line)) this.#file = line
    else if (line.trim() === '') this.#file = null
    return null
  }

  #add(problem: JobProblem): boolean {
    const key = JSON.stringify([problem.path, problem.line, problem.column ?? null, problem.message])
    if (this.#seen.has(key) || this.#problems.length >= MAX_PROBLEMS) return false
    this.#seen.add(key)
    this.#problems = [...this.#problems, problem]
    return true
  }

  #clear(): void {
    this.#isRoundOpen = false
    this.#problems = []
    this.#seen.clear()
  }
}

const tscParentheses = /^(\S.*?)\((\d{1,7}),(\d{1,7})\):\s+(error|warning|info)\s+(TS\d+):\s+(.*)$/
const tscPretty = /^(\S.*?):(\d{1,7}):(\d{1,7}) - (error|warning|info)\s+(TS\d+):\s+(.*)$/
const gcc = /^((?:[a-z]:)?[^\s:][^:]*):(\d{1,7}):(?:(\d{1,7}):)?\s+(fatal error|error|warning|note):\s+(.*?)(?:\s+\[-W([^\]]+)\])?$/i
/** A path with an ending and no blanks, so that times, addresses and log lines do not count. */
const bare = /^((?:[a-z]:)?[^\s:]*\.[a-z]\w{0,7}):(\d{1,7})(?::(\d{1,7}))?:\s+(?:(error|warning|info)\b:?\s*)?(.+)$/i
const stylishLine = /^\s+(\d{1,7}):(\d{1,7})\s+(error|warning|info)\s+(.*?)(?:\s{2,}(\S+))?$/

function wholeLine(line: string): JobProblem | null {
  // Every form names a line number; most lines of output have none.
  if (!/[:(]\d/.test(line)) return null
  const tsc = tscParentheses.exec(line) ?? tscPretty.exec(line)
  if (tsc !== null) return problem('tsc', { path: tsc[1], line: tsc[2], column: tsc[3], severity: tsc[4], code: tsc[5], message: tsc[6] })
  const compiled = gcc.exec(line)
  if (compiled !== null) return problem('gcc', { path: compiled[1], line: compiled[2], column: compiled[3], severity: compiled[4], message: compiled[5], code: compiled[6] })
  const plain = bare.exec(line)
  if (plain !== null) return problem('output', { path: plain[1], line: plain[2], column: plain[3], severity: plain[4] ?? 'error', message: plain[5] })
  return null
}

function stylish(file: string, line: string): JobProblem | null {
  const found = stylishLine.exec(line)
  return found && problem('eslint', { path: file, line: found[1], column: found[2], severity: found[3], message: found[4], code: found[5] })
}

type Facts = { readonly path: string | undefined; readonly line: string | undefined; readonly column?: string | undefined; readonly severity: string | undefined; readonly message: string | undefined; readonly code?: string | undefined }

function problem(source: string, { path = '', line, column, severity = '', message = '', code }: Facts): JobProblem {
  const word = severity.toLowerCase()
  return {
    path,
    line: Math.max(1, Number(line)),
    ...(column !== undefined && { column: Math.max(1, Number(column)) }),
    severity: word === 'warning' ? 'warning' : word === 'note' || word === 'info' ? 'info' : 'error',
    message: message.trim().slice(0, MAX_MESSAGE_CHARS).toWellFormed(),
    ...(code !== undefined && { code }),
    source,
  }
}
