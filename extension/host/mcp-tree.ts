import { assertNever } from '../base/assert-never.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { TreeNode, TreeState } from '../capabilities/tree-view.ts'
import type { McpReport, McpServerReport, McpToolReport } from '../features/mcp/service.ts'
import { plainCell } from './markdown-table.ts'
import { oneLine, stateWords } from './mcp-words.ts'
import { agoOf } from './time-words.ts'

/** A server with all that its rows and its tooltip say. */
export type TreeServer = McpServerReport & {
  /** Where it is configured, in short words. */
  readonly place: string
  /** Why it went the last time, if it has come back since. */
  readonly lastEnd: { readonly reason: string; readonly at: number } | null
  /** The person opened its row before it became another one. */
  readonly isOpened: boolean
}

interface Facts extends Pick<McpReport, 'skipped' | 'note'> {
  readonly servers: readonly TreeServer[]
  readonly now: number
}

/** Names in a tooltip. */
const MAX_NAMES = 20

/** The tree of MCP servers: each with how it stands and why, what it is, and its tools to switch; then the entries that cannot be used. */
export function mcpTree({ servers, skipped, note, now }: Facts, l10n: Localization): TreeState {
  const { t } = l10n
  const nodes = [...servers.map((server) => serverNode(server, now, l10n)), ...skipped.map((entry, index) => skippedNode(entry, index, l10n))]
  const count = (isOne: (server: TreeServer) => boolean) => servers.filter(isOne).length
  const [running, failed, waiting] = [count(({ state }) => state === 'running'), count(({ state }) => state === 'failed'), count(waitsForPerson)]
  const words = [
    ...(running === 0 ? [] : [running === 1 ? t('1 running') : t('{count} running', { count: running })]),
    ...(failed === 0 ? [] : [failed === 1 ? t('1 failed') : t('{count} failed', { count: failed })]),
    ...(waiting === 0 ? [] : [waiting === 1 ? t('1 waits for you') : t('{count} wait for you', { count: waiting })]),
  ]
  return {
    nodes,
    ...(words.length > 0 && { description: words.join(' · ') }),
    ...(note !== undefined && nodes.length > 0 && { message: note }),
    ...(waiting > 0 && { badge: { count: waiting, tooltip: waiting === 1 ? t('1 MCP server waits for you') : t('{count} MCP servers wait for you', { count: waiting }) } }),
  }
}

/** The server that a node of the tree stands for or below, and the tool, if it is one. */
export function serverOfNode(nodeId: string): { readonly server: string; readonly tool: string | null } | null {
  const [, server, tool] = /^server:([\w-]+)(?:~away)?(?:\/(?:tool:([\w-]+)|\w+))?$/.exec(nodeId) ?? []
  return server === undefined ? null : { server, tool: tool ?? null }
}

/** The entry behind a node that stands for one which cannot be used. */
export function skippedOfNode(nodeId: string): number | null {
  const [, index] = /^skipped:(\d+)$/.exec(nodeId) ?? []
  return index === undefined ? null : Number(index)
}

export const waitsForPerson = ({ state }: Pick<McpServerReport, 'state'>): boolean => state === 'waits' || state === 'needs-input' || state === 'needs-sign-in'

/** What can be done with a server now; menus and the palette ask for these words. */
export function kindsOf({ state, needsConsent, canSignIn, isSignedIn, inputs, tools, isTrusted }: McpServerReport): readonly string[] {
  const isConfigured = state === 'waits' || state === 'disabled'
  return [
    'server',
    ...(state === 'waits' ? ['waits'] : []),
    ...(needsConsent && !isConfigured ? ['consented'] : []),
    ...(state === 'ready' || state === 'idle' || state === 'stopped' ? ['startable'] : []),
    ...(state === 'starting' || state === 'running' || state === 'retrying' || state === 'failed' ? ['restartable'] : []),
    ...(state === 'starting' || state === 'running' || state === 'retrying' || state === 'idle' ? ['stoppable'] : []),
    ...(state === 'needs-sign-in' && canSignIn ? ['locked'] : []),
    ...(isSignedIn && !isConfigured ? ['signed'] : []),
    ...(state === 'needs-input' ? ['lacking'] : []),
    ...(inputs.length > 0 && !isConfigured ? ['asking'] : []),
    ...(isConfigured ? [] : ['logged']),
    ...(tools.some(({ problem }) => problem === null) ? ['switchable'] : []),
    ...(isTrusted ? ['trusted'] : tools.some(({ isReadOnly }) => isReadOnly) ? ['trustable'] : []),
  ]
}

function serverNode(server: TreeServer, now: number, l10n: Localization): TreeNode {
  const { title, state, reason, tools, place } = server
  const isWrong = state === 'failed' || state === 'retrying'
  const words = [stateWords(state, l10n), ...(isWrong && reason !== null ? [oneLine(reason)] : [...(tools.length === 0 ? [] : [toolWords(tools, l10n)]), place])]
  return {
    id: nodeId(server),
    label: title,
    description: words.join(' · '),
    ...iconOf(state),
    tooltip: tooltipOf(server, now, l10n),
    spoken: [title, ...words].join(', '),
    kinds: kindsOf(server),
    isOpen: opensItself(server) || server.isOpened,
    children: childrenOf(server, now, l10n),
  }
}

/** The editor keeps what is folded by id, so a server that the person has to see to is a new row to it: one that opens. */
const nodeId = (server: McpServerReport) => `server:${server.name}${opensItself(server) ? '~away' : ''}`
const opensItself = (server: McpServerReport): boolean => server.state === 'failed' || waitsForPerson(server)

/** The state by its shape as much as by its colour. */
function iconOf(state: McpServerReport['state']): Pick<TreeNode, 'icon' | 'iconColor'> {
  switch (state) {
    case 'running':
      return { icon: 'circle-filled', iconColor: 'ports.iconRunningProcessForeground' }
    case 'ready':
    case 'idle':
      return { icon: 'circle-outline', iconColor: 'ports.iconRunningProcessForeground' }
    case 'starting':
      return { icon: 'loading~spin' }
    case 'retrying':
      return { icon: 'sync', iconColor: 'problemsWarningIcon.foreground' }
    case 'failed':
      return { icon: 'error', iconColor: 'testing.iconFailed' }
    case 'waits':
      return { icon: 'shield', iconColor: 'problemsWarningIcon.foreground' }
    case 'needs-input':
      return { icon: 'key', iconColor: 'problemsWarningIcon.foreground' }
    case 'needs-sign-in':
      return { icon: 'sign-in', iconColor: 'problemsWarningIcon.foreground' }
    case 'stopped':
    case 'disabled':
      return { icon: 'circle-slash', iconColor: 'disabledForeground' }
    default:
      return assertNever(state, 'state of a server')
  }
}

function toolWords(tools: readonly McpToolReport[], { t }: Localization): string {
  const on = tools.filter(({ isOn, problem }) => isOn && problem === null).length
  if (on < tools.length) return t('{on} of {count} tools', { on, count: tools.length })
  return on === 1 ? t('1 tool') : t('{count} tools', { count: on })
}

function childrenOf(server: TreeServer, now: number, l10n: Localization): readonly TreeNode[] {
  const { t } = l10n
  const { state, reason, problem, target, given, place, prompts, resources, tools, lastEnd } = server
  const id = (part: string) => `${nodeId(server)}/${part}`
  /** A line that is told rather than named. */
  const line = (part: string, text: string, more: Partial<TreeNode>): TreeNode => ({ id: id(part), label: oneLine(text), tooltip: plainCell(text), spoken: text, ...more })
  const warning = { icon: 'warning', iconColor: 'problemsWarningIcon.foreground' }
  const offers = [
    ...(prompts.length === 0 ? [] : [prompts.length === 1 ? t('1 prompt') : t('{count} prompts', { count: prompts.length })]),
    ...(resources.length === 0 ? [] : [resources.length === 1 ? t('1 resource') : t('{count} resources', { count: resources.length })]),
  ]
  return [
    ...(reason === null ? [] : [line('reason', reason, state === 'failed' || state === 'retrying' ? { icon: 'error', iconColor: 'problemsErrorIcon.foreground', press: 'mcpShowLog' } : { ...warning, press: state === 'needs-input' ? 'mcpInput' : 'mcpShowLog' })]),
    ...(reason === null && lastEnd !== null ? [line('came', t('Came back {time}: {reason}', { time: agoOf(now - lastEnd.at, l10n), reason: lastEnd.reason }), { icon: 'history', press: 'mcpShowLog' })] : []),
    ...(problem === null ? [] : [line('problem', problem, { ...warning, press: 'mcpShowLog' })]),
    { id: id('target'), label: oneLine(target), description: place, icon: /^https?:/.test(target) ? 'globe' : 'terminal', tooltip: t('Opens where it is configured: {place}', { place: plainCell(server.source) }), spoken: t('{target}, configured in {place}', { target: oneLine(target), place }), press: 'mcpOpenConfiguration' },
    // What the person consents to stands before them; later a tooltip has it.
    ...(state === 'waits' ? given.slice(0, MAX_NAMES).map((text, index) => line(`given_${index}`, text, { icon: 'symbol-constant', press: 'mcpOpenConfiguration' })) : []),
    ...(offers.length === 0 ? [] : [{ id: id('offers'), label: offers.join(', '), icon: 'symbol-misc', tooltip: [...names(prompts.map(({ name }) => name)), ...names(resources.map(({ name, uri }) => (name === '' ? uri : name)))].join('  \n') } satisfies TreeNode]),
    ...tools.map((tool) => toolNode(tool, id(`tool:${tool.name}`), l10n)),
  ]
}

function toolNode({ name, raw, description, isOn, isOffEverywhere, isReadOnly, problem }: McpToolReport, id: string, { t }: Localization): TreeNode {
  const facts = [
    `**${plainCell(raw)}**`,
    ...(description === '' ? [] : [plainCell(description)]),
    ...(isReadOnly ? [t('The server says that it only reads.')] : []),
    ...(isOffEverywhere ? [t('Turned off everywhere by the setting bosun.tools.disabled.')] : []),
    ...(problem === null ? [] : [plainCell(problem)]),
    plainCell(name),
  ]
  const node = { id, label: raw, tooltip: facts.join('\n\n'), description: oneLine(problem ?? description) }
  if (problem !== null) return { ...node, icon: 'warning', iconColor: 'problemsWarningIcon.foreground', spoken: t('{tool}, not offered: {reason}', { tool: raw, reason: problem }), kinds: ['refused'] }
  return {
    ...node,
    check: { isChecked: isOn, tooltip: isOn ? t('Offered to the model in this workspace') : t('Not offered to the model in this workspace') },
    spoken: isOn ? t('{tool}, offered: {description}', { tool: raw, description: oneLine(description) }) : t('{tool}, switched off: {description}', { tool: raw, description: oneLine(description) }),
    kinds: ['tool', isOn ? 'on' : 'off'],
  }
}

function skippedNode({ name, source, reason }: McpReport['skipped'][number], index: number, { t }: Localization): TreeNode {
  const label = name === '' ? (source.split(/[\\/]/).slice(-2).join('/')) : name
  return {
    id: `skipped:${index}`,
    label,
    description: t('cannot be used: {reason}', { reason: oneLine(reason) }),
    icon: 'warning',
    iconColor: 'problemsWarningIcon.foreground',
    tooltip: [plainCell(reason), plainCell(source)].join('\n\n'),
    spoken: t('{name}, cannot be used: {reason}', { name: label, reason }),
    kinds: ['skipped'],
    press: 'mcpOpenConfiguration',
  }
}

function tooltipOf({ name, title, state, reason, problem, target, given, source, prompts, resources, tools, isTrusted, lastEnd }: TreeServer, now: number, l10n: Localization): string {
  const { t } = l10n
  const facts = [
    stateWords(state, l10n),
    ...(state === 'waits' ? [t('Runs only after you allow it, and waits again when its entry changes.')] : []),
    ...(reason === null ? [] : [plainCell(reason)]),
    ...(problem === null ? [] : [plainCell(problem)]),
    ...(lastEnd === null ? [] : [t('Came back {time}: {reason}', { time: agoOf(now - lastEnd.at, l10n), reason: plainCell(lastEnd.reason) })]),
    ...(title === name ? [] : [t('Called {name} in commands and by the model', { name: plainCell(name) })]),
    plainCell(oneLine(target)),
    ...given.slice(0, MAX_NAMES).map((line) => plainCell(oneLine(line))),
    ...(given.length > MAX_NAMES ? ['…'] : []),
    t('Configured in {place}', { place: plainCell(source) }),
    ...(tools.length + prompts.length + resources.length === 0 ? [] : [t('{tools} tools, {prompts} prompts, {resources} resources', { tools: tools.length, prompts: prompts.length, resources: resources.length })]),
    ...(isTrusted ? [t('Its word counts for which tools only read, and those may run beside each other.')] : []),
  ]
  return `**${plainCell(title)}**\n\n${facts.join('  \n')}`
}

/** As one line of names, or none. */
const names = (all: readonly string[]): readonly string[] => (all.length === 0 ? [] : [`${all.slice(0, MAX_NAMES).map(plainCell).join(', ')}${all.length > MAX_NAMES ? ', …' : ''}`])
