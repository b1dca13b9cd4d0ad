import { isJsonObject, type Json } from '../base/json.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { PresentedResult, ToolDefinition } from '../core/tools/definition.ts'
import type { ToolCallView, ToolResultView } from '../protocol/cards.ts'
import { clampCallView, clampResultView } from './clamp-view.ts'
import { asCallView, asResultView } from './view-shape.ts'

/** The presenters of a tool, by name; undefined for one that is not there (any more). */
export type FindPresenters = (name: string) => Pick<ToolDefinition, 'presentCall' | 'presentResult' | 'from'> | undefined

/** The pending card, or null for the generic one: nothing a presenter does or says can break the chat. */
export function presentCall(find: FindPresenters, name: string, args: Json): ToolCallView | null {
  try {
    const view = asCallView(find(name)?.presentCall?.(args))
    return view === undefined ? null : clampCallView(view)
  } catch {
    // A display error must never break the talk or its replay; the row falls back to name and arguments.
    return null
  }
}

/** The completed card, or null for the generic one. */
export function presentResult(
  find: FindPresenters,
  call: { readonly name: string; readonly args: Json },
  result: PresentedResult,
  l10n: Localization,
): ToolResultView | null {
  try {
    const view = asResultView(find(call.name)?.presentResult?.(call.args, result))
    return view === undefined ? null : clampResultView(view, l10n.t('Shown in part. Open the diff to see all of it.'))
  } catch {
    // As above: old or foreign records must not break replay.
    return null
  }
}

/** The other extension whose tool a call was of, where the call in the log does not say it: as its result says, else as the tool that is there says. */
export function extensionOf(find: FindPresenters, name: string, meta: Json | undefined): string | undefined {
  const tool = find(name)
  const kept = isJsonObject(meta) ? meta['extension'] : undefined
  // What one of our own tools keeps is not looked at.
  return tool !== undefined && tool.from === undefined ? undefined : typeof kept === 'string' ? kept : tool?.from
}
