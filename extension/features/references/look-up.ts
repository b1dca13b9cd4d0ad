import { assertNever } from '../../base/assert-never.ts'
import { messageOf } from '../../base/message-of.ts'
import { EditorFactsError, type EditorFacts, type ProblemFacts, type SelectionFacts, type SymbolFacts } from '../../capabilities/editor-facts.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { ProcessRunner } from '../../capabilities/process.ts'
import type { ImageBlock, TextBlock } from '../../core/log/message.ts'
import { redactSecrets } from '../../core/policy/redact-secrets.ts'
import type { Sessions, SessionSummary } from '../../core/session/session.ts'
import type { CordisCode, PluginFacts } from '../dynamic-plugins/service.ts'
import type { ParsedReference } from './parse-references.ts'
import type { Mcp } from '../mcp/service.ts'
import { referenceBlock } from './reference-block.ts'
import { UnresolvedReference, type ReferencePlace } from './service.ts'
import { sessionTalk } from './session-talk.ts'
import { workingChanges } from './working-changes.ts'

export interface NamedPlugin {
  readonly facts: PluginFacts
  readonly lines: readonly string[]
  readonly code: CordisCode
}

export interface LookUpNeeds {
  readonly facts: EditorFacts
  readonly files: Pick<FileSystem, 'resolve' | 'readLines'>
  readonly processes: Pick<ProcessRunner, 'start'>
  readonly clock: Pick<Clock, 'schedule'>
  readonly sessions: Pick<Sessions, 'list' | 'live' | 'readTail'>
  /** Those that a model wrote for a session, each with the last lines it wrote and the code of its newest package. */
  readonly plugins: (sessionId: string) => readonly NamedPlugin[]
  /** Absent while it is not composed. */
  readonly mcp: () => Pick<Mcp, 'resourceContent'> | undefined
  readonly isTrusted: () => boolean
  readonly isSecret: (path: string) => boolean
  /** How a path is shown to the model. */
  readonly shown: (path: string, cwd: string) => string
}

// UTF-8 bytes of one reference. Source: runtime specification 15.2 for a session; the others are like it.
const MAX_SESSION_BYTES = 65_536
const MAX_SELECTION_BYTES = 65_536
const MAX_CHANGES_BYTES = 65_536
const MAX_PROBLEMS_BYTES = 32_768
const MAX_TERMINAL_BYTES = 32_768
const MAX_SYMBOL_BYTES = 32_768
const MAX_PLUGIN_BYTES = 65_536
const MAX_RESOURCE_BYTES = 65_536
/** Lines of a symbol of which only the name's place is known. */
const SYMBOL_LINES = 60
const MAX_SYMBOL_LINES = 2_000
export const MAX_SESSIONS = 3
export const LISTED_SESSIONS = 50
/** Events from the end of a log; a talk of 65 536 bytes rarely has more. */
const SESSION_EVENTS = 4_000

/** The block that one reference stands for, and the pictures of it. Errors: `UnresolvedReference`. */
export async function lookUp(reference: ParsedReference, place: ReferencePlace, needs: LookUpNeeds): Promise<readonly (TextBlock | ImageBlock)[]> {
  try {
    if (reference.kind === 'mcp') return await resource(reference, needs, place)
    return [await blockOf(reference, place, needs)]
  } catch (error) {
    if (error instanceof UnresolvedReference) throw error
    if (place.signal.aborted) throw new UnresolvedReference('UNAVAILABLE', `${reference.raw} could not be looked up in time. Take it out of the message, or try again.`, { cause: error })
    if (error instanceof EditorFactsError) throw new UnresolvedReference('NO_EDITOR', `${reference.raw}: ${error.message}`, { cause: error })
    throw new UnresolvedReference('UNAVAILABLE', `${reference.raw} could not be looked up: ${messageOf(error)} Take it out of the message, or try again.`, { cause: error })
  }
}

/** What stands for one block of text. */
type OneBlock = Exclude<ParsedReference, { readonly kind: 'mcp' }>

function blockOf(reference: OneBlock, place: ReferencePlace, needs: LookUpNeeds): Promise<TextBlock> {
  switch (reference.kind) {
    case 'selection':
      return selectionBlock(needs, place).then(({ block }) => block)
    case 'problems':
      return problems(needs, place)
    case 'terminal':
      return terminal(needs)
    case 'changes':
      return changes(needs, place)
    case 'symbol':
      return symbol(reference, needs, place)
    case 'session':
      return session(reference, needs, place)
    case 'plugin':
      return Promise.resolve(plugin(reference, needs, place))
    default:
      return assertNever(reference, 'reference')
  }
}

/** How a plugin of the session stands, with the code of its newest package. */
function plugin({ name, raw }: { readonly name: string; readonly raw: string }, { plugins }: LookUpNeeds, { sessionId = '' }: ReferencePlace): TextBlock {
  const found = plugins(sessionId).find(({ facts }) => facts.pluginId === name)
  if (found === undefined) throw new UnresolvedReference('NOT_FOUND', `${raw}: this session has no such plugin. Take it out of the message, or look at /plugins.`)
  const { facts, lines, code } = found
  const halves = Object.entries(code).map(([half, text]) => `${half} half of ${facts.packages.at(-1)?.packageId ?? ''}:\n${text}`)
  return referenceBlock({
    name: raw,
    text: [`A plugin of this session: ${JSON.stringify(facts, null, 2)}`, ...(lines.length === 0 ? [] : [`Its last lines:\n${lines.join('\n')}`]), ...halves].join('\n'),
    maxBytes: MAX_PLUGIN_BYTES,
    more: 'cordis_inspect_self gives the rest.',
    summary: `Plugin ${name}: ${facts.state}`,
  })
}

/** Errors: `UnresolvedReference`. */
export async function selectionBlock(needs: LookUpNeeds, { cwd }: Pick<ReferencePlace, 'cwd'>, name = '@selection'): Promise<{ readonly block: TextBlock; readonly facts: SelectionFacts }> {
  const { facts, shown } = needs
  const selection = await facts.selection()
  if (selection === null) throw new UnresolvedReference('NOTHING_THERE', '@selection: nothing is selected in an editor. Select something, or take it out of the message, then send again.')
  refuseSecret(await secretAmong([selection.path], cwd, needs), '@selection')
  const at = `${shown(selection.path, cwd)}:${selection.startLine}-${selection.endLine}`
  const block = referenceBlock({
    name,
    text: `${at} (${selection.languageId})\n${selection.text}`,
    maxBytes: MAX_SELECTION_BYTES,
    more: `Read ${at} for the rest.`,
    summary: `Selection: ${at}`,
  })
  return { block, facts: selection }
}

async function problems(needs: LookUpNeeds, { cwd }: ReferencePlace): Promise<TextBlock> {
  const { facts, shown } = needs
  const found = await facts.problems()
  const secrets = await secretAmong(found.map(({ path }) => path), cwd, needs)
  const all = found.filter(({ path }) => !secrets.has(path))
  if (all.length === 0) throw new UnresolvedReference('NOTHING_THERE', '@problems: the editor shows no problems. Take it out of the message, then send again.')
  const line = ({ path, line: at, severity, source, message }: ProblemFacts) =>
    `${shown(path, cwd)}:${at} ${severity}${source === undefined ? '' : ` ${source}`}: ${message.replaceAll(/\s*\n\s*/g, ' ')}`
  const count = (severity: ProblemFacts['severity']) => all.filter((problem) => problem.severity === severity).length
  return referenceBlock({
    name: '@problems',
    text: all.map(line).join('\n'),
    maxBytes: MAX_PROBLEMS_BYTES,
    more: 'Mend these first, then ask for the others.',
    summary: `Problems: ${count('error')} errors, ${count('warning')} warnings`,
  })
}

async function terminal({ facts }: LookUpNeeds): Promise<TextBlock> {
  const text = await facts.terminalSelection()
  if (text.trim() === '') throw new UnresolvedReference('NOTHING_THERE', '@terminal: nothing is selected in a terminal. Select something there, or take it out of the message, then send again.')
  return referenceBlock({ name: '@terminal', text: redactSecrets(text), maxBytes: MAX_TERMINAL_BYTES, more: 'Select less for the rest.', summary: 'Selected in the terminal' })
}

async function changes({ processes, clock, isTrusted, isSecret }: LookUpNeeds, { cwd, signal }: ReferencePlace): Promise<TextBlock> {
  if (!isTrusted()) throw new UnresolvedReference('NOT_ALLOWED', '@changes starts git, and in a folder that is not trusted no program is started. Trust the folder, or take it out of the message.')
  // One byte more than is shown, so that a cut is seen as one.
  const text = await workingChanges({ processes, clock, isSecret }, { cwd, maxBytes: MAX_CHANGES_BYTES + 1, signal })
  return referenceBlock({ name: '@changes', text: redactSecrets(text), maxBytes: MAX_CHANGES_BYTES, more: 'The diff goes on; run git diff on single files for the rest.', summary: 'Changes since the last commit' })
}

async function symbol({ name, raw }: { readonly name: string; readonly raw: string }, needs: LookUpNeeds, { cwd, signal }: ReferencePlace): Promise<TextBlock> {
  const { facts, files, shown, isSecret } = needs
  const found = await facts.symbols(name, signal)
  const called = found.filter((each) => each.name === name || each.name.replace(/\(.*$/, '') === name)
  const [first, ...others] = called.length > 0 ? called : found.filter((each) => each.name.toLowerCase() === name.toLowerCase())
  if (first === undefined) throw new UnresolvedReference('NOT_FOUND', `${raw}: the editor knows no symbol of that name. Check the name, or name the file instead.`)
  refuseSecret(await secretAmong([first.path], cwd, needs), raw)
  const target = await files.resolve(first.path, cwd, signal)
  const limit = first.endLine > first.startLine ? Math.min(first.endLine - first.startLine + 1, MAX_SYMBOL_LINES) : SYMBOL_LINES
  const { lines } = await files.readLines(target, { offset: first.startLine, limit, maxLineLength: 2_000, maxBytes: MAX_SYMBOL_BYTES * 2 }, signal)
  const at = placeOf(first, shown, cwd)
  const also = others.filter(({ path }) => !isSecret(path)).slice(0, 10).map((each) => placeOf(each, shown, cwd))
  return referenceBlock({
    name: raw,
    text: `${first.kind} ${first.name} at ${at}${also.length === 0 ? '' : `\nOthers of that name: ${also.join(', ')}`}\n${lines.map(({ text }) => text).join('\n')}`,
    maxBytes: MAX_SYMBOL_BYTES,
    more: `Read ${at} for the rest.`,
    summary: `Symbol ${first.name}: ${at}`,
  })
}

/** What stands at an address of an MCP server. Pictures go beside the words, where the model takes any. */
async function resource({ name, raw }: { readonly name: string; readonly raw: string }, { mcp, isSecret }: LookUpNeeds, { sessionId, signal }: ReferencePlace): Promise<readonly (TextBlock | ImageBlock)[]> {
  const [, server = '', uri = ''] = /^([A-Za-z0-9_-]{1,32}):(.+)$/s.exec(name) ?? []
  if (uri === '') throw new UnresolvedReference('NOT_FOUND', `${raw}: a resource is written @mcp:server:address. Choose one from the list behind @mcp:.`)
  const path = /^file:\/\//i.test(uri) ? filePathOf(uri) : null
  if (path !== null && isSecret(path)) refuseSecret(new Set([path]), raw)
  const found = await mcp()?.resourceContent(server, uri, { signal, ...(sessionId !== undefined && { sessionId }) })
  if (found === undefined) throw new UnresolvedReference('UNAVAILABLE', `${raw}: no MCP server runs here. Take it out of the message, then send again.`)
  const text = found.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
  const images = found.filter((block) => block.type === 'image')
  if (text === '' && images.length === 0) throw new UnresolvedReference('NOTHING_THERE', `${raw}: the resource is empty. Take it out of the message, then send again.`)
  const seen = images.length === 0 ? '' : `[${images.length === 1 ? 'A picture, which stands' : `${images.length} pictures, which stand`} beside the message.]`
  return [
    ...images,
    referenceBlock({
      name: raw,
      text: redactSecrets([text, seen].filter((part) => part !== '').join('\n')),
      maxBytes: MAX_RESOURCE_BYTES,
      more: 'Ask the person for a smaller part of it.',
      summary: `Resource of ${server}: ${uri}`,
    }),
  ]
}

function filePathOf(uri: string): string | null {
  try {
    return decodeURIComponent(new URL(uri).pathname)
  } catch {
    // What is no address of a file names none that could be secret.
    return null
  }
}

const placeOf = ({ path, startLine }: SymbolFacts, shown: LookUpNeeds['shown'], cwd: string) => `${shown(path, cwd)}:${startLine}`

async function session({ name, raw }: { readonly name: string; readonly raw: string }, { sessions }: LookUpNeeds, { sessionId }: ReferencePlace): Promise<TextBlock> {
  const { id, title } = sessionNamed(name, raw, (await sessions.list()).filter((each) => each.id !== sessionId))
  const live = sessions.live(id)
  const events = live?.milestones() ?? (await sessions.readTail(id, SESSION_EVENTS)).events
  const { text, omittedBytes } = sessionTalk(events, MAX_SESSION_BYTES)
  if (text === '') throw new UnresolvedReference('NOTHING_THERE', `${raw}: nothing was said in that session. Take it out of the message, then send again.`)
  const note = omittedBytes === 0 ? '' : `[The beginning, ${omittedBytes} bytes, was left out.]\n`
  return referenceBlock({
    name: raw,
    text: `Another session of the person, “${title}”:\n${note}${text}`,
    // The talk has its cap already.
    maxBytes: MAX_SESSION_BYTES + 1_000,
    more: '',
    summary: '',
    source: { kind: 'session-reference', sessionId: id, title },
  })
}

function sessionNamed(name: string, raw: string, summaries: readonly SessionSummary[]): SessionSummary {
  const byId = summaries.filter(({ id }) => id === name)
  const found = byId.length > 0 ? byId : summaries.filter(({ id, title }) => id.startsWith(name) || title.toLowerCase() === name.toLowerCase())
  if (found.length === 1) return found[0]!
  if (found.length === 0) throw new UnresolvedReference('NOT_FOUND', `${raw}: there is no such session. Choose one from the list behind @session:.`)
  throw new UnresolvedReference('AMBIGUOUS', `${raw}: ${found.length} sessions are called so. Choose one from the list behind @session:.`)
}

/** Those of the paths that look like secrets, by their own name or by that of what a link leads to. */
async function secretAmong(paths: readonly string[], cwd: string, { files, isSecret }: Pick<LookUpNeeds, 'files' | 'isSecret'>): Promise<ReadonlySet<string>> {
  const known = [...new Set(paths)]
  const closed = await Promise.all(known.map(async (path) => isSecret(path) || isSecret(await realPath(path, cwd, files))))
  return new Set(known.filter((_, index) => closed[index]))
}

async function realPath(path: string, cwd: string, files: LookUpNeeds['files']): Promise<string> {
  try {
    return (await files.resolve(path, cwd)).path
  } catch {
    // What no file system holds, such as a document that was never saved, leads nowhere else.
    return path
  }
}

function refuseSecret(secrets: ReadonlySet<string>, raw: string): void {
  for (const path of secrets) throw new UnresolvedReference('NOT_ALLOWED', `${raw}: ${path} looks like it holds secrets, which no model is shown. Take it out of the message, or change the setting bosun.permissions.sensitivePaths.`)
}
