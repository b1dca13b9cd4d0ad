import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { parseServerFile, parseServers } from '../../extension/features/mcp/server-config.ts'

/* What the documents tell people to type, choose and write is there, by that name. */

const textOf = async (path: string) => await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')
const documents = ['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'docs/tools.md', 'docs/extension-api.md']

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { readonly title: string }[]
    readonly configuration: readonly { readonly properties: Readonly<Record<string, unknown>> }[] | { readonly properties: Readonly<Record<string, unknown>> }
  }
}
const { contributes } = JSON.parse(await textOf('package.json')) as Manifest
const words = JSON.parse(await textOf('package.nls.json')) as Readonly<Record<string, string>>
const settings = new Set([contributes.configuration].flat().flatMap(({ properties }) => Object.keys(properties)))
const commands = new Set(contributes.commands.map(({ title }) => words[title.replaceAll('%', '')] ?? title))

describe.each(documents)('%s names', (path) => {
  it('only settings that there are, or that such begin with', async () => {
    // In code: `bosun.d.ts` is a file.
    const named = [...(await textOf(path)).matchAll(/`"?(bosun\.[\w.]+?)(\.\*)?"?[`:]/g)].map(([, name = '', rest]) => ({ name, isPart: rest !== undefined }))
    const isThere = (name: string, isPart: boolean) => (isPart ? [...settings].some((key) => key.startsWith(`${name}.`)) : settings.has(name) || name === 'bosun.d.ts')
    expect(named.filter(({ name, isPart }) => !isThere(name, isPart)).map(({ name }) => name)).toEqual([])
  })
  it('only commands that there are', async () => expect([...(await textOf(path)).matchAll(/\*\*Bosun: ([^*]+)\*\*/g)].map(([, title = '']) => title).filter((title) => !commands.has(title))).toEqual([]))
})

it('the README names more than a few of both', async () => {
  const text = await textOf('README.md')
  expect([[...settings].filter((key) => text.includes(`\`${key}\``)).length > 20, [...commands].filter((title) => text.includes(`**Bosun: ${title}**`)).length > 10]).toEqual([true, true])
})

describe('what the README says of MCP servers', () => {
  const part = async () => /### MCP servers\n(.*?)\n### /s.exec(await textOf('README.md'))?.[1] ?? ''
  it('begins with a file that can be used', async () => {
    const { servers, skipped } = parseServerFile(/```json\n(.*?)```/s.exec(await part())?.[1] ?? '')
    expect([servers.map(({ name, target: { kind } }) => [name, kind]), skipped]).toEqual([[['files', 'stdio'], ['docs', 'http']], []])
  })
  it('names keys that an entry has: each is looked at', async () => {
    const keys = [...(await part()).matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell = '']) => [...cell.matchAll(/`(\w+)`/g)].map(([, key = '']) => key))
    expect(keys).toContain('toolCallTimeoutMs')
    // What nobody looks at may be anything.
    const isLookedAt = (key: string) => parseServers({ demo: { command: 'x', [key]: [[]] } }).skipped.length === 1
    expect([keys.filter((key) => !isLookedAt(key)), isLookedAt('nothing')]).toEqual([[], false])
  })
})
