import { toLf } from '../../base/encoding.ts'
import { FileError, readonlyFile, notRegular, type ChangeOutcome, type FileStat, type FileTarget, type WriteChange } from '../../capabilities/file-system.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type BodyExecution, type ToolDefinition } from '../../core/tools/definition.ts'
import { sessionFolder } from '../session-folder.ts'
import { withoutEscalation } from '../without-escalation.ts'
import { changeFacts, changeLimits, changeMeta, changeNotes, changeProperties, keepBeforeImage, type FileToolNeeds } from './file-change.ts'
import { explainStale } from './explain-stale.ts'
import { presentCall, presentResult } from './write.card.ts'

/** `write`: create a file or replace all of it. Source: capability specification 7. */
export function createWrite(needs: FileToolNeeds): ToolDefinition {
  const { files, observations } = needs
  return withoutEscalation(defineTool({
    name: 'write',
    description: 'Create a file, or replace a whole one that you have read. Folders are made. To change a part, use edit.',
    parameters: { file_path: { type: 'string', required: true }, content: { type: 'string', required: true } },
    output: {
      schema: {
        type: 'object',
        properties: { operation: { type: 'string', enum: ['create', 'update'], required: true }, ...changeProperties, keepsCrlf: { type: 'boolean', const: true }, addsLineEnd: { type: 'boolean', const: true } },
        additionalProperties: false,
      },
      render: (_args, value) => [
        {
          type: 'text',
          text: [
            value.operation === 'create' ? `Created ${value.path}.` : `Replaced the content of ${value.path}.`,
            ...(value.addsLineEnd ? ['A line end was added at its end, as the settings of the workspace ask.'] : []),
            ...(value.keepsCrlf ? ['Its lines end in CRLF, as they did before.'] : []),
            ...changeNotes(value),
          ].join('\n'),
        },
      ],
      presentationMeta: (_args, value) => changeMeta(value, value.operation),
    },
    limits: changeLimits,
    async execute({ file_path, content }, exec) {
      if (file_path.trim() === '') throw new ToolError('INVALID_ARGS', 'file_path is blank. Give the path of a file.')
      const target = await files.resolve(file_path, sessionFolder(exec), exec.signal)
      const stat = await statOf(target, exec)
      if (stat !== null && stat.kind !== 'file') throw notRegular(file_path, stat.kind)
      if (stat?.isReadonly === true) throw readonlyFile(file_path)
      const expect = await observations.writeIntent(exec.agent, target, stat)
      const beforeImage = await keepBeforeImage(needs, target, exec)
      const outcome = await published({ target, text: content, expect, label: `Bosun: write ${file_path}`, signal: exec.signal }, exec)
      observations.observe(exec.agent, target, { version: outcome.version, text: outcome.after })
      const operation: 'create' | 'update' = stat === null ? 'create' : 'update'
      const keepsCrlf = operation === 'update' && outcome.form.eol === 'crlf' && !content.includes('\r\n')
      const addsLineEnd = operation === 'create' && !outcome.wasReformatted && toLf(outcome.after) === `${toLf(content)}\n`
      return { operation, ...(keepsCrlf && { keepsCrlf }), ...(addsLineEnd && { addsLineEnd }), ...changeFacts({ path: file_path, target, outcome, intended: toLf(content), beforeImage }) }
    },
    presentCall,
    presentResult,
  }))

  async function published(change: WriteChange, exec: BodyExecution): Promise<ChangeOutcome> {
    try {
      return await files.writeText(change)
    } catch (error) {
      const { expect, target } = change
      if (!(error instanceof FileError && error.code === 'FS_STALE_VERSION') || expect.kind === 'absent') throw error
      throw await explainStale(needs, { failure: error, target, version: expect.version, exec })
    }
  }

  /** Null when nothing is there. A link to nothing is left to the file system, which refuses it. */
  async function statOf(target: FileTarget, { signal }: BodyExecution): Promise<FileStat | null> {
    if (!target.exists) return null
    try {
      return await files.stat(target, signal)
    } catch (error) {
      if (error instanceof FileError && error.code === 'FS_NOT_FOUND') return null
      throw error
    }
  }
}
