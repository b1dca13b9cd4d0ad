import type { Clock } from '../../capabilities/clock.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Languages } from '../../capabilities/languages.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import { createLsp } from './lsp.ts'

/** Registers `lsp`, and only where there is an editor with language services. */
export const languageTools = ({ languages, ...needs }: { readonly languages: Languages | null; readonly files: FileSystem; readonly clock: Clock }): Plugin => ({
  name: 'tools-language',
  inject: ['tools', 'systemPrompt'],
  apply(ctx) {
    if (languages === null) return
    ctx.tools.register(createLsp({ ...needs, languages }))
    ctx.systemPrompt.section({ name: 'lsp', order: 112, tools: ['lsp'], text: 'For what a name means, who uses it and what calls it, ask lsp before you search for the text.' })
  },
})
