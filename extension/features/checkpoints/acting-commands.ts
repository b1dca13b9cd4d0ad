import type { ShellSyntax } from '../../capabilities/shell-syntax.ts'
import type { ToolEffect } from '../../core/policy/tool-effects.ts'
import { judgeScript } from '../../core/policy/shell/judge-script.ts'
import { openScript } from '../../core/policy/shell/open-script.ts'

/** What a call may do to files that its arguments do not name. */
export interface FileRisk {
  readonly destroys: boolean
  readonly usesGit: boolean
}

/** Whether `fileRisk` has to look at it. */
export const mayRiskFiles = ({ kind }: ToolEffect): boolean => kind === 'unknown' || kind === 'shell'

/** Null: it changes no file but those that its tool tells of. */
export async function fileRisk(effect: ToolEffect, { shellSyntax, homeFolder }: { readonly shellSyntax: ShellSyntax; readonly homeFolder: string }): Promise<FileRisk | null> {
  if (effect.kind === 'unknown') return { destroys: false, usesGit: false }
  if (effect.kind !== 'shell') return null
  const usesGit = /\bgit\b/.test(effect.command)
  if (effect.shell !== 'bash') return { destroys: false, usesGit }
  try {
    const script = await openScript(effect.command, (text) => shellSyntax.parseBash(text), homeFolder)
    if (script === null) return { destroys: true, usesGit }
    const facts = judgeScript(script)
    if (facts.destroys === null && facts.acting.length === 0 && facts.writes.length === 0 && facts.unclear === null) return null
    return { destroys: facts.destroys !== null, usesGit }
  } catch {
    // What cannot be read may do anything.
    return { destroys: true, usesGit }
  }
}
