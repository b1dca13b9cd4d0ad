import { applyEdits, toLf } from '../../base/encoding.ts'
import { staleVersion, FileError, type FileTarget, type FileVersion, type TextFile } from '../../capabilities/file-system.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type BodyExecution, type ToolDefinition } from '../../core/tools/definition.ts'
import { sessionFolder } from '../session-folder.ts'
import { withoutEscalation } from '../without-escalation.ts'
import { presentCall, presentResult } from './edit.card.ts'
import { changeFacts, changeLimits, changeMeta, changeNotes, changeProperties, keepBeforeImage, MAX_CHANGED_BYTES, snippetOf, type FileToolNeeds } from './file-change.ts'
import { editOpenNotebook, editStoredNotebook, type NotebookChange } from './edit-notebook.ts'
import { explainStale } from './explain-stale.ts'
import { cellsOfJson } from './notebook-json.ts'
import { planEdit, type EditPlan, type EditRequest } from './plan-edit.ts'
import { isNotebookPath } from './shown-text.ts'

/** `edit`: replace literal text in a file. Source: capability specification 8 and 20.3. */
export function createEdit(needs: FileToolNeeds): ToolDefinition {
  const { files, observations } = needs
  return withoutEscalation(defineTool({
    name: 'edit',
    description: 'Replace literal text in a file that you have read. old_string must stand there exactly once, white space included, without line numbers.',
    parameters: {
      file_path: { type: 'string', required: true },
      old_string: { type: 'string', required: true },
      new_string: { type: 'string', required: true },
      replace_all: { type: 'boolean' },
      near_line: { type: 'integer', description: 'Of several matches, take the nearest to this line.' },
    },
    output: {
      schema: {
        type: 'object',
        properties: { ...changeProperties, replacements: { type: 'integer', required: true }, lines: { type: 'array', items: { type: 'integer' }, required: true } },
        additionalProperties: false,
      },
      render: (_args, value) => [{ type: 'text', text: [sentence(value), snippetOf(value.hunks), ...changeNotes(value)].filter((part) => part !== '').join('\n') }],
      presentationMeta: (_args, value) => changeMeta(value, 'update'),
    },
    limits: changeLimits,
    async execute(args, exec) {
      checkArguments(args)
      const target = await files.resolve(args.file_path, sessionFolder(exec), exec.signal)
      const { version } = await observations.editIntent(exec.agent, target)
      const request = {
        path: args.file_path,
        oldString: args.old_string,
        newString: args.new_string,
        replaceAll: args.replace_all === true,
        ...(args.near_line !== undefined && { nearLine: args.near_line }),
      }
      const { plan, beforeImage, outcome, intended } = await changed({ target, version, request, label: `Bosun: edit ${args.file_path}`, exec })
      observations.observe(exec.agent, target, { version: outcome.version, text: outcome.after })
      return { ...changeFacts({ path: args.file_path, target, outcome, intended, beforeImage }), replacements: plan.lines.length, lines: plan.lines }
    },
    presentCall,
    presentResult,
  }))

  async function changed({ target, version, request, label, exec }: Wanted): Promise<Changed> {
    const isNotebook = isNotebookPath(target.path)
    const notebook = isNotebook ? await needs.notebooks?.find(target) : null
    if (notebook) return intendedAfter(await editOpenNotebook(needs, { notebook, target, version, request, label, exec }))
    const file = await readCurrent(target, exec)
    if (file.version !== version)
      throw await explainStale(needs, { failure: staleVersion(request.path, file.isDirty ? 'has unsaved changes in the editor, made' : 'changed'), target, version, exec })
    const stored = isNotebook ? await editStoredNotebook(needs, { file, target, request, label, exec }) : null
    if (stored !== null) return intendedAfter(stored)
    const plan = planEdit({ ...request, text: file.text })
    if (isNotebook) checkStaysNotebook(file.text, plan)
    const beforeImage = await keepBeforeImage(needs, target, exec)
    const outcome = await files.editText({ target, replacements: plan.replacements, expect: { kind: 'version', version }, label, signal: exec.signal })
    return { plan, beforeImage, outcome, intended: outcome.wasReformatted ? applyEdits(file.text, plan.replacements) : outcome.after }
  }

  async function readCurrent(target: FileTarget, { signal }: BodyExecution): Promise<TextFile> {
    try {
      return await files.readText(target, { maxBytes: MAX_CHANGED_BYTES, signal })
    } catch (error) {
      if (error instanceof FileError && error.code === 'FS_NOT_FOUND') throw staleVersion(target.spelling, 'was deleted', error)
      throw error
    }
  }
}

interface Wanted {
  readonly target: FileTarget
  readonly version: FileVersion
  readonly request: Omit<EditRequest, 'text' | 'within'>
  readonly label: string
  readonly exec: BodyExecution
}

/** What was done, and the text that was meant before the editor's save actions. */
interface Changed extends NotebookChange {
  readonly intended: string
}

/** Its JSON may be edited where no cell holds the text, as long as it stays a notebook. */
function checkStaysNotebook(text: string, { replacements }: EditPlan): void {
  if (cellsOfJson(text) !== null && cellsOfJson(applyEdits(text, replacements)) === null) throw invalid('The file would be no notebook any more after this edit, so nothing was changed. Edit the source of a cell, or write the whole file.')
}

const intendedAfter = (change: NotebookChange): Changed => ({ ...change, intended: change.outcome.after })

function checkArguments({ file_path, old_string, new_string, near_line }: { readonly file_path: string; readonly old_string: string; readonly new_string: string; readonly near_line?: number }): void {
  if (file_path.trim() === '') throw invalid('file_path is blank. Give the path of a file.')
  if (old_string === '') throw invalid('old_string is empty. Give the text to replace; use write to create a file.')
  if (toLf(old_string) === toLf(new_string)) throw invalid('old_string and new_string are the same text, so there is nothing to change. Line ends follow the file.')
  if (near_line !== undefined && near_line < 1) throw invalid(`near_line must be 1 or more, not ${near_line}.`)
}

const invalid = (message: string) => new ToolError('INVALID_ARGS', message)

function sentence({ path, replacements, lines, hunks }: { readonly path: string; readonly replacements: number; readonly lines: readonly number[]; readonly hunks: readonly unknown[] }): string {
  return `Edited ${path} ${replacements === 1 ? `at line ${lines[0] ?? 1}` : `in ${replacements} places`}.${hunks.length === 0 ? '' : ' It now reads:'}`
}
