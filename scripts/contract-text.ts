import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EventTypeRules } from '../extension/core/log/event-types.ts'
import { coreEventTypes } from '../extension/core/log/event-types.ts'
import { extensionPoints } from '../extension/extension-points.ts'
import { featureEventTypes } from '../extension/features/event-types.ts'
import { hookEventTypes } from '../extension/features/hooks/events.ts'
import { todoEventTypes } from '../extension/features/todo/events.ts'

/** The contract of the runtime as a document: extension points, durable events, error codes. `root` is the project's folder. */
export async function contractText(root: string): Promise<string> {
  const codes = await errorCodes(join(root, 'extension'))
  return [
    '# The runtime contract',
    '',
    'Written from the code by `npm run contract`. What the names mean stands beside their types.',
    '',
    '## Extension points',
    '',
    '*Waterfall*: each listener gets `next()` and calls it or answers itself. *Serial*: awaited one by one. *Parallel*: started together, all awaited. *Emit*: synchronous observers. A listener of a layer hears only agents at or below it. Beside these, `ctx.tools.guard` adds a synchronous veto: the first text denies the call, and a throw is the final error of the call.',
    '',
    ...table(['Point', 'Kind', 'Arguments', 'May give', 'A throw'], pointRows()),
    '',
    '## Durable events',
    '',
    'One line of a log each. *Surface*: the model sees it. *Ignorable*: a build that does not know it skips it. A `?` marks a field that may be absent; fields that only some writers give are left out.',
    '',
    ...table(['Event', 'Place', 'Marks', 'Fields'], eventRows()),
    '',
    '## Error codes',
    '',
    ...table(['Error', 'Codes'], codes.map(({ name, codes: list }) => [`\`${name}\``, list.map((code) => `\`${code}\``).join(' ')])),
    '',
  ].join('\n')
}

const pointRows = () =>
  Object.entries(extensionPoints).map(([name, facts]) => [
    `\`${name}\``,
    facts.kind,
    facts.args === '' ? 'none' : facts.args,
    'result' in facts ? facts.result : '',
    facts.onThrow,
  ])

function eventRows(): string[][] {
  const all: Readonly<Record<string, EventTypeRules>> = { ...coreEventTypes, ...featureEventTypes, ...todoEventTypes, ...hookEventTypes }
  return Object.entries(all).map(([type, rules]) => {
    const marks = [
      ...(rules.isSurface === true ? ['surface'] : []),
      ...(rules.isIgnorable === true ? ['ignorable'] : []),
      ...(rules.opens === undefined ? [] : [`opens ${rules.opens.name}`]),
      ...(rules.closes === undefined ? [] : [`closes ${rules.closes.name}`]),
      ...(rules.within === undefined ? [] : [`within ${rules.within.name}`]),
    ]
    const fields = Object.entries(rules.fields ?? {}).map(([name, kind]) => (kind.endsWith('?') ? `${name}?` : name))
    return [`\`${type}\``, rules.inside ?? 'anywhere', marks.join(', '), fields.join(', ')]
  })
}

/** Each error class with its codes, as the source says them: `HarnessError<'A' | 'B'>`, or the name of a union of codes. */
async function errorCodes(folder: string): Promise<readonly { readonly name: string; readonly codes: readonly string[] }[]> {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.ts')).toSorted()
  const text = (await Promise.all(paths.map((path) => readFile(join(folder, path), 'utf8')))).join('\n')
  const unions = new Map([...text.matchAll(/^export type (\w+Code) =([^=]*?)(?=\n\n|\nexport|\n\/\*)/gms)].map(([, name, body]) => [name!, codesIn(body!)]))
  return [...text.matchAll(/class (\w+) extends (?:HarnessError|PresentedError)<([^>]+)>/g)]
    .map(([, name, body]) => ({ name: name!, codes: body!.includes("'") ? codesIn(body!) : (unions.get(body!.trim()) ?? []) }))
    .filter(({ codes }) => codes.length > 0)
    .toSorted((left, right) => (left.name < right.name ? -1 : 1))
}

const codesIn = (text: string) => [...text.matchAll(/['`]([A-Z][A-Z0-9_]*)(\$\{[^}]*\})?['`]/g)].map(([, code, rest]) => (rest === undefined ? code! : `${code!}…`))

const table = (heads: readonly string[], rows: readonly (readonly string[])[]) => [
  `| ${heads.join(' | ')} |`,
  `|${heads.map(() => '---').join('|')}|`,
  ...rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`),
]
