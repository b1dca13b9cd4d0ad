import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { PresentedResult } from '../../core/tools/definition.ts'
import type { FileDiff, ToolCallView, ToolResultView } from '../../protocol/cards.ts'
import { asBoolean, asList, asNumber, asString, textContent } from '../card-facts.ts'
import { diffFrom } from '../files/change-card.ts'

export interface DefineCardArgs {
  readonly plugin: { readonly kind: 'new'; readonly idPrefix: string } | { readonly kind: 'existing'; readonly pluginId: string }
  readonly name: string
  readonly code: { readonly host?: string; readonly client?: string }
}
export interface RunCardArgs {
  readonly pluginId: string
  readonly packageId: string
  readonly mode: 'run' | 'update'
}
export interface QueryCardArgs {
  readonly platform: string
  readonly provider: string
  readonly method: string
  readonly input?: Json
}

export const presentInspectList = (): ToolCallView => ({ card: 'generic', title: 'List what can be inspected', doneTitle: 'Listed what can be inspected', kind: 'read' })
export const presentInspectQuery = ({ platform, provider, method, input }: QueryCardArgs): ToolCallView => ({
  card: 'generic',
  title: `Inspect ${platform} ${provider}.${method}`,
  doneTitle: `Inspected ${platform} ${provider}.${method}`,
  kind: 'read',
  ...(input !== undefined && { rawInput: input }),
})
export function presentInspectSelf({ pluginId, packageId }: { readonly pluginId?: string; readonly packageId?: string }): ToolCallView {
  const what = [pluginId, packageId].filter((part) => part !== undefined).join(' ') || 'the plugins of this session'
  return { card: 'generic', title: `Inspect ${what}`, doneTitle: `Inspected ${what}`, kind: 'read' }
}

/** The whole code as what it adds. */
const diffsOf = (code: DefineCardArgs['code'], folder: string): readonly FileDiff[] =>
  (['host', 'client'] as const).flatMap((half) => (code[half] === undefined ? [] : [{ path: `${folder}/${half}.js`, oldText: null, newText: code[half] }]))

export function presentDefine({ plugin, name, code }: DefineCardArgs): ToolCallView {
  const id = plugin.kind === 'new' ? plugin.idPrefix : plugin.pluginId
  return { card: 'diff', title: `Define ${name}`, diffs: diffsOf(code, id), isDraft: true }
}

export function presentDefineResult({ name, code }: DefineCardArgs, { isError, meta }: PresentedResult): ToolResultView | undefined {
  const facts = factsOf(meta)
  const [pluginId, packageId, folder] = [asString(facts['pluginId']), asString(facts['packageId']), asString(facts['folder'])]
  if (isError || pluginId === undefined || packageId === undefined || folder === undefined) return undefined
  const against = asString(facts['against'])
  const changed = against === undefined ? undefined : asList(facts['hunks'], (hunk) => regionOf(hunk, folder))
  const omitted = asNumber(facts['omittedHunks'])
  const notes = [
    ...(asBoolean(facts['isApproved']) === true ? ['You let this version run in this session.'] : []),
    ...(asBoolean(facts['isByRule']) === true ? ['A rule of yours stands for your answer.'] : []),
    ...(changed === undefined ? [] : [changed.length === 0 && omitted === undefined ? `Its code is that of ${against}.` : `Shown against ${against}.`]),
    ...(omitted === undefined ? [] : [`${omitted} more changed regions are not shown here.`]),
  ]
  return { card: 'diff', title: `Defined ${name} (${pluginId} ${packageId})`, diffs: changed ?? diffsOf(code, folder), ...(notes.length > 0 && { note: notes.join(' ') }), isDraft: true }
}

function regionOf(hunk: Json, folder: string): FileDiff | undefined {
  const half = isJsonObject(hunk) ? hunk['half'] : undefined
  return half === 'host' || half === 'client' ? diffFrom(`${folder}/${half}.js`, hunk) : undefined
}

export const presentRun = ({ pluginId, packageId, mode }: RunCardArgs): ToolCallView => ({
  card: 'generic',
  title: mode === 'run' ? `Run the plugin ${pluginId} (${packageId})` : `Update the plugin ${pluginId} to ${packageId}`,
  kind: 'execute',
})

export function presentRunResult({ pluginId, packageId }: RunCardArgs, { content, isError, meta }: PresentedResult): ToolResultView | undefined {
  const state = asString(factsOf(meta)['state'])
  if (isError || state === undefined) return undefined
  return { card: 'generic', title: `Started the plugin ${pluginId} (${packageId})`, content: textContent(content) }
}

const words = { stop: ['Stop', 'Stopped'], remove: ['Remove', 'Removed'] } as const

export const presentStop =
  (what: keyof typeof words) =>
  ({ pluginId }: { readonly pluginId: string }): ToolCallView => ({ card: 'generic', title: `${words[what][0]} the plugin ${pluginId}`, doneTitle: `${words[what][1]} the plugin ${pluginId}`, kind: 'other' })

export function presentStopResult({ pluginId }: { readonly pluginId: string }, { content, isError, meta }: PresentedResult): ToolResultView | undefined {
  return !isError && factsOf(meta)['wasRunning'] === false ? { card: 'generic', title: `The plugin ${pluginId} did not run`, content: textContent(content) } : undefined
}

const factsOf = (meta: Json | undefined): JsonObject => (meta !== undefined && isJsonObject(meta) ? meta : {})
