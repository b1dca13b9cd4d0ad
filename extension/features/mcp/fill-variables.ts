import type { McpTarget } from '../../capabilities/mcp.ts'
import { replaceVariables, type EditorVariables } from '../../base/editor-variables.ts'
import { thrownText } from '../../base/thrown-text.ts'
import type { McpServerConfig } from './server-config.ts'

export interface VariableNeeds {
  readonly variables: Omit<EditorVariables, 'environment'>
  /** A variable of the host's environment; null when it is not set. */
  readonly environment: (name: string) => Promise<string | null>
  /** Null: nobody has given it yet. */
  readonly input: (id: string) => Promise<string | null>
  /** Where a program runs when its entry does not say. */
  readonly cwd: string
  /** A file of variables, named from `cwd`. Errors: `FileError`. */
  readonly readEnvFile: (path: string) => Promise<string>
}

export type FilledTarget =
  | { readonly kind: 'filled'; readonly target: McpTarget }
  /** Ids, each once, in the order in which they stand. */
  | { readonly kind: 'lacks-inputs'; readonly inputs: readonly string[] }
  | { readonly kind: 'unknown-variable'; readonly text: string }
  | { readonly kind: 'no-env-file'; readonly reason: string }

const inputPattern = /\$\{input:([\w.-]{1,64})\}/g

/** The inputs that an entry names, each once. */
export function inputsOf({ target }: Pick<McpServerConfig, 'target'>): readonly string[] {
  return [...new Set(textsOf(target).flatMap((text) => [...text.matchAll(inputPattern)].map(([, id = '']) => id)))]
}

/** An entry with values in the place of its variables. What an input holds is taken as it is: no variable in it is replaced. */
export async function filledTarget({ target }: Pick<McpServerConfig, 'target'>, needs: VariableNeeds): Promise<FilledTarget> {
  const ids = inputsOf({ target })
  const inputs = new Map(await Promise.all(ids.map(async (id) => [id, await needs.input(id)] as const)))
  const missing = ids.filter((id) => inputs.get(id) === null)
  if (missing.length > 0) return { kind: 'lacks-inputs', inputs: missing }
  const names = [...new Set(textsOf(target).flatMap((text) => [...text.matchAll(/\$\{env:([^}]+)\}/g)].map(([, name = '']) => name)))]
  const environment = Object.fromEntries(await Promise.all(names.map(async (name) => [name, (await needs.environment(name)) ?? ''] as const)))
  let unknown: string | null = null
  const fill = (text: string): string => {
    // Between the inputs, so that nothing a person typed is read as a variable.
    const parts = text.split(inputPattern)
    return parts
      .map((part, index) => {
        if (index % 2 === 1) return inputs.get(part) ?? ''
        const replaced = replaceVariables(part, { ...needs.variables, environment })
        if (replaced === null) unknown ??= part
        return replaced ?? ''
      })
      .join('')
  }
  const fillAll = (values: Readonly<Record<string, string>>) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, fill(value)]))
  const filled: McpTarget =
    target.kind === 'stdio'
      ? { kind: 'stdio', command: fill(target.command), args: target.args.map(fill), env: fillAll(target.env), cwd: target.cwd === null ? needs.cwd : fill(target.cwd) }
      : { kind: target.kind, url: fill(target.url), headers: fillAll(target.headers), ...(target.client && { client: { ...target.client, id: fill(target.client.id), ...(target.client.secret !== undefined && { secret: fill(target.client.secret) }) } }) }
  const envFile = target.kind === 'stdio' && target.envFile !== undefined ? fill(target.envFile) : undefined
  if (unknown !== null) return { kind: 'unknown-variable', text: unknown }
  if (envFile === undefined || filled.kind !== 'stdio') return { kind: 'filled', target: filled }
  try {
    // What the entry says itself goes before.
    return { kind: 'filled', target: { ...filled, env: { ...envFileVariables(await needs.readEnvFile(envFile)), ...filled.env } } }
  } catch (error) {
    return { kind: 'no-env-file', reason: `Its envFile cannot be read: ${thrownText(error) ?? envFile}` }
  }
}

/** Lines `NAME=value` of a file, as the editor reads them: comments and `export` are left out, quotes hold blanks, `#` and line ends, and within double ones `\n` is a line end. */
export function envFileVariables(text: string): Readonly<Record<string, string>> {
  const lines = text.matchAll(/^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^#\r\n]*))[ \t]*(?:#.*)?$/gm)
  return Object.fromEntries([...lines].map(([, name = '', double, single, plain = '']) => [name, double?.replaceAll('\\n', '\n').replaceAll('\\"', '"') ?? single ?? plain.trim()]))
}

const textsOf = (target: McpServerConfig['target']): readonly string[] =>
  target.kind === 'stdio' ? [target.command, ...target.args, ...Object.values(target.env), target.envFile ?? '', target.cwd ?? ''] : [target.url, ...Object.values(target.headers), target.client?.id ?? '', target.client?.secret ?? '']
