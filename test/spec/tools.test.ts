import { execFileSync } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Agent } from '../../extension/core/session/agent.ts'
import type { ToolResult } from '../../extension/core/tools/definition.ts'
import { outcomeOf, textOf } from '../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../support/whole-application.ts'

/* What a tool's result becomes on its way through the whole application as it is shipped. */

let application: WholeApplication
let agent: Agent
let calls = 0
beforeAll(async () => {
  application = await wholeApplication()
  agent = await application.ctx.agents.create({ cwd: application.folder })
  application.ctx.permissions.select(agent.id, 'danger-full-access')
})
afterAll(() => application.dispose())

const run = (name: string, args: object, options: { readonly parent?: { readonly id: string } } = {}): Promise<ToolResult> =>
  application.ctx.tools.execute({ callId: `call-${(calls += 1)}`, name, arguments: args, agent, signal: new AbortController().signal, ...options })
const bash = (command: string, options?: Parameters<typeof run>[2]) => run('bash', { command, description: 'test' }, options)
const bytesOf = (text: string) => Buffer.byteLength(text)
const pathIn = (text: string) => /All of this result is in (.+?): use read/.exec(text)?.[1] ?? ''

describe('a result', () => {
  it('of exactly 50 000 bytes stays whole', async () => expect(textOf(await bash('head -c 50000 /dev/zero | tr "\\0" x'))).toBe('x'.repeat(50_000)))
  it('of one byte more is saved whole, shown within 50 000 bytes, and its value is as it was', async () => {
    const result = await bash('head -c 50001 /dev/zero | tr "\\0" x')
    const text = textOf(result)
    expect(bytesOf(text)).toBeLessThanOrEqual(50_000)
    expect(await readFile(pathIn(text), 'utf8')).toBe('x'.repeat(50_001))
    expect(outcomeOf(result)).toMatchObject({ stdout: { text: 'x'.repeat(50_001), truncated: false } })
  })
  it('is never cut inside a character', async () => {
    const text = textOf(await bash("printf '😀%.0s' $(seq 1 15000)"))
    expect(text).toMatch(/^(😀)+\n\[…\]\n(😀)+\n\n\[/u)
    expect(text.isWellFormed()).toBe(true)
    expect(bytesOf(text)).toBeLessThanOrEqual(50_000)
  })
  it('that was saved can be read and searched on', async () => {
    const path = pathIn(textOf(await bash('seq 1 11000')))
    expect(textOf(await run('read', { file_path: path, offset: 9_999, limit: 1 }))).toContain('\n9999: 9999\n')
    expect(textOf(await run('grep', { pattern: '^10345$', path }))).toContain('Line 10345: 10345')
  })
  it('too long, with a known shape of a secret in it, is cut and saved without that', async () => {
    const text = textOf(await bash("head -c 60000 /dev/zero | tr '\\0' x; echo; printf 'ghp_%s\\n' aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3aB3"))
    expect(bytesOf(text)).toBeLessThanOrEqual(50_000)
    expect(text).toContain('\n[GitHub token left out]\n')
    expect((await readFile(pathIn(text), 'utf8')).replaceAll('x', '')).toBe('\n[GitHub token left out]\n')
  })
  it('of a program in Code Mode stays whole', async () => {
    const result = await bash('head -c 60000 /dev/zero | tr "\\0" x', { parent: { id: 'program' } })
    expect(textOf(result)).toBe('x'.repeat(60_000))
  })
  it('of read stays whole', async () => {
    await writeFile(join(application.folder, 'wide.txt'), `${'x'.repeat(99)}\n`.repeat(511))
    expect(bytesOf(textOf(await run('read', { file_path: 'wide.txt' })))).toBeGreaterThan(51_000)
  })
  it('longer than a stream’s 64 000 bytes keeps its beginning, its end, its exit code and the way to all of it', async () => {
    const text = textOf(await bash('seq 1 20000; exit 3'))
    expect(text).toMatch(/^1\n2\n/)
    expect(text).toMatch(/\n19999\n20000\n\[stdout had 108894 bytes; the middle is left out\. All of it: (.+)\]\n\[exit code: 3\]\n\n\[/)
    const [, log = ''] = /All of it: (.+)\]\n\[exit/.exec(text) ?? []
    expect((await readFile(log, 'utf8')).startsWith('1\n2\n')).toBe(true)
  })
})

describe('a command', () => {
  it('whose last line looks like an exit marker has the card of its real end', async () => {
    const result = await bash("echo; echo '[exit code: 1]'")
    const card = application.ctx.tools.get('bash')?.presentResult?.({ command: 'x', description: 'x' }, result)
    expect(card).toMatchObject({ card: 'terminal', exitCode: 0 })
  })
  it('that leaves a grandchild at its output returns within the grace, says that it still runs, and has nothing of it', async () => {
    const started = performance.now()
    expect(textOf(await bash('sleep 30 & echo started'))).toBe('started\n[programs that it started still run, and end with this session]')
    expect(performance.now() - started).toBeLessThan(10_000)
  })
})

describe('a file of 100 MB', () => {
  it('is read by lines and searched; edit and write refuse it and change nothing', async () => {
    const path = join(application.folder, 'big.txt')
    execFileSync('bash', ['-c', 'yes "a line of text that is about fifty bytes long, yes" | head -c 104857600 > "$1"', 'bash', path])
    const before = await stat(path)
    expect(textOf(await run('read', { file_path: 'big.txt', offset: 1_900_000, limit: 1 }))).toContain('1900000: a line of text')
    expect(outcomeOf(await run('edit', { file_path: 'big.txt', old_string: 'a', new_string: 'b' }))).toMatchObject({ code: 'FS_TOO_LARGE' })
    expect(outcomeOf(await run('write', { file_path: 'big.txt', content: 'b' }))).toMatchObject({ code: 'FS_TOO_LARGE' })
    expect(outcomeOf(await run('grep', { pattern: 'no such thing', path: 'big.txt' }))).toMatchObject({ matches: [] })
    const after = await stat(path)
    expect([after.size, after.mtimeMs, after.ino]).toEqual([before.size, before.mtimeMs, before.ino])
  })
})
