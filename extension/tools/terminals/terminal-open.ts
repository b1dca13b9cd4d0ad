import { isUri } from '../../base/is-uri.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Terminals } from '../../features/terminals/service.ts'
import { sessionFolder } from '../session-folder.ts'
import { withoutEscalation } from '../without-escalation.ts'
import { boundResult, resultLimit } from './bounds.ts'
import { terminalProperties } from './terminal-schema.ts'

export const MAX_NAME_CHARS = 80

const parameters = ({ types }: Pick<Terminals, 'types'>) =>
  ({
    type: { type: 'string', required: true, description: `One of ${types.join(', ')}.` },
    name: { type: 'string', description: 'A name of your choice.' },
    cwd: { type: 'string', description: 'Default: the session’s folder.' },
  }) as const
const adoptParameter = { adopt: { type: 'string', description: 'Id of a terminal of the person’s, to ask them for instead of opening one.' } } as const

/** `terminal_open`: a shell at a terminal of its own. Source: capability specification 16. */
export const createTerminalOpen = ({ terminals, files, offersAdoption }: { readonly terminals: Pick<Terminals, 'open' | 'adopt' | 'types' | 'maxTerminals'>; readonly files: Pick<FileSystem, 'resolve' | 'stat'>; readonly offersAdoption: boolean }): ToolDefinition =>
  withoutEscalation(defineTool({
    name: 'terminal_open',
    description: 'Open a terminal that stays: a shell whose programs can be talked to in turns.',
    // Typed as if the last one were there: where it is not declared, a call that sends it all the same is refused below.
    parameters: offersAdoption ? { ...parameters(terminals), ...adoptParameter } : (parameters(terminals) as ReturnType<typeof parameters> & typeof adoptParameter),
    output: {
      schema: { type: 'object', properties: { ...terminalProperties, motd: { type: 'string', required: true } }, additionalProperties: false },
      render: (_args, { sessionId, type, name, motd, isAdopted }) => [
        { type: 'text', text: isAdopted ? `You have the person’s terminal as ${sessionId} [${type}] — ${name}. You see commands that start there from now on, nothing from before; signals are typed keys; a full-screen program may look distorted. terminal_close gives it back.` : `Opened terminal ${sessionId} [${type}]${name === undefined ? '' : ` — ${name}`}.\n${motd === '' ? '(no output yet)' : motd}` },
      ],
    },
    async execute({ type, name, cwd, adopt }, exec) {
      if (adopt !== undefined && !offersAdoption) throw new ToolError('INVALID_ARGS', 'Terminals of the person cannot be asked for here. Leave adopt out.')
      if (type.trim() === '') throw new ToolError('INVALID_ARGS', `type is blank. Give one of ${terminals.types.join(', ')}.`)
      if (name !== undefined && (name.trim() === '' || name.length > MAX_NAME_CHARS)) throw new ToolError('INVALID_ARGS', `name must have 1 to ${MAX_NAME_CHARS} characters. Leave it out for none.`)
      if (adopt !== undefined) return terminals.adopt(exec.agent, adopt, name)
      const target = await files.resolve(cwd ?? '.', sessionFolder(exec), exec.signal)
      const shown = cwd ?? target.path
      if (isUri(target.path)) throw new ToolError('INVALID_ARGS', `The folder ${shown} is not on this machine’s disk, so no terminal can be opened there.`)
      if (!target.exists || (await files.stat(target, exec.signal)).kind !== 'directory') throw new ToolError('INVALID_ARGS', `The folder ${shown} ${target.exists ? 'is not a folder' : 'does not exist'}. Leave cwd out for the session’s folder.`)
      return terminals.open(exec.agent, { type, cwd: target.path, ...(name !== undefined && { name }) })
    },
    limits: [resultLimit, { of: 'terminals of a session', max: terminals.maxTerminals, unit: 'items' }, { of: 'name', max: MAX_NAME_CHARS, unit: 'characters' }],
    finalizeContent: boundResult,
    presentCall: ({ type, name, adopt }) => {
      const title = adopt !== undefined ? `Ask for your terminal ${name ?? adopt}` : name === undefined ? `Open a ${type} terminal` : `Open a ${type} terminal: ${name}`
      const doneTitle = adopt !== undefined ? `Got your terminal ${name ?? adopt}` : title.replace('Open', 'Opened')
      return { card: 'generic', title, doneTitle, kind: 'execute' }
    },
  }))
