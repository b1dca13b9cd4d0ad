import type { Sandbox, SandboxLimits, SandboxVerdict } from '../../extension/capabilities/sandbox.ts'

export interface FakeSandbox extends Sandbox {
  /** How often a runner was looked for. */
  looks: number
  /** What each wrapped program was held to, oldest first. */
  readonly wraps: SandboxLimits[]
}

/**
 * A provider that confines by agreement: a program sees in `SANDBOX` where it may write (`none`, or folders with `:` between), and is
 * denied when it fails with "sandbox says no" among its errors. One that starts with `runner-fails` never runs.
 */
export function createFakeSandbox({ problem }: { readonly problem?: string } = {}): FakeSandbox {
  const wraps: SandboxLimits[] = []
  const verdict: SandboxVerdict =
    problem !== undefined
      ? { runner: null, problem }
      : {
          runner: {
            name: 'fake',
            wrap: async (program, limits) => {
              wraps.push(limits)
              const failing = program.args.some((argument) => argument.startsWith('runner-fails'))
              const env = { ...program.env, SANDBOX: limits.writable.join(':') || 'none' }
              return failing ? { ...program, env, args: ['-c', 'echo "fake: cannot start" >&2; exit 1'] } : { ...program, env }
            },
            read: ({ exitCode, signal, stderr }) => ({
              exitCode,
              signal,
              isDenied: exitCode !== 0 && signal === null && stderr.includes('sandbox says no'),
              hasRunnerFailed: exitCode === 1 && stderr.startsWith('fake: '),
            }),
          },
        }
  const fake: FakeSandbox = {
    looks: 0,
    wraps,
    find: async () => {
      fake.looks += 1
      return verdict
    },
  }
  return fake
}
