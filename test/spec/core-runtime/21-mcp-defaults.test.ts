import { expect, it } from 'vitest'
import type { ProcessExit, ProcessSpec, RunningProcess } from '../../../extension/capabilities/process.ts'
import { settings } from '../../../extension/core/settings/specs.ts'
import { parseServers } from '../../../extension/features/mcp/server-config.ts'
import { ProcessTransport } from '../../../extension/platform/node/mcp/process-transport.ts'

/* Chapter 21: what holds for a server whose entry does not say. */

const only = (entry: unknown) => parseServers({ demo: entry }).servers[0]

it('a program has nothing of its own, a minute for a call, and ten attempts after pauses of half a second to half a minute', () => {
  expect(only({ command: 'x' })).toEqual({
    name: 'demo',
    target: { kind: 'stdio', command: 'x', args: [], env: {}, cwd: null },
    toolCallTimeoutMs: null,
    reconnect: { enabled: true, initialMs: 500, maxMs: 30_000, attempts: 10 },
    isNeeded: false,
    isDisabled: false,
  })
  expect(settings.mcpToolCallTimeoutMs.fallback).toBe(60_000)
})
it.each([
  [{ url: 'https://example.com/mcp' }, 'http'],
  [{ type: 'http', url: 'https://example.com/mcp' }, 'http'],
  [{ type: 'streamable-http', url: 'https://example.com/mcp' }, 'http'],
  [{ type: 'sse', url: 'https://example.com/mcp' }, 'sse'],
] as const)('an address is reached as it says: %j', (entry, kind) => expect(only(entry)?.target).toEqual({ kind, url: 'https://example.com/mcp', headers: {} }))
it.each(['a', 'A-b_9', 'a__b', 'a_', '_', 'x'.repeat(32), 'GitHub Copilot', 'microsoft/playwright-mcp', 'io.github.foo/bar', 'ä', 'x'.repeat(200)])('may be called %s', (name) => expect(parseServers({ [name]: { command: 'x' } }).servers.map((server) => server.name)).toEqual([name]))
it.each(['', ' ', 'x'.repeat(201)])('may not be called “%s”', (name) => expect(parseServers({ [name]: { command: 'x' } })).toMatchObject({ servers: [], skipped: [{ reason: 'A name has 1 to 200 characters. Rename it.' }] }))

it('a program that is told to go has five seconds before its whole tree is ended', async () => {
  const started: Pick<ProcessSpec, 'graceMs'>[] = []
  const transport = new ProcessTransport(
    { kind: 'stdio', command: 'x', args: [], env: {}, cwd: '/' },
    { processes: { start: (spec) => (started.push(spec), Promise.reject(new Error('There is none.'))) }, clock: { schedule: () => () => {} }, onLog: () => {} },
  )
  await expect(transport.start()).rejects.toThrow('x could not be started: There is none.')
  expect(started).toMatchObject([{ graceMs: 5_000 }])
})

it('one that reads nothing any more, so that not even the end of its input reaches it, is ended all the same', async () => {
  const exit = Promise.withResolvers<ProcessExit>()
  const running = {
    exit: exit.promise,
    endInput: () => new Promise<void>(() => {}),
    terminate: () => (exit.resolve({ exitCode: null, signal: 'SIGKILL', wasTerminated: true, durationMs: 1 }), Promise.resolve()),
  } satisfies Partial<RunningProcess>
  const transport = new ProcessTransport(
    { kind: 'stdio', command: 'x', args: [], env: {}, cwd: '/' },
    { processes: { start: () => Promise.resolve(running as unknown as RunningProcess) }, clock: { schedule: (_delayMs, fire) => (fire(), () => {}) }, onLog: () => {} },
  )
  await transport.start()
  await transport.close()
  expect((await exit.promise).wasTerminated).toBe(true)
})
