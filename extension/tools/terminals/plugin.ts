import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/jobs/service.ts'
import type {} from '../../features/terminals/service.ts'
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

/** Registers the six terminal tools. Source: capability specification 16. */
export const terminalTools = ({ files, offersAdoption }: TerminalToolsNeeds): Plugin => ({
  name: 'tools-terminals',
  inject: ['tools', 'terminals', 'jobs', 'systemPrompt'],
  apply(ctx) {
    const { terminals, jobs } = ctx
    for (const tool of [
      createTerminalOpen({ terminals, files, offersAdoption: offersAdoption() }),
      createTerminalSend({ terminals, jobs }),
      createTerminalRead(terminals),
      createTerminalSignal(terminals),
      createTerminalClose(terminals),
      createTerminalList(terminals),
    ])
      ctx.tools.register(tool)
    ctx.systemPrompt.section({
      name: 'terminals',
      order: 106,
      tools: ['terminal_open'],
      text: 'Use a terminal only for programs that need one or that you talk to in turns. A terminal keeps its folder and variables. After [wait: timeout] or [wait: inferred_idle] the program may still run: look again with terminal_read, or wait with an empty terminal_send without submit.',
    })
  },
})
