import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createNodeMachine, type NodeMachineOptions } from '../../../../extension/platform/node/machine.ts'

describe('shells', () => {
  const check = async (options: NodeMachineOptions, files: readonly string[], expected: { bash: string | null; pwsh: string | null }) => {
    const { bash, pwsh } = await createNodeMachine({ environment: {}, exists: async (path) => files.includes(path), ...options })
    expect({ bash, pwsh }).toEqual(expected)
  }

  it('none', () => check({ platform: 'linux' }, [], { bash: null, pwsh: null }))
  it('/bin/bash goes before PATH', () =>
    check({ platform: 'linux', environment: { PATH: '/a:/b' } }, ['/bin/bash', '/a/bash', '/b/pwsh'], { bash: '/bin/bash', pwsh: '/b/pwsh' }))
  it('PATH in its order', () => check({ platform: 'darwin', environment: { PATH: '/a::/b:/c' } }, ['/b/bash', '/c/bash'], { bash: '/b/bash', pwsh: null }))
  it("the person's choice goes first, when it is there", async () => {
    await check({ platform: 'linux', bashPath: '/own/bash', pwshPath: '/own/pwsh' }, ['/bin/bash', '/own/bash', '/own/pwsh'], { bash: '/own/bash', pwsh: '/own/pwsh' })
    await check({ platform: 'linux', bashPath: '/gone' }, ['/bin/bash'], { bash: '/bin/bash', pwsh: null })
  })
  it('on Windows Git Bash, and PowerShell 7 before the old one', () => {
    const environment = { ProgramFiles: 'P', SystemRoot: 'W', Path: '"Q"' }
    const old = join('W', 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe')
    return Promise.all([
      check({ platform: 'win32', environment }, [join('P', 'Git', 'bin', 'bash.exe'), join('P', 'PowerShell', '7', 'pwsh.exe'), old], {
        bash: join('P', 'Git', 'bin', 'bash.exe'),
        pwsh: join('P', 'PowerShell', '7', 'pwsh.exe'),
      }),
      check({ platform: 'win32', environment }, [join('Q', 'pwsh.exe'), old], { bash: null, pwsh: join('Q', 'pwsh.exe') }),
      check({ platform: 'win32', environment }, [old], { bash: null, pwsh: old }),
    ])
  })
  it('are looked for on this machine', async () => {
    if (process.platform !== 'win32') expect((await createNodeMachine()).bash).toMatch(/\/bash$/)
  })
})

it('ids are fresh and digests known', async () => {
  const machine = await createNodeMachine()
  expect(machine.randomId()).toMatch(/^[0-9a-f]{32}$/)
  expect(machine.randomId()).not.toBe(machine.randomId())
  expect([machine.sha256(''), machine.sha256(Buffer.from(''))]).toEqual(Array(2).fill('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'))
})

it('a carrier gives each piece of work its own value, through all it awaits', async () => {
  const carrier = (await createNodeMachine()).createCarrier<string>()
  const work = async () => {
    await new Promise((resolve) => setImmediate(resolve))
    return carrier.current()
  }
  expect(await Promise.all([carrier.run('a', work), carrier.run('b', () => carrier.run('c', work)), work()])).toEqual(['a', 'c', undefined])
  expect(carrier.current()).toBeUndefined()
})
