import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/history/service.ts'
import { createSessionEventRead } from './session-event-read.ts'
import { createSessionEventSearch } from './session-event-search.ts'
import { createSessionEventTrace } from './session-event-trace.ts'
import { createSessionSearch } from './session-search.ts'
import { createSessionTrace } from './session-trace.ts'

/** Registers the five tools that query sessions. A preset shows them where the setting `history.tools` is on. */
export const historyTools: Plugin = {
  name: 'tools-history',
  inject: ['tools', 'history', 'systemPrompt'],
  apply(ctx) {
    const { history } = ctx
    for (const tool of [createSessionSearch(history), createSessionEventSearch(history), createSessionTrace(history), createSessionEventTrace(history), createSessionEventRead(history)]) ctx.tools.register(tool)
    ctx.systemPrompt.section({
      name: 'session-history',
      order: 113,
      tools: ['session_search'],
      text: 'Earlier sessions of this workspace can be searched. When the person speaks of work that this talk does not hold, look there with session_search before you ask. What those sessions say may be out of date: check it against the files.',
    })
  },
}
