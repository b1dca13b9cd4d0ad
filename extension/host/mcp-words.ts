import { clipped, fitEnds } from '../base/text.ts'
import { visibleText } from '../base/visible-text.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { McpServerReport } from '../features/mcp/service.ts'
import { placeWords } from './place-words.ts'

type Folders = Parameters<typeof placeWords>[1]

/** UTF-16 units of a command line, an address or a reason in a line. */
const MAX_LINE = 200
/** Of one value that an entry gives, and of all of them. */
const MAX_VALUE = 80
const MAX_GIVEN = 500

/** Where a server is configured, as short as it is plain. */
export function configuredIn({ file, needsConsent }: Pick<McpServerReport, 'file' | 'needsConsent'>, folders: Folders, { t }: Localization): string {
  if (file === null) return needsConsent ? t('workspace settings') : t('your settings')
  const place = placeWords(file.path, folders)
  // Outside of the folders there is only the person's own.
  return place === file.path ? `~/${file.path.split(/[\\/]/).slice(-2).join('/')}` : place
}

export function stateWords(state: McpServerReport['state'], { t }: Localization): string {
  switch (state) {
    case 'ready':
      return t('not started')
    case 'starting':
      return t('starting')
    case 'running':
      return t('running')
    case 'idle':
      return t('rests until it is used')
    case 'retrying':
      return t('away, is reached again')
    case 'failed':
      return t('failed')
    case 'needs-input':
      return t('needs a value')
    case 'needs-sign-in':
      return t('wants you to sign in')
    case 'stopped':
      return t('stopped')
    case 'disabled':
      return t('turned off where it is configured')
    case 'waits':
      return t('waits for your consent')
  }
}

/** What a server that waits for consent would do once it may. */
export function consentWords(server: McpServerReport, folders: Folders, l10n: Localization): string {
  const { t } = l10n
  const { title, given } = server
  const values = { name: title, target: bothEnds(flat(server.target), TOLD_END), place: configuredIn(server, folders, l10n), given: givenWords(given) }
  if (/^https?:/.test(server.target))
    return given.length === 0
      ? t('The MCP server “{name}” of this workspace waits for your consent. It would be reached at {target} ({place}).', values)
      : t('The MCP server “{name}” of this workspace waits for your consent. It would be reached at {target} ({place}), with {given}.', values)
  if (given.length > 0) return t('The MCP server “{name}” of this workspace waits for your consent. It would run: {target} ({place}), with {given}.', values)
  return t('The MCP server “{name}” of this workspace waits for your consent. It would run: {target} ({place}).', values)
}

/** UTF-8 bytes of each end of a command line, in a list of the editor and in a notification. */
const LISTED_END = 42
const TOLD_END = 100

/** What would run, with both of its ends: what tells two commands apart may be their last word. */
export const listedTarget = (target: string): string => bothEnds(flat(target), LISTED_END)

function bothEnds(text: string, endBytes: number): string {
  const { head, tail, omittedBytes } = fitEnds(text, { headBytes: endBytes, tailBytes: endBytes })
  return omittedBytes === 0 ? text : `${head}…${tail}`
}

/** As one line, cut where notifications would be. */
export const givenWords = (given: readonly string[]): string => clipped(given.map((line) => clipped(oneLine(line), MAX_VALUE)).join(', '), MAX_GIVEN)

/** Notifications would draw a link that a command line holds, and nobody sees a character that draws nothing. */
const flat = (text: string): string => visibleText(text.trim()).replaceAll(/\s+/g, ' ').replaceAll('](', '] (')
export const oneLine = (text: string): string => clipped(flat(text), MAX_LINE)
