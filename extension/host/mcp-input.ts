import { thrownText } from '../base/thrown-text.ts'
import type { Editor } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import { McpError } from '../capabilities/mcp.ts'
import type { AskInput } from '../features/mcp/service.ts'

/**
 * Has a value that an MCP server needs given in native ways: a box, hidden where it is a secret; a list, where the entry has one; or a
 * command of the editor that the entry names. No log sees it.
 */
export const createMcpInputBox =
  ({ editor, l10n }: { readonly editor: Pick<Editor, 'input' | 'pick' | 'runCommand'>; readonly l10n: Localization }): AskInput =>
  async ({ server, id, description, isSecret, options, command, preset }) => {
    if (command !== undefined) return await resultOf(editor, command, id)
    const { t } = l10n
    const title = t('A value for the MCP server {server}', { server })
    if (options === undefined)
      return await editor.input({
        title,
        prompt: description === '' ? t('“{id}”, kept as a secret and given to this server alone.', { id }) : t('{description} (“{id}”, kept as a secret and given to this server alone.)', { description, id }),
        isSecret,
        ...(preset !== undefined && { value: preset }),
      })
    const items = options.map(({ label, value }, index) => ({ id: String(index), label, ...(label !== value && { description: value }), ...(value === preset && { isCurrent: true }) }))
    const picked = await editor.pick({ title, placeholder: description === '' ? t('“{id}”', { id }) : t('{description} (“{id}”)', { description, id }), items })
    return options.find((_option, index) => String(index) === picked)?.value ?? null
  }

/** What a command returns that nobody carried to its end is nothing. */
async function resultOf(editor: Pick<Editor, 'runCommand'>, { name, args }: NonNullable<Parameters<AskInput>[0]['command']>, id: string): Promise<string | null> {
  const refused = (why: string, cause?: unknown) => new McpError('MCP_CONFIGURATION', `There is no value for “${id}”: the command ${name} of the editor ${why} Name another one where the server is configured.`, { cause })
  let result: unknown
  try {
    result = await editor.runCommand(name, args)
  } catch (error) {
    throw refused(`failed: ${(thrownText(error) ?? 'it did not say why').replace(/\.?$/, '.')}`, error)
  }
  if (result === undefined || result === null) return null
  if (typeof result !== 'string') throw refused('gave something else than a text.')
  return result
}
