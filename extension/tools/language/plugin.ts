import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import { LanguageError, type Languages } from '../../capabilities/languages.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/policy/permissions.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/observation/service.ts'
import { createLsp } from './lsp.ts'
import { withToldFailures } from './told-failures.ts'

/** Registers `lsp`, and only where there is somebody who knows languages. */
export const languageTools = ({ languages, ...needs }: { readonly languages: Languages | null; readonly files: FileSystem; readonly blobs: BlobStore; readonly clock: Clock }): Plugin => ({
  name: 'tools-language',
  inject: ['tools', 'systemPrompt', 'permissions', 'observations'],
  apply(ctx) {
    if (languages === null) {
      ctx.tools.declareAbsent({ needs: 'Language services: an editor, or servers in the setting bosun.languageServers.' }, () => createLsp({ ...needs, languages: noLanguages, observations: ctx.observations }).tool)
      return
    }
    const { tool, plan } = createLsp({ ...needs, languages: withToldFailures(languages), observations: ctx.observations })
    ctx.effect(ctx.permissions.planEdits('lsp', plan))
    ctx.tools.register(tool)
    ctx.systemPrompt.section({
      name: 'lsp',
      order: 112,
      tools: ['lsp'],
      text: 'For what a name means, who uses it and what calls it, ask lsp before you search for the text; rename with lsp, not by editing each place.',
    })
  },
})

/** Nobody who answers. */
const noLanguages: Languages = { ask: () => Promise.reject(new LanguageError('LSP_UNAVAILABLE', 'There are no language services here. Search for the text.')), rename: async () => null, codeActions: async () => [], codeActionEdit: async () => null }
