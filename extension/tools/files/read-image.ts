import { imageHeader, isWholeImage, type ImageHeader } from '../../base/image-header.ts'
import type { BlobStore } from '../../capabilities/blob-store.ts'
import { FileError, tooLarge, versionOfBytes, type FileSystem, type FileTarget } from '../../capabilities/file-system.ts'
import { PictureError, type PictureScaler, type ScaledPicture } from '../../capabilities/picture-scaler.ts'
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
/** Bytes of a file that a smaller copy is made of. */
const MAX_SOURCE_BYTES = 32 * 1024 * 1024
const maxBytes = Math.min(imageLimits.maxBytes, imageLimits.maxMessageBytes)

export interface ReadImageNeeds {
  readonly files: FileSystem
  readonly blobs: Pick<BlobStore, 'putAttachment'>
  readonly observations: Observations
  readonly pictures: PictureScaler
  /** Whether the model that would see the image takes images; what nobody declares counts as no. */
  readonly takesImages: (exec: BodyExecution) => Promise<boolean>
}

/** `read_image`: show the model an image file. Source: capability specification 6. */
export function createReadImage({ files, blobs, observations, pictures, takesImages }: ReadImageNeeds): ToolDefinition {
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
          scaledFrom: {
            type: 'object',
            properties: { width: { type: 'integer', required: true }, height: { type: 'integer', required: true }, bytes: { type: 'integer', required: true } },
            additionalProperties: false,
            description: 'The file, when the image is a smaller copy of it.',
          },
        },
        additionalProperties: false,
      },
      render: (_args, { path, image, scaledFrom }) => [
        { type: 'text', text: `<image path="${path.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}" type="${image.mediaType}" pixels="${image.width}x${image.height}" bytes="${image.bytes}"${scaledFrom === undefined ? '' : ` scaled-from="${scaledFrom.width}x${scaledFrom.height}" factor="${(image.width / scaledFrom.width).toFixed(4)}"`} />` },
        { type: 'image', attachment: image },
      ],
      presentationMeta: (_args, { image }) => ({ width: image.width, height: image.height, bytes: image.bytes }),
    },
    limits: [
      { of: 'the file', max: MAX_SOURCE_BYTES, unit: 'bytes' },
      { of: 'the image as it is shown', max: maxBytes, unit: 'bytes' },
      { of: 'a side as it is shown', max: imageLimits.maxSide, unit: 'pixels' },
      { of: 'the whole image', max: imageLimits.maxPixels, unit: 'pixels' },
      { of: 'images of a message', max: imageLimits.maxImages, unit: 'items' },
      { of: 'all images of a message', max: imageLimits.maxMessageBytes, unit: 'bytes' },
    ],
    isConcurrencySafe: () => true,
    async execute({ file_path }, exec) {
      if (file_path.trim() === '') throw new ToolError('INVALID_ARGS', 'file_path is blank. Give the path of an image file.')
      const expected = mediaTypes.get(endingOf(file_path))
      if (expected === undefined) throw new ToolError('INVALID_ARGS', `${file_path} does not end in .png, .jpg, .jpeg, .webp or .gif, so it cannot be shown as an image.${endingOf(file_path) === 'svg' ? ' SVG is text: use read.' : ''}`)
      const { agent } = exec
      if (agent === undefined) throw new ToolError('INVALID_ARGS', 'read_image keeps the image with a session, and this call has none.')
      if (!(await takesImages(exec))) throw new ImageError('UNSUPPORTED_CONTENT', 'The model of this session does not take images. Work from what programs say about the file, or ask the person to choose another model.', null)

      const target = await files.resolve(file_path, sessionFolder(exec), exec.signal)
      const bytes = await source(target, exec)
      const header = checked(file_path, bytes, expected)
      const fits = Math.max(header.width, header.height) <= imageLimits.maxSide && bytes.length <= maxBytes
      const shown = fits ? { ...header, bytes } : await scaled(file_path, bytes, header, exec)
      const name = nameOf(file_path)
      const kept = await blobs.putAttachment(agent.id, shown.bytes, { mediaType: shown.mediaType, ...(name !== '' && { name }) })
      observations.observe(agent, target, { version: await versionOfBytes(Uint8Array.from(bytes)) })
      return {
        path: file_path,
        image: { attachmentId: kept.attachmentId, mediaType: shown.mediaType, bytes: kept.bytes, width: shown.width, height: shown.height, ...(name !== '' && { name }) },
        ...(!fits && { scaledFrom: { width: header.width, height: header.height, bytes: bytes.length } }),
      }
    },
    presentCall,
    presentResult,
  })

  async function source(target: FileTarget, exec: BodyExecution): Promise<Uint8Array> {
    try {
      const stat = await files.stat(target, exec.signal)
      if (stat.kind === 'file' && stat.size > MAX_SOURCE_BYTES) throw tooLarge(target.spelling, stat.size, MAX_SOURCE_BYTES)
      return await files.readBytes(target, { maxBytes: MAX_SOURCE_BYTES, signal: exec.signal })
    } catch (error) {
      if (error instanceof FileError && error.code === 'FS_NOT_FOUND') observations.observe(exec.agent, target, 'absent')
      throw error
    }
  }

  /** A smaller copy for a model that takes no larger ones. */
  async function scaled(path: string, bytes: Uint8Array, { width, height }: ImageHeader, { signal }: BodyExecution): Promise<ScaledPicture> {
    try {
      return await pictures.fit(bytes, { maxSide: imageLimits.maxSide, maxBytes }, signal)
    } catch (error) {
      if (!(error instanceof PictureError) || error.code === 'PICTURE_ABORTED') throw error
      if (bytes.length > maxBytes) throw tooLarge(path, bytes.length, maxBytes)
      throw invalid(`${path} is ${width} × ${height} pixels; its longer side may have ${imageLimits.maxSide}, and no smaller copy could be made: ${error.message}`)
    }
  }
}

function checked(path: string, bytes: Uint8Array, expected: string): ImageHeader {
  const header = imageHeader(bytes)
  if (header === null) throw invalid(`${path} is no image that can be read: its content is none of PNG, JPEG, WebP and GIF, or is cut off.`)
  const { mediaType, width, height } = header
  if (mediaType !== expected) throw invalid(`${path} holds ${kindOf(mediaType)}, which its name does not say. Rename or convert it, then read it again.`)
  if (width * height > imageLimits.maxPixels) throw invalid(`${path} has ${width} × ${height} pixels; at most ${imageLimits.maxPixels / 1e6} million can be shown. Make a smaller copy and read that.`)
  if (!isWholeImage(bytes, header)) throw invalid(`${path} is cut off before its end. Get the whole file, then read it again.`)
  return header
}

const invalid = (message: string) => new ImageError('INVALID_IMAGE', message, null)
const kindOf = (mediaType: string): string => mediaType.replace('image/', '').toUpperCase()
const endingOf = (path: string): string => /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
/** The last step of the path, without characters that would break a line, at most 255 long. */
const nameOf = (path: string): string => splitPath(path).name.replaceAll(/[\u0000-\u001f\u007f]/g, '').slice(0, MAX_NAME).toWellFormed()
