import { stringifyJson, type Json } from '../../base/json.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { FileTarget } from '../../capabilities/file-system.ts'
import { LanguageError, type LanguageEdit, type Languages } from '../../capabilities/languages.ts'
import type { PlannedEdit } from '../../core/policy/tool-effects.ts'
import { ToolError, type Execution, type ExecutionToken } from '../../core/tools/definition.ts'
import type { FileToolNeeds } from '../files/file-change.ts'
import type { FoundPlace } from './asked-place.ts'
import { plannedChange, planFiles, type FilePlan } from './change-plan.ts'
import { checkArguments, TIMEOUT_MS, withPlace, type LspCall } from './lsp-call.ts'
import type { PatientService } from './patient-service.ts'

export interface LanguageNeeds extends FileToolNeeds {
  readonly languages: Languages
  readonly clock: Clock
}

/** What one call would change, worked out once and made as it was shown. */
export interface ChangePlan {
  /** As Markdown, and how the change is told when it is made: "Rename `a → b` in 10 files". */
  readonly words: string
  readonly made: string
  readonly root: string
  readonly files: readonly FilePlan[]
  readonly note?: string
}

export interface ChangePlanner {
  /** Errors: whatever keeps it from being worked out; nothing is changed. */
  planOf(exec: Execution): Promise<ChangePlan>
  /** The same for policy and for the person. */
  edit(exec: Execution): Promise<PlannedEdit>
}

interface Parts extends LanguageNeeds {
  readonly service: PatientService
  readonly placeOf: (args: LspCall, exec: Execution) => Promise<FoundPlace & { readonly target: FileTarget; readonly root: string }>
}

/** Asks a language service for the changes of a call, once a call: what the person allows is what is made. */
export function createChangePlanner({ languages, files, clock, service, placeOf }: Parts): ChangePlanner {
  const plans = new WeakMap<ExecutionToken, { readonly args: string; readonly plan: Promise<ChangePlan> }>()

  function planOf(exec: Execution): Promise<ChangePlan> {
    const args = stringifyJson(exec.arguments)
    const known = plans.get(exec.token)
    if (known?.args === args) return known.plan
    const plan = withinTime(exec, (timed) => plannedNow(timed))
    plans.set(exec.token, { args, plan })
    return plan
  }

  async function plannedNow(exec: Execution): Promise<ChangePlan> {
    const args = callFrom(exec.arguments)
    checkArguments(args)
    const place = await placeOf(args, exec)
    const found = args.operation === 'rename' ? await renaming(args, place, exec) : await action(args, place, exec)
    const changed = await planFiles(found.edit, { files, root: place.root, signal: exec.signal })
    const others = changed.length === 1 ? `in ${changed[0]?.path ?? ''}` : `in ${changed.length} files`
    const notes = [place.note, found.note].filter((note) => note !== undefined)
    return { words: `${found.words} ${others}`, made: `${found.made} ${others}`, root: place.root, files: changed, ...(notes.length > 0 && { note: notes.join(' ') }) }
  }

  async function renaming(args: LspCall, { target, position }: Place, exec: Execution): Promise<Found> {
    const newName = args.new_name ?? ''
    const request = { path: target.path, position, newName }
    const edit = await service.insist(target.path, async () => await languages.rename(request, exec.signal), waiting(exec))
    if (edit === null) throw new LanguageError('LSP_REFUSED', 'The language service has nothing to rename at this place. Give the place of a name, or symbol.')
    const oldName = args.symbol ?? (await nameAt(target, position, exec))
    return { edit, words: `Rename \`${oldName} → ${newName}\``, made: `Renamed ${oldName} to ${newName}` }
  }

  async function action(args: LspCall, { target, position, end }: Place, exec: Execution): Promise<Found> {
    const title = args.title ?? ''
    const request = { path: target.path, range: { start: position, end } }
    const list = await service.insist(target.path, async () => nonEmpty(await languages.codeActions(request, exec.signal)), waiting(exec))
    const listed = list?.find((one) => one.title === title)
    if (listed === undefined) {
      const titles = (list ?? []).map((one) => `  ${one.title}`).slice(0, 20)
      throw new ToolError('INVALID_ARGS', titles.length === 0 ? 'There is no code action at this place.' : `No code action at this place is called ${JSON.stringify(title)}. There are:\n${titles.join('\n')}`)
    }
    if (listed.disabled !== undefined) throw new LanguageError('LSP_REFUSED', `${title} cannot be done here: ${listed.disabled}`)
    const edit = await languages.codeActionEdit({ ...request, title }, exec.signal)
    if (edit === null || (edit.files.length === 0 && edit.others.length === 0)) throw commandOnly(title, edit?.command)
    const note = edit.command === undefined ? undefined : `The action would also run the command ${edit.command} of the editor; only its changes of text were made.`
    return { edit, words: `Apply \`${title}\``, made: `Applied ${JSON.stringify(title)}`, ...(note !== undefined && { note }) }
  }

  async function nameAt(target: FileTarget, { line, character }: Place['position'], { signal }: Execution): Promise<string> {
    const { text } = await files.readText(target, { maxBytes: Infinity, signal })
    const row = text.split(/\r\n|\r|\n/)[line] ?? ''
    const before = /[\p{L}\p{N}_$]*$/u.exec(row.slice(0, character))?.[0] ?? ''
    const after = /^[\p{L}\p{N}_$]*/u.exec(row.slice(character))?.[0] ?? ''
    return before + after
  }

  /** Before the body of a call there is no time-out but this one. */
  async function withinTime(exec: Execution, work: (exec: Execution) => Promise<ChangePlan>): Promise<ChangePlan> {
    const deadline = new AbortController()
    const stop = clock.schedule(TIMEOUT_MS, () => deadline.abort(new ToolError('TOOL_TIMEOUT', `The language service did not say within ${TIMEOUT_MS} ms what would change. Nothing was changed.`)))
    const signal = AbortSignal.any([exec.signal, deadline.signal])
    try {
      return await work({ ...exec, signal })
    } catch (error) {
      if (deadline.signal.aborted) throw deadline.signal.reason
      throw exec.signal.aborted ? new ToolError('ABORTED', 'The question was stopped. Nothing was changed.', { cause: error }) : error
    } finally {
      stop()
    }
  }

  return {
    planOf,
    async edit(exec) {
      const { words, files: changed } = await planOf(exec)
      return { words, changes: changed.map(plannedChange) }
    },
  }
}

type Place = FoundPlace & { readonly target: FileTarget }

interface Found {
  readonly edit: LanguageEdit
  readonly words: string
  readonly made: string
  readonly note?: string
}

const waiting = ({ signal }: Execution) => ({ signal, progress: () => undefined })

const nonEmpty = <T>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list)

// The pipeline has checked them by the tool's schema before policy is asked.
const callFrom = (args: Json): LspCall => withPlace(args) as unknown as LspCall

const commandOnly = (title: string, command: string | undefined) =>
  new LanguageError(
    'LSP_UNSUPPORTED_OPERATION',
    command === undefined
      ? `${title} changes nothing here.`
      : `${title} does its work by the command ${command} of the editor. What a command does cannot be looked at before or undone in one step, so it was not run. Make the change with edit.`,
  )
