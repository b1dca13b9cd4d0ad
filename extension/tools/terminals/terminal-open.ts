import type { FileSystem } from '../../capabilities/file-system.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Terminals } from '../../features/terminals/service.ts'
import { refuseEscalation, sessionFolder } from '../session-folder.ts'
import { boundResult } from './bounds.ts'
import { terminalProperties } from './terminal-schema.ts'

export const MAX_NAME_CHARS = 80

/** `terminal_open`: a shell at a terminal of its own. Source: capability specification 16. */
export const createTerminalOpen = ({ terminals, files }: { readonly terminals: Pick<Terminals, 'open' | 'types'>; readonly files: Pick<FileSystem, 'resolve' | 'stat'> }): ToolDefinition =>
  defineTool({
    name: 'terminal_open',
    description: 'Open a terminal that stays: a shell whose programs can be talked to in turns.',
    parameters: {
      type: { type: 'string', required: true, description: `One of ${terminals.types.join(', ')}.` },
      name: { type: 'string', description: 'A name of your choice.' },
      cwd: { type: 'string', description: 'Default: the session’s folder.' },
    },
    output: {
      schema: { type: 'object', properties: { ...terminalProperties, motd: { type: 'string', required: true } }, additionalProperties: false },
      render: (_args, { sessionId, type, name, motd }) => [
        { type: 'text', text: `Opened terminal ${sessionId} [${type}]${name === undefined ? '' : ` — ${name}`}.\n${motd === '' ? '(no output yet)' : motd}` },
      ],
    },
    async execute({ type, name, cwd }, exec) {
      if (type.trim() === '') throw new ToolError('INVALID_ARGS', `type is blank. Give one of ${terminals.types.join(', ')}.`)
      if (name !== undefined && (name.trim() === '' || name.length > MAX_NAME_CHARS)) throw new ToolError('INVALID_ARGS', `name must have 1 to ${MAX_NAME_CHARS} characters. Leave it out for none.`)
      refuseEscalation(exec)
      const target = await files.resolve(cwd ?? '.', sessionFolder(exec), exec.signal)
      const shown = cwd ?? target.path
      if (/^[a-z][a-z0-9+.-]+:\/\//i.test(target.path)) throw new ToolError('INVALID_ARGS', `The folder ${shown} is not on this machine’s disk, so no terminal can be opened there.`)
      if (!target.exists || (await files.stat(target, exec.signal)).kind !== 'directory') throw new ToolError('INVALID_ARGS', `The folder ${shown} ${target.exists ? 'is not a folder' : 'does not exist'}. Leave cwd out for the session’s folder.`)
      return terminals.open(exec.agent, { type, cwd: target.path, ...(name !== undefined && { name }) })
    },
    finalizeContent: boundResult,
    presentCall: ({ type, name }) => ({ card: 'generic', title: name === undefined ? `Open a ${type} terminal` : `Open a ${type} terminal: ${name}`, kind: 'execute' }),
  })
