import { stringifyJson } from '../../base/json.ts'
import { isConfidentialName } from '../../base/secret-name.ts'
import { redactSecrets } from '../../core/policy/redact-secrets.ts'
import type { McpInput, McpServerConfig } from './server-config.ts'

/** In the place of what nobody should read over a shoulder. */
export const MASK = '••••'

/**
 * What an entry gives its server besides the command line or the address, a line each, as the person consents to it: values as they
 * stand, variables not filled in, and what looks like a secret masked.
 */
export function entryLines({ target }: Pick<McpServerConfig, 'target'>, inputs: readonly McpInput[]): readonly string[] {
  const given =
    target.kind === 'stdio'
      ? [
          ...Object.entries(target.env).map(([name, value]) => `${name}=${shownValue(name, value)}`),
          ...(target.envFile === undefined ? [] : [`envFile: ${target.envFile}`]),
          ...(target.cwd === null ? [] : [`cwd: ${target.cwd}`]),
        ]
      : [
          ...Object.entries(target.headers).map(([name, value]) => `${name}: ${shownValue(name, value)}`),
          ...(target.client === undefined ? [] : [`clientId: ${target.client.id}`, ...(target.client.secret === undefined ? [] : [`clientSecret: ${shownValue('secret', target.client.secret)}`])]),
        ]
  return [...given, ...inputs.flatMap(inputLine)]
}

/** What is taken where nobody is asked, and by whoever leaves the box as it is. */
function inputLine({ id, isSecret, fallback, command }: McpInput): readonly string[] {
  if (command !== undefined) return [`\${input:${id}} = ${command.name}(${command.args === undefined ? '' : redactSecrets(stringifyJson(command.args))})`]
  return fallback === null ? [] : [`\${input:${id}} = ${isSecret ? MASK : shownValue(id, fallback)}`]
}

/** Variables and the word for a kind of token are no secret, whatever stands beside them. */
function shownValue(name: string, value: string): string {
  if (!isConfidentialName(name)) return redactSecrets(value) === value ? value : MASK
  const [, scheme = '', rest = ''] = /^((?:Bearer|Basic|Token|ApiKey)\s+)?([\s\S]*)$/i.exec(value) ?? []
  return scheme + rest.replaceAll(/(\$\{[\w:.-]+\})|(?:(?!\$\{[\w:.-]+\})[\s\S])+/g, (_part, variable: string | undefined) => variable ?? MASK)
}
