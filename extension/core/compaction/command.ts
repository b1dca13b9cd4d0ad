import type {} from '../commands/command.ts'
import type { CommandOutcome } from '../commands/command.ts'
import type { Plugin } from '../kernel/plugin.ts'
import type { CompactionOutcome } from './service.ts'

/** `/compact`: make room now. Source: runtime specification 13, 23. */
export const compactCommand: Plugin = {
  name: 'compact-command',
  inject: ['commands', 'compaction'],
  apply(ctx) {
    ctx.commands.register({
      name: 'compact',
      description: 'Replace the older part of this conversation by a summary, to make room.',
      needsIdle: true,
      run: async ({ agent, commandId, signal }) => said(await ctx.compaction.compact(agent, { sourceCommandId: commandId, signal })),
    })
  },
}

function said(outcome: CompactionOutcome): CommandOutcome {
  switch (outcome.kind) {
    case 'nothing':
      return { text: 'There is nothing to compact yet.' }
    case 'pruned':
      return { text: 'Old tool output was shortened; there was nothing to summarize.' }
    case 'summarised':
      return { text: 'The older part of the conversation was replaced by a summary.', sourceEventSeq: outcome.summarySeq }
  }
}
