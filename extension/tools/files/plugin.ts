import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { DocumentText } from '../../capabilities/document-text.ts'
import type { FileSystem } from '../../capabilities/file-system.ts'
import type { Languages } from '../../capabilities/languages.ts'
import type { Notebooks } from '../../capabilities/notebooks.ts'
import type { PictureScaler } from '../../capabilities/picture-scaler.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/observation/service.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/model/contract.ts'
import type { BodyExecution } from '../../core/tools/definition.ts'
import { registerConfinable } from '../register-confinable.ts'
import { createEdit } from './edit.ts'
import { createReadImage } from './read-image.ts'
import { createRead } from './read.ts'
import { createStrReplaceEditor } from './str-replace-editor.ts'
import { createWrite } from './write.ts'

export interface FileToolsNeeds {
  readonly files: FileSystem
  readonly blobs: Pick<BlobStore, 'putBeforeImage' | 'putAttachment'>
  readonly clock: Clock
  readonly documents: DocumentText
  /** Null where no editor is. */
  readonly languages: Pick<Languages, 'ask'> | null
  /** Absent where no editor is. */
  readonly notebooks?: Notebooks
  readonly pictures: PictureScaler
}

/** Registers `read`, `read_image`, `write`, `edit` and `str_replace_editor`. */
export const fileTools = (needs: FileToolsNeeds): Plugin => ({
  name: 'tools-files',
  inject: ['tools', 'observations', 'systemPrompt'],
  apply(ctx) {
    const all = { ...needs, observations: ctx.observations, takesImages }
    for (const tool of [createRead(all), createReadImage(all), createStrReplaceEditor(all)]) ctx.tools.register(tool)
    for (const tool of [createWrite(all), createEdit(all)]) registerConfinable(ctx, tool)
    /** What the model that the next request goes to declares of itself. */
    async function takesImages({ agent }: BodyExecution): Promise<boolean> {
      const config = agent && ctx.get('agents')?.configurationOf(agent.id)
      const adapter = config && ctx.get('models')?.get(config.provider)
      if (!config || !adapter) return false
      const { input } = await adapter.resolveModel(config.model)
      return input.includes('image')
    }
    ctx.systemPrompt.section({ name: 'read', order: 100, tools: ['read'], text: 'Read files with read, not with cat, head or sed in a shell.' })
    ctx.systemPrompt.section({ name: 'write', order: 101, tools: ['write', 'edit'], text: 'Read an existing file before you write or edit it. Prefer edit to write for files that exist.' })
    ctx.systemPrompt.section({
      name: 'edit',
      order: 102,
      tools: ['edit'],
      text: 'When edit says that a file changed, the person or a program changed it: keep their change. Read the file again unless all of the change is shown.',
    })
  },
})
