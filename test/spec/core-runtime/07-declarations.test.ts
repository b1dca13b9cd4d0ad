import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../extension/base/json.ts'
import { catalogueOf } from '../../../extension/catalogue.ts'
import { interpolate } from '../../../extension/core/prompt/interpolate.ts'
import { RESERVED_TOOL_NAME } from '../../../extension/core/tools/definition.ts'
import { sdkText, typeText } from '../../../extension/features/code-mode/sdk.ts'
import { root } from '../../../scripts/root.ts'
import { wholeApplication } from '../../support/whole-application.ts'

/* Chapter 7.2: the declarations that a model reads of what its programs can call. */

type Described = Parameters<typeof sdkText>[0][number]
const described = (name: string, parts: { readonly description?: string; readonly parameters?: JsonObject; readonly output?: JsonObject } = {}): Described => ({
  name,
  description: parts.description ?? '',
  parameters: parts.parameters ?? { type: 'object', properties: {} },
  output: { schema: parts.output ?? { type: 'null' } },
})
const text = { type: 'string' }
const named = (properties: JsonObject, required: readonly string[] = Object.keys(properties)): JsonObject => ({ type: 'object', properties, required, additionalProperties: false })

describe('the type of a schema', () => {
  const rows: readonly [what: string, schema: Json, type: string][] = [
    ['text', text, 'string'],
    ['a whole number', { type: 'integer' }, 'number'],
    ['null', { type: 'null' }, 'null'],
    ['any JSON', {}, 'unknown'],
    ['a schema outside the language', { type: 'tuple', prefixItems: [] }, 'unknown'],
    ['no schema at all', 7, 'unknown'],
    ['a constant', { type: 'string', const: 'a "b"' }, '"a \\"b\\""'],
    ['an enumeration', { type: 'number', enum: [1, 2.5] }, '1 | 2.5'],
    ['an enumeration that says a value twice', { type: 'string', enum: ['a', 'a'] }, '"a"'],
    ['alternatives', { oneOf: [text, { type: 'null' }] }, 'string | null'],
    ['an object', named({ a: text, b: { type: 'boolean' } }, ['a']), '{ a: string; b?: boolean }'],
    ['an object of which nothing is known', { type: 'object', additionalProperties: true }, '{}'],
    ['an object of which nothing is known in another', named({ a: { type: 'object', additionalProperties: true } }), '{ a: Record<string, unknown> }'],
    ['names that are no identifiers', named({ 'a-b': text, '1': text, 'it"s': text }), '{ "1": string; "a-b": string; "it\\"s": string }'],
    ['a description', named({ a: { ...text, description: ' Where. ' } }), '{ /** Where. */ a: string }'],
    ['a description that would end its comment', named({ a: { ...text, description: 'a */ b **/' } }), '{ /** a * / b ** / */ a: string }'],
    ['a list', { type: 'array', items: text }, 'string[]'],
    ['a list of anything', { type: 'array' }, 'unknown[]'],
    ['a list of lists', { type: 'array', items: { type: 'array', items: text } }, 'string[][]'],
    ['a list of alternatives', { type: 'array', items: { oneOf: [text, { type: 'null' }] } }, '(string | null)[]'],
    ['a list of an enumeration', { type: 'array', items: { type: 'string', enum: ['a', 'b'] } }, '("a" | "b")[]'],
    ['a list of alternatives of which the first is an object', { type: 'array', items: { oneOf: [named({ a: text }), { type: 'null' }] } }, '({ a: string } | null)[]'],
    ['a list of objects with alternatives inside', { type: 'array', items: named({ a: { oneOf: [text, { type: 'null' }] } }) }, '{ a: string | null }[]'],
    ['a list of lists of alternatives', { type: 'array', items: { type: 'array', items: { oneOf: [text, { type: 'null' }] } } }, '(string | null)[][]'],
  ]
  it.each(rows)('%s', (_what, schema, type) => expect(typeText(schema)).toBe(type))
  it('is unknown below a depth that nobody reads', () => {
    let schema: JsonObject = text
    for (let depth = 0; depth < 30; depth++) schema = { type: 'array', items: schema }
    expect(typeText(schema)).toBe(`unknown${'[]'.repeat(25)}`)
  })
})

describe('the declarations', () => {
  const two = [described('b', { description: 'Second.' }), described('a-1', { description: 'First */ tool', parameters: named({ path: text }), output: text })]
  it('stand in the order of the names, with the words of each tool, and are the same bytes in whatever order the tools come', () => {
    expect(sdkText(two)).toBe(`interface ToolArgsMap {
/** First * / tool */ "a-1": { path: string }
/** Second. */ b: {}
}
interface ToolOutputMap {
"a-1": string
b: null
}
type ToolName = keyof ToolArgsMap
declare class ToolCallError extends Error { readonly name: "ToolCallError"; readonly toolName: ToolName; readonly message: string }
type Call<N extends ToolName> = {} extends ToolArgsMap[N] ? (args?: ToolArgsMap[N]) => Promise<ToolOutputMap[N]> : (args: ToolArgsMap[N]) => Promise<ToolOutputMap[N]>
declare const tools: {
"a-1": Call<"a-1">
b: Call<"b">
}`)
    expect(sdkText(two.toReversed())).toBe(sdkText(two))
  })
  it('have nothing for the prompt to fill in, and still name what a tool really takes', () => {
    const odd = '{{{model}}}'
    const declarations = sdkText([described('odd', { description: `Takes ${odd}.`, parameters: named({ [odd]: { type: 'string', enum: [odd] } }), output: named({ a: named({ b: text }) }) })])
    expect(interpolate(declarations, {}, 'programs:declarations')).toBe(declarations)
    const literals = [...declarations.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([literal]) => JSON.parse(literal) as string)
    expect(literals.filter((literal) => literal === odd)).toHaveLength(2)
  })
})

describe('to a compiler', () => {
  let folder: string
  beforeAll(async () => {
    await mkdir(join(root, 'out'), { recursive: true })
    folder = await mkdtemp(join(root, 'out/programs-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function problemsOf(declarations: string, program: string): Promise<string> {
    await writeFile(join(folder, 'program.ts'), `${declarations}\nexport const program = async () => {\n${program}\n}\n`)
    const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc')
    try {
      await promisify(execFile)(process.execPath, [compiler, '--noEmit', '--strict', '--target', 'es2023', '--module', 'esnext', '--ignoreConfig', '--types', '', 'program.ts'], { cwd: folder })
      return ''
    } catch (error) {
      return (error as { readonly stdout: string }).stdout
    }
  }

  it('those of all tools are sound, and a program has the arguments and values of each', async () => {
    const application = await wholeApplication()
    const declarations = sdkText((await catalogueOf(application)).filter(({ name }) => name !== RESERVED_TOOL_NAME).map(({ output, ...tool }) => ({ ...tool, output: { schema: output } })))
    await application.dispose()
    const sound = `const { totalLines } = await tools.read({ file_path: 'a' })
      await tools.get_goal()
      try { await tools.bash({ command: 'ls', description: 'List' }) } catch (error) { if (error instanceof ToolCallError) return [totalLines.toFixed(), error.toolName, error.message] }`
    expect(await problemsOf(declarations, sound)).toBe('')
    expect(await problemsOf(declarations, 'await tools.read({ file_path: 1 }); await tools.read()')).toMatch(/Type 'number' is not assignable to type 'string'.*Expected 1 arguments/s)
  }, 60_000)
  it('a list of alternatives is a list', async () => {
    const declarations = sdkText([described('list', { output: { type: 'array', items: { oneOf: [named({ a: text }), named({ b: text })] } } })])
    expect(await problemsOf(declarations, 'return (await tools.list()).length')).toBe('')
  }, 60_000)
})
