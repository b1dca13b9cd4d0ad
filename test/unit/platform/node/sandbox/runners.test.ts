import { describe, expect, it } from 'vitest'
import type { SandboxedEnd, SandboxRunner } from '../../../../../extension/capabilities/sandbox.ts'
import { bubblewrapArguments, createBubblewrap } from '../../../../../extension/platform/node/sandbox/bubblewrap.ts'
import { createSeatbelt, seatbeltProfile } from '../../../../../extension/platform/node/sandbox/seatbelt.ts'

const nothingClosed = async () => []
const bubblewrap = createBubblewrap('/usr/bin/bwrap', nothingClosed)
const seatbelt = createSeatbelt('/usr/bin/sandbox-exec', nothingClosed)
const limits = { writable: ['/w'], searched: [], secretNames: [], isSecret: () => false }
const program = { command: '/bin/bash', args: ['-c', 'ls'], cwd: '/w', env: { A: '1' } }

describe('bubblewrap', () => {
  it('mounts what is writable over the rest, secrets over that, and starts the program last', () => {
    const closed = [{ path: '/w/.env', isFolder: false }, { path: '/w/.ssh', isFolder: true }]
    expect(bubblewrapArguments(program, { writable: ['/w'], closed }).join(' ')).toBe(
      '--ro-bind / / --bind-try /w /w --unshare-pid --dev /dev --proc /proc --ro-bind /dev/null /w/.env --perms 0000 --tmpfs /w/.ssh --chdir /w -- /bin/bash -c ls',
    )
  })
  it('gives shells a place for here-documents only where nothing else is writable', async () => {
    expect([(await bubblewrap.wrap(program, limits)).env, (await bubblewrap.wrap(program, { ...limits, writable: [] })).env]).toEqual([{ A: '1' }, { A: '1', TMPDIR: '/dev/shm' }])
  })
})

describe('Seatbelt', () => {
  it('denies writing but for what is writable, then reading what is closed', () => {
    const profile = seatbeltProfile({ writable: ['/w "q"'], closed: [{ path: '/w/.env', isFolder: false }, { path: '/w/.ssh', isFolder: true }] })
    expect(profile.split('\n')).toEqual([
      '(version 1)',
      '(allow default)',
      '(deny file-write*)',
      expect.stringMatching(/^\(allow file-write\* \(literal "\/dev\/null"\).*\(subpath "\/w \\"q\\""\)\)$/),
      '(deny file-read* file-write* (literal "/w/.env"))',
      '(deny file-read* file-write* (subpath "/w/.ssh"))',
    ])
  })
  it('becomes the program, whose folder and environment stay', async () => {
    const wrapped = await seatbelt.wrap(program, limits)
    expect([wrapped.command, wrapped.args.slice(2), wrapped.cwd, wrapped.env]).toEqual(['/usr/bin/sandbox-exec', ['/bin/bash', '-c', 'ls'], '/w', { A: '1' }])
  })
})

describe('the end of a program', () => {
  const end = (over: Partial<SandboxedEnd>): SandboxedEnd => ({ exitCode: 0, signal: null, stderr: '', ...over })
  it.each<readonly [string, SandboxRunner, SandboxedEnd, object]>([
    ['bubblewrap: success', bubblewrap, end({ stderr: 'Read-only file system' }), { exitCode: 0, isDenied: false }],
    ['bubblewrap: a failing write', bubblewrap, end({ exitCode: 1, stderr: 'touch: x: Read-only file system' }), { exitCode: 1, isDenied: true }],
    ['bubblewrap: another failure', bubblewrap, end({ exitCode: 1, stderr: 'Permission denied' }), { isDenied: false }],
    ['bubblewrap: a death inside', bubblewrap, end({ exitCode: 137, stderr: 'Read-only file system' }), { exitCode: null, signal: 'SIGKILL', isDenied: false }],
    ['bubblewrap: a number that no signal has', bubblewrap, end({ exitCode: 255 }), { exitCode: 255, signal: null }],
    ['bubblewrap: ended from outside', bubblewrap, end({ exitCode: null, signal: 'SIGTERM', stderr: 'Read-only file system' }), { signal: 'SIGTERM', isDenied: false }],
    ['bubblewrap: its own failure', bubblewrap, end({ exitCode: 1, stderr: 'bwrap: Can’t mount: Read-only file system' }), { isDenied: false, hasRunnerFailed: true }],
    ['Seatbelt: a failing write', seatbelt, end({ exitCode: 1, stderr: 'touch: x: Operation not permitted' }), { isDenied: true }],
    ['Seatbelt: a death', seatbelt, end({ exitCode: null, signal: 'SIGKILL', stderr: 'Operation not permitted' }), { isDenied: false, signal: 'SIGKILL' }],
    ['Seatbelt: its own failure', seatbelt, end({ exitCode: 71, stderr: 'sandbox-exec: execvp() failed' }), { hasRunnerFailed: true, isDenied: false }],
  ])('%s', (_name, runner, facts, expected) => expect(runner.read(facts)).toMatchObject(expected))
})
