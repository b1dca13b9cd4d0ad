import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import { createGlob, type SearchToolNeeds } from './glob.ts'
import { createGrep } from './grep.ts'

/** Registers `glob` and `grep`. */
export const searchTools = (needs: SearchToolNeeds): Plugin => ({
  name: 'tools-search',
  inject: ['tools', 'systemPrompt'],
  apply(ctx) {
    ctx.tools.register(createGlob(needs))
    ctx.tools.register(createGrep(needs))
    ctx.systemPrompt.section({ name: 'search', order: 103, tools: ['glob', 'grep'], text: 'Find files with glob and text with grep rather than with find or grep in a shell.' })
  },
})
