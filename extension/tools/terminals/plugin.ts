import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Jobs } from '../../features/jobs/service.ts'
import type { Terminals } from '../../features/terminals/service.ts'
import { createTerminalClose } from './terminal-close.ts'
import { createTerminalList } from './terminal-list.ts'
import { createTerminalOpen } from './terminal-open.ts'
import { createTerminalRead } from './terminal-read.ts'
import { createTerminalSend } from './terminal-send.ts'
import { createTerminalSignal } from './terminal-signal.ts'

export interface TerminalToolsNeeds {
  readonly files: Pick<FileSystem, 'resolve' | 'stat'>
  /** The person's own terminals may be asked for. Read once. */
  readonly offersAdoption: () => boolean
}

interface MakerNeeds {
  readonly terminals: Terminals
  readonly jobs: Jobs
  readonly files: TerminalToolsNeeds['files']
  readonly offersAdoption: boolean
}
const makers: readonly ((needs: MakerNeeds) => ToolDefinition)[] = [
  createTerminalOpen,
  createTerminalSend,
  ({ terminals }) => createTerminalRead(terminals),
  ({ terminals }) => createTerminalSignal(terminals),
  ({ terminals }) => createTerminalClose(terminals),
  ({ terminals }) => createTerminalList(terminals),
]

/** Registers the six terminal tools. Source: capability specification 16. */
export const terminalTools = ({ files, offersAdoption }: TerminalToolsNeeds): Plugin => ({
  name: 'tools-terminals',
  inject: ['tools', 'terminals', 'jobs', 'systemPrompt'],
  apply(ctx) {
    const { terminals, jobs } = ctx
    for (const make of makers) ctx.tools.register(make({ terminals, jobs, files, offersAdoption: offersAdoption() }))
    ctx.systemPrompt.section({
      name: 'terminals',
      order: 106,
      tools: ['terminal_open'],
      text: 'Use a terminal only for programs that need one or that you talk to in turns. A terminal keeps its folder and variables. After [wait: timeout] or [wait: inferred_idle] the program may still run: look again with terminal_read, or wait with an empty terminal_send without submit.',
    })
  },
})

/** The same where no terminal can be opened, for the reason in `problem`: declared, so that they can be listed, and never there. */
export const absentTerminalTools = ({ problem, files, terminals }: Pick<TerminalToolsNeeds, 'files'> & { readonly problem: string; readonly terminals: Terminals }): Plugin => ({
  name: 'tools-terminals',
  inject: ['tools', 'jobs'],
  apply(ctx) {
    for (const make of makers) ctx.tools.declareAbsent({ needs: `Terminals, which cannot be opened here. ${problem}` }, () => make({ terminals, jobs: ctx.jobs, files, offersAdoption: false }))
  },
})
