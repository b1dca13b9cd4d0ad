import { imageHeader } from '../../base/image-header.ts'
import type { BlobStore } from '../../capabilities/blob-store.ts'
import { FileError, tooLarge, type FileSystem, type FileVersion } from '../../capabilities/file-system.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { PresentedError, ToolError, type BodyExecution, type ToolDefinition } from '../../core/tools/definition.ts'
import type { Observations } from '../../features/observation/service.ts'
import { imageLimits } from '../../protocol/image-limits.ts'
import { sessionFolder } from '../session-folder.ts'
import { presentCall, presentResult } from './read-image.card.ts'
import { splitPath } from './similar-names.ts'

/** A file is there and is no image that a model can be shown. */
export class ImageError extends PresentedError<'INVALID_IMAGE' | 'UNSUPPORTED_CONTENT'> {}

const mediaTypes: ReadonlyMap<string, string> = new Map([
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['jpeg', 'image/jpeg'],
  ['webp', 'image/webp'],
  ['gif', 'image/gif'],
])
const MAX_NAME = 255

export interface ReadImageNeeds {
  readonly files: FileSystem
  readonly blobs: Pick<BlobStore, 'putAttachment'>
  readonly observations: Observations
  /** Whether the model that would see the image takes images; what nobody declares counts as no. */
  readonly takesImages: (exec: BodyExecution) => Promise<boolean>
}

/** `read_image`: show the model an image file. Source: capability specification 6. */
export function createReadImage({ files, blobs, observations, takesImages }: ReadImageNeeds): ToolDefinition {
  return defineTool({
    name: 'read_image',
    description: 'Look at an image file: PNG, JPEG, WebP or GIF.',
    parameters: { file_path: { type: 'string', required: true } },
    output: {
      schema: {
        type: 'object',
        properties: {
          path: { type: 'string', required: true },
          image: {
            type: 'object',
            required: true,
            properties: {
              attachmentId: { type: 'string', required: true },
              mediaType: { type: 'string', required: true },
              bytes: { type: 'integer', required: true },
              width: { type: 'integer', required: true },
              height: { type: 'integer', required: true },
              name: { type: 'string' },
            },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
      render: (_args, { path, image }) => [
        { type: 'text', text: `<image path="${path.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}" type="${image.mediaType}" pixels="${image.width}x${image.height}" bytes="${image.bytes}" />` },
        { type: 'image', attachment: image },
      ],
      presentationMeta: (_args, { image }) => ({ width: image.width, height: image.height, bytes: image.bytes }),
    },
    isConcurrencySafe: () => true,
    async execute({ file_path }, exec) {
      if (file_path.trim() === '') throw new ToolError('INVALID_ARGS', 'file_path is blank. Give the path of an image file.')
      const expected = mediaTypes.get(endingOf(file_path))
      if (expected === undefined) throw new ToolError('INVALID_ARGS', `${file_path} does not end in .png, .jpg, .jpeg, .webp or .gif, so it cannot be shown as an image.`)
      const { agent } = exec
      if (agent === undefined) throw new ToolError('INVALID_ARGS', 'read_image keeps the image with a session, and this call has none.')
      if (!(await takesImages(exec))) throw new ImageError('UNSUPPORTED_CONTENT', 'The model of this session does not take images. Work from what programs say about the file, or ask the person to choose another model.', null)

      const target = await files.resolve(file_path, sessionFolder(exec), exec.signal)
      const maxBytes = Math.min(imageLimits.maxBytes, imageLimits.maxMessageBytes)
      let bytes: Uint8Array
      try {
        const stat = await files.stat(target, exec.signal)
        if (stat.kind === 'file' && stat.size > maxBytes) throw tooLarge(file_path, stat.size, maxBytes)
        bytes = await files.readBytes(target, { maxBytes, signal: exec.signal })
      } catch (error) {
        if (error instanceof FileError && error.code === 'FS_NOT_FOUND') observations.observe(agent, target, 'absent')
        throw error
      }
      const { mediaType, width, height } = checked(file_path, bytes, expected)
      const name = nameOf(file_path)
      const kept = await blobs.putAttachment(agent.id, bytes, { mediaType, ...(name !== '' && { name }) })
      // A version is the digest of the bytes as they are stored, and so is the id of an attachment.
      observations.observe(agent, target, { version: kept.attachmentId as FileVersion })
      return { path: file_path, image: { attachmentId: kept.attachmentId, mediaType, bytes: kept.bytes, width, height, ...(name !== '' && { name }) } }
    },
    presentCall,
    presentResult,
  })
}

function checked(path: string, bytes: Uint8Array, expected: string) {
  const header = imageHeader(bytes)
  if (header === null) throw invalid(`${path} is no image that can be read: its content is none of PNG, JPEG, WebP and GIF, or is cut off.`)
  const { mediaType, width, height } = header
  if (mediaType !== expected) throw invalid(`${path} holds ${kindOf(mediaType)}, which its name does not say. Rename or convert it, then read it again.`)
  if (width * height > imageLimits.maxPixels) throw invalid(`${path} has ${width} × ${height} pixels; at most ${imageLimits.maxPixels / 1e6} million can be shown. Make a smaller copy and read that.`)
  if (Math.max(width, height) > imageLimits.maxSide) throw invalid(`${path} is ${width} × ${height} pixels; its longer side may have ${imageLimits.maxSide}. Make a smaller copy and read that.`)
  return header
}

const invalid = (message: string) => new ImageError('INVALID_IMAGE', message, null)
const kindOf = (mediaType: string): string => mediaType.replace('image/', '').toUpperCase()
const endingOf = (path: string): string => /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
/** The last step of the path, without characters that would break a line, at most 255 long. */
const nameOf = (path: string): string => splitPath(path).name.replaceAll(/[\u0000-\u001f\u007f]/g, '').slice(0, MAX_NAME).toWellFormed()
