import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Json, JsonObject } from '../extension/base/json.ts'
import { catalogueOf, type CatalogueEntry, type CatalogueRow } from '../extension/catalogue.ts'
import { compose } from '../extension/compose.ts'
import type { Preset } from '../extension/core/presets/preset.ts'
import { shippedPresets } from '../extension/core/presets/shipped.ts'
import { createHeadlessWorld } from '../extension/headless-world.ts'
import { argumentWords, effectWords, sections } from './tool-words.ts'

/** The document of the tools: every tool there is, for a reader who has none of them. The same on every machine. */
export async function toolsText(): Promise<string> {
  const rows = await catalogueOfAMachine()
  const parts = [...sections, { title: 'More', about: '', groups: /./ }].reduce<{ readonly left: readonly CatalogueRow[]; readonly parts: readonly Part[] }>(
    ({ left, parts: before }, { title, about, groups }) => {
      const own = left.filter(({ group }) => groups.test(group ?? ''))
      return { left: left.filter((row) => !own.includes(row)), parts: own.length === 0 ? before : [...before, { title, about, rows: own }] }
    },
    { left: rows, parts: [] },
  ).parts
  return [
    '# The tools',
    '',
    'Written from the code by `npm run contract`. Every tool a model may be given, with what it takes, what it gives and what it may do. `npm run -s headless -- catalogue` prints the same as JSON.',
    '',
    '- **Arguments** are checked before anything happens; a call that does not fit is refused with every mistake in it.',
    '- **A program** of the model (Code Mode, `run_code`) gets the value below *Gives*; a model that calls the tool itself reads it as text, of which at most so much as *Caps* says stays in the talk. All of it is kept in a file then.',
    '- **Side by side** are calls that may overlap with others; all others run alone, in the order of the model.',
    '- **Presets** decide which of them a session has. `bosun.tools.disabled` takes single ones out of all presets. Tools of MCP servers join while their server runs; they are called `mcp__<server>__<tool>`.',
    '- **May do** says what policy judges a call by. The mode of the session, your rules and the trust in the folder decide what is asked; no answer means no.',
    '',
    '## Presets',
    '',
    ...table(['Preset', 'For', 'Its tools'], shippedPresets.map((preset) => [`\`${preset.id}\``, preset.description, toolsOf(preset)])),
    '',
    'Of `bash` and `pwsh` there is one at a time. A preset of your own is a file in `~/.bosun/presets`, or in `.bosun/presets` of a trusted folder; **Bosun: Copy Preset…** makes one.',
    '',
    '## All tools',
    '',
    ...table(['Tool', 'What it does', 'Presets'], parts.flatMap(({ rows: own }) => own.map((row) => [`[\`${row.name}\`](#${row.name})`, prose(firstSentence(row.description)), presetsText(row.presets)]))),
    ...parts.flatMap(({ title, about, rows: own }) => ['', `## ${title}`, '', ...(about === '' ? [] : [about, '']), ...own.flatMap((row) => rowText(row, parts.flatMap((part) => part.rows))).slice(0, -1)]),
    '',
  ].join('\n')
}

/** By what they have beside those of the usual preset. */
function toolsOf({ id, presentation, tools }: Preset): string {
  const usual = shippedPresets.find((other) => other.id === 'standard')?.tools ?? []
  const isMore = id !== 'standard' && usual.every((name) => tools.includes(name))
  const own = tools.filter((name) => !isMore || !usual.includes(name)).map((name) => `\`${name}\``)
  const all = [...(isMore ? ['those of `standard`'] : []), ...own].join(', ')
  return presentation === 'code' ? `\`run_code\` alone, and in its programs ${all}` : all
}

interface Part {
  readonly title: string
  readonly about: string
  readonly rows: readonly CatalogueRow[]
}

/** A Linux machine with bash, nobody's settings and nobody's keys. */
async function catalogueOfAMachine(): Promise<readonly CatalogueRow[]> {
  const storage = await mkdtemp(join(tmpdir(), 'bosun-tools-'))
  const world = await createHeadlessWorld({ cwd: storage, storage, settings: {} })
  const { terminals } = world
  const application = compose({
    ...world,
    machine: { ...world.machine, platform: 'linux', bash: '/bin/bash', pwsh: null },
    secrets: { get: async () => null, set: async () => {}, delete: async () => {}, onDidChange: () => () => {} },
    ...(terminals && { terminals: { problem: null, open: (spec) => terminals.open(spec) } }),
  })
  try {
    return await catalogueOf(application)
  } finally {
    await application.dispose()
    await world.dispose()
    await rm(storage, { recursive: true, force: true })
  }
}

function rowText(row: CatalogueRow, rows: readonly CatalogueRow[]): readonly string[] {
  return [
    `### ${row.name}`,
    '',
    prose(row.description),
    '',
    ...(row.needs === null ? [] : [`*Needs:* ${withNames(row.needs)}`, '']),
    ...argumentsText(row.name, row),
    ...factsText(row.name, row, rows),
    ...row.variants.flatMap((one) => [
      `**In the preset ${presetsText(one.presets)}** another tool has this name. ${prose(one.description)}`,
      '',
      ...(one.needs === null ? [] : [`*Needs:* ${withNames(one.needs)}`, '']),
      ...argumentsText(row.name, one),
      ...factsText(row.name, one, rows),
    ]),
  ]
}

/** Words that a model reads as they are, so that a reader of Markdown does too; what stands between backticks is left alone. */
const prose = (text: string): string => text.split(/(`[^`]*`)/).map((part, index) => (index % 2 === 1 ? part : part.replaceAll(/[*<[]/g, '\\$&'))).join('')

const firstSentence = (text: string): string => /^.*?\.(?= |$)/s.exec(text)?.[0] ?? text

/** Names of settings as names. */
const withNames = (text: string): string => text.replaceAll(/\bbosun(?:\.\w+)+/g, '`$&`')

function argumentsText(name: string, { parameters }: CatalogueEntry): readonly string[] {
  const properties = (parameters['properties'] ?? {}) as Readonly<Record<string, JsonObject>>
  const required = (parameters['required'] ?? []) as readonly string[]
  if (Object.keys(properties).length === 0) return ['No arguments.', '']
  return [
    ...table(
      ['Argument', 'Type', 'Must be given', 'Meaning'],
      Object.entries(properties).map(([key, schema]) => [`\`${key}\``, `\`${inline(schema)}\``, required.includes(key) ? 'yes' : '', prose(meaning(name, key, schema))]),
    ),
    '',
  ]
}

/** The tool's own words, else ours; a default that the schema names comes last. */
export function meaning(tool: string, argument: string, schema: JsonObject): string {
  const own = schema['description']
  const words = typeof own === 'string' ? own : (argumentWords[tool]?.[argument] ?? '')
  return schema['default'] === undefined ? words : `${words} Default: \`${JSON.stringify(schema['default'])}\`.`.trim()
}

function factsText(name: string, entry: CatalogueEntry, rows: readonly CatalogueRow[]): readonly string[] {
  const caps = [
    ...entry.limits.map(({ of, max, unit }) => `${of}: ${amount(max, unit)}`),
    ...(entry.timeoutMs === null ? [] : [`the whole call: ${amount(entry.timeoutMs, 'ms')}`]),
    entry.maxInlineBytes === null ? 'its text stays whole' : `text that stays in the talk: ${amount(entry.maxInlineBytes, 'bytes')}`,
  ]
  return [
    `- **Presets:** ${presetsText(entry.presets)}. **Side by side:** ${entry.parallelSafe ? 'yes' : 'no'}.`,
    `- **May do:** ${effectWords[name] ?? entry.effects.map((kind) => effects[kind]).join(' Or: ')}`,
    `- **Caps:** ${caps.join('; ')}.`,
    ...valueText(name, entry, rows),
    '',
  ]
}

/** What a program gets; a value that another tool has told before is not told again. */
function valueText(name: string, { output }: CatalogueEntry, rows: readonly CatalogueRow[]): readonly string[] {
  const type = typeLines(output)
  const text = type.join('\n')
  const before = rows.slice(0, Math.max(0, rows.findIndex((row) => row.name === name))).find((row) => typeLines(row.output).join('\n') === text)
  if (type.length === 1) return [`- **Gives:** \`${text}\``]
  return before === undefined ? ['- **Gives:**', '', '```ts', text, '```'] : [`- **Gives:** the same as [\`${before.name}\`](#${before.name}).`]
}

const effects: Readonly<Record<CatalogueEntry['effects'][number], string>> = {
  none: 'Nothing outside the session. Nobody is asked.',
  read: 'Reads files. In the workspace nobody is asked; elsewhere the person is; files that look like secrets stay closed.',
  edit: 'Changes files. In the mode `read-only` refused; else the person is asked, unless a rule or full access allows it. Elsewhere than in the workspace it is always asked or refused.',
  shell: 'Runs a program. Its line is taken apart, and every part is judged: reading and checking needs no question, what is not known is asked for, what throws work away is always asked for.',
  network: 'Reads from hosts of the network. A host that no rule names is asked for; nothing that looks like a secret is sent.',
  script: 'Runs what can act through other calls alone, each judged by itself. The person reads it before its first run in a session.',
  unknown: 'Nobody can tell before, so the person is asked, unless a rule or full access allows it.',
}

const presetsText = (presets: readonly string[]): string => (presets.length === 0 ? 'none' : presets.map((id) => `\`${id}\``).join(', '))

function amount(value: number, unit: string): string {
  if (unit === 'bytes' && value % 1_048_576 === 0) return `${grouped(value / 1_048_576)} MiB`
  if (unit === 'bytes' && value % 1_024 === 0) return `${grouped(value / 1_024)} KiB`
  if (unit === 'ms') return value % 1_000 === 0 ? `${grouped(value / 1_000)} s` : `${grouped(value)} ms`
  return `${grouped(value)} ${unit}`
}

/** Digits in threes, the same in every locale. */
const grouped = (value: number): string => String(value).replaceAll(/\B(?=(\d{3})+$)/g, ' ')

/** A type in one line, as it stands in a table. */
function inline(schema: JsonObject): string {
  const values = schema['enum'] ?? (schema['const'] === undefined ? undefined : [schema['const']])
  if (Array.isArray(values)) return values.map((value: Json) => JSON.stringify(value)).join(' | ')
  if (Array.isArray(schema['oneOf'])) return schema['oneOf'].map((branch) => inline(branch as JsonObject)).join(' | ')
  if (schema['type'] === 'array') {
    const item = inline((schema['items'] ?? {}) as JsonObject)
    return / \| /.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
  }
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>)
  if (schema['type'] !== 'object' || properties.length === 0) return typeof schema['type'] === 'string' ? schema['type'] : 'any JSON'
  const required = (schema['required'] ?? []) as readonly string[]
  return `{ ${properties.map(([name, inner]) => `${name}${required.includes(name) ? '' : '?'}: ${inline(inner)}`).join(', ')} }`
}

/** A type over as many lines as it needs, with what its members mean. */
function typeLines(schema: JsonObject): readonly string[] {
  const short = inline(schema)
  if (short.length <= 100 && !hasWords(schema)) return [short]
  if (Array.isArray(schema['oneOf'])) return schema['oneOf'].flatMap((branch) => marked('| ', typeLines(branch as JsonObject)))
  if (schema['type'] === 'array') {
    const [first = '', ...rest] = typeLines((schema['items'] ?? {}) as JsonObject)
    return rest.length === 0 ? [short] : first.startsWith('| ') ? ['(', ...[first, ...rest].map((line) => `  ${line}`), ')[]'] : [first, ...rest.slice(0, -1), `${rest.at(-1)}[]`]
  }
  if (schema['type'] !== 'object') return [short]
  const required = (schema['required'] ?? []) as readonly string[]
  const members = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>).flatMap(([name, inner]) => {
    const words = typeof inner['description'] === 'string' ? [`/** ${inner['description']} */`] : []
    const [first = '', ...rest] = typeLines(inner)
    const head = `${name}${required.includes(name) ? '' : '?'}:`
    return [...words, ...(first.startsWith('| ') ? [head, ...[first, ...rest].map((line) => `  ${line}`)] : [`${head} ${first}`, ...rest])]
  })
  return ['{', ...members.map((line) => `  ${line}`), '}']
}

const marked = (mark: string, [first = '', ...rest]: readonly string[]): readonly string[] => [`${mark}${first}`, ...rest.map((line) => `  ${line}`)]

/** Whether a member inside says what it means. */
const hasWords = (schema: JsonObject): boolean =>
  [...Object.values((schema['properties'] ?? {}) as Readonly<Record<string, JsonObject>>), ...((schema['oneOf'] ?? []) as readonly JsonObject[]), ...(schema['items'] === undefined ? [] : [schema['items'] as JsonObject])].some(
    (inner) => (typeof inner['description'] === 'string' && schema['type'] === 'object') || hasWords(inner),
  )

const table = (heads: readonly string[], rows: readonly (readonly string[])[]) => [
  `| ${heads.join(' | ')} |`,
  `|${heads.map(() => '---').join('|')}|`,
  ...rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`),
]
