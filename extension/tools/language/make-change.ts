import { withoutMarks } from '../../base/marked-code.ts'
import { applyEdits } from '../../base/encoding.ts'
import { FileError } from '../../capabilities/file-system.ts'
import type { BodyExecution } from '../../core/tools/definition.ts'
import { changeFacts, keepBeforeImage, type FileToolNeeds } from '../files/file-change.ts'
import type { ChangePlan } from './change-planner.ts'
import type { FilePlan } from './change-plan.ts'
import type { LspValue } from './lsp-value.ts'

/**
 * Make a planned change in all of its files or in none, as one undo stop; each file as it was is kept first.
 *
 * A file that changed since the plan was made stops it. The model need not have read the files: the service wrote the change from
 * what they hold now. What it had read and knew to be current it goes on knowing; what it had not read stays unread.
 * Errors: `FileError`; nothing is changed then.
 */
export async function makeChange(needs: FileToolNeeds, plan: ChangePlan, exec: BodyExecution): Promise<LspValue> {
  const { files, observations } = needs
  const known: boolean[] = []
  for (const file of plan.files) known.push(await isKnown(needs, file, exec))
  const images: (string | null)[] = []
  for (const { target } of plan.files) images.push(await keepBeforeImage(needs, target, exec))
  const edits = plan.files.map(({ target, replacements, version }) => ({ target, replacements, expect: { kind: 'version', version } as const }))
  const outcomes = edits.length === 0 ? [] : await files.editTexts({ edits, label: `Bosun: ${withoutMarks(plan.words)}`, signal: exec.signal })
  const changed = plan.files.map(({ target, path, before, replacements }, index) => {
    const outcome = outcomes[index]
    if (outcome === undefined) throw new TypeError(`The change of ${path} has no outcome.`)
    if (known[index] === true) observations.observe(exec.agent, target, { version: outcome.version })
    const facts = changeFacts({ path, target, outcome, intended: applyEdits(before, replacements), beforeImage: images[index] ?? null })
    const { hunks, added, removed, beforeImage, isUnsaved, reformatted } = facts
    return { path, target: target.path, hunks, added, removed, beforeImage, places: replacements.length, ...(isUnsaved === true && { isUnsaved }), ...(reformatted && { wasReformatted: true as const }) }
  })
  return { kind: 'changes', made: plan.made, files: changed, ...(plan.note !== undefined && { note: plan.note }) }
}

/** The session has seen the file as the plan found it. */
async function isKnown({ observations }: Pick<FileToolNeeds, 'observations'>, { target, version }: FilePlan, exec: BodyExecution): Promise<boolean> {
  try {
    return (await observations.editIntent(exec.agent, target)).version === version
  } catch (error) {
    if (error instanceof FileError && (error.code === 'FS_NOT_OBSERVED' || error.code === 'FS_STALE_VERSION' || error.code === 'FS_NOT_FOUND')) return false
    throw error
  }
}
