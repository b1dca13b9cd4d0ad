import { imageHeader } from '../../../base/image-header.ts'
import type { BlobStore } from '../../../capabilities/blob-store.ts'
import type { Context } from '../../kernel/plugin.ts'
import type {} from '../../loop/points.ts'
import type {} from '../../model/contract.ts'
import type { Agent } from '../../session/agent.ts'
import type { BodyExecution } from '../definition.ts'
import type { KeepImage } from './result-content.ts'

/** Keeps the images of a call beside the log of its session; null where its model can see none. */
export function createImageKeeper(ctx: Context, blobs: Pick<BlobStore, 'putAttachment'>): (exec: Pick<BodyExecution, 'agent'>) => Promise<KeepImage | null> {
  /** What the model that the next request goes to declares of itself. */
  const takesImages = async (agent: Agent) => {
    const config = ctx.get('agents')?.configurationOf(agent.id)
    const adapter = config && ctx.get('models')?.get(config.provider)
    if (!config || !adapter) return false
    return (await adapter.resolveModel(config.model)).input.includes('image')
  }
  return async ({ agent }) => {
    if (agent === undefined || !(await takesImages(agent))) return null
    return async (bytes, mediaType) => {
      const header = imageHeader(bytes)
      const { attachmentId } = await blobs.putAttachment(agent.id, bytes, { mediaType })
      return { attachmentId, mediaType, bytes: bytes.length, ...(header !== null && { width: header.width, height: header.height }) }
    }
  }
}
