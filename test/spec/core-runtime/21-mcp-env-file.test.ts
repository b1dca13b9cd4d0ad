import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { envFileVariables } from '../../../extension/features/mcp/fill-variables.ts'
import { mcpRig, programServer, textOf, type McpRig } from '../../support/mcp-rig.ts'

/* Chapter 21, "VS Code mapping": an entry of the editor's own `mcp.json` may name a file of variables. */

let folder: string
let rig: McpRig | undefined
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bosun-env-file-'))
})
afterEach(async () => {
  await rig?.dispose()
  await rm(folder, { recursive: true })
})

describe('an envFile', { timeout: 60_000 }, () => {
  it('gives the program its variables, and what the entry says itself goes before', async () => {
    await writeFile(join(folder, 'dev.env'), 'FROM_FILE=file\nMY_TOKEN="from the file"\n')
    rig = await mcpRig({ demo: { ...programServer('ok'), cwd: folder, envFile: join(folder, 'dev.env'), env: { MY_TOKEN: 'given' } } })
    await rig.until('running')
    expect(JSON.parse(textOf(await rig.call('env')))).toMatchObject({ FROM_FILE: 'file', MY_TOKEN: 'given' })
    expect(rig.server().given).toEqual(['MY_TOKEN=••••', `envFile: ${join(folder, 'dev.env')}`, `cwd: ${folder}`])
  })
  it('that is not there ends the start with its reason', async () => {
    rig = await mcpRig({ demo: { ...programServer('ok'), envFile: '${userHome}/none.env' } })
    const { reason } = await rig.until('failed')
    expect(reason).toMatch(/^Its envFile cannot be read: .*none\.env/)
  })
  it('is found by its variables, which have to be known', async () => {
    rig = await mcpRig({ demo: { ...programServer('ok'), envFile: '${nowhere}/dev.env' } })
    expect((await rig.until('failed')).reason).toBe('There is no value for a variable in “${nowhere}/dev.env”.')
  })
})

it.each([
  ['A=1\nB = two words  \r\nexport C=3', { A: '1', B: 'two words', C: '3' }],
  ['# none\n\nA=1 # behind\nB="a # b" # behind\nC=', { A: '1', B: 'a # b', C: '' }],
  [`A='$x "y"'\nB="one\\ntwo \\"three\\""\nC="over\ntwo lines"`, { A: '$x "y"', B: 'one\ntwo "three"', C: 'over\ntwo lines' }],
  ['no line of this kind\n=1\nA="open\nB=2', { A: '"open', B: '2' }],
])('lines of such a file are read as the editor does: %j', (text, variables) => expect(envFileVariables(text)).toEqual(variables))
