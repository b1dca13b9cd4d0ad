import { changesBetween } from '../../core/tools/hunks.ts'
import type { PlannedChange } from '../../core/tools/definition.ts'
import type { ScriptEffect } from '../../core/policy/tool-effects.ts'
import type { CordisCode, PackageSource } from './service.ts'

/** A package as the person is asked about it. */
export interface AskedPackage extends Pick<PackageSource, 'name' | 'purpose' | 'code'> {
  readonly pluginId: string
  readonly packageId: string
  /** Where its code is kept, or will be. */
  readonly folder: string
}

/** The version that the person let run last, if there is one. */
export type BasePackage = { readonly packageId: string; readonly code: CordisCode } | undefined

export const halvesOf = ({ host, client }: CordisCode): readonly ('host' | 'client')[] => [...(host === undefined ? [] : (['host'] as const)), ...(client === undefined ? [] : (['client'] as const))]

/** The code of a package against what the person let run last; the whole of it where that is nothing. */
export function codeChanges({ pluginId, packageId, code, folder }: AskedPackage, base: BasePackage): readonly PlannedChange[] {
  return (['host', 'client'] as const).flatMap((half): readonly PlannedChange[] => {
    const before = base?.code[half] ?? ''
    const after = code[half] ?? ''
    const { hunks } = changesBetween(before, after)
    return hunks.length === 0 ? [] : [{ target: `${folder}/${half}.js`, path: `${pluginId}/${packageId}/${half}.js`, before, after, hunks }]
  })
}

/** What the person is asked before code of a model may run; `words` says by which call. */
export function codeQuestion(asked: AskedPackage, { words, base, changes, isKnown }: { readonly words: string; readonly base: BasePackage; readonly changes: readonly PlannedChange[]; readonly isKnown: boolean }): Omit<ScriptEffect, 'plan'> {
  const { pluginId, name, purpose, code } = asked
  const halves = halvesOf(code)
  return {
    kind: 'script',
    words,
    why: [
      `${name}: ${purpose === '' ? 'it says nothing of its purpose' : purpose}`.replace(/[.!?]?$/, '.'),
      ...(base === undefined ? [] : [againstWords(base.packageId, changes)]),
      ...(halves.includes('host') ? ['It stays at work in a machine of its own and acts only by tools, each call judged by itself.'] : []),
      ...(halves.includes('client') ? ['It draws in a sealed frame of the chat.'] : []),
    ].join(' '),
    covers: 'Your yes lets this version run in this session as often as the model asks; another is asked for again.',
    isKnown,
    settled: 'You let this very version run in this session.',
    changes,
    isAlwaysAsked: true,
    subject: { word: pluginId, words: `every version of the plugin \`${pluginId}\``, tool: 'cordis_run' },
  }
}

function againstWords(packageId: string, changes: readonly PlannedChange[]): string {
  const against = `Shown against ${packageId}, which you let run.`
  const [only, ...others] = changes
  if (only === undefined) return `${against} Its code is the same.`
  return others.length > 0 ? against : `${against} Only its ${only.path.endsWith('/host.js') ? 'host' : 'client'} half differs.`
}
