import type { Decode } from './fit-image.ts'

/** What the browser can draw, turned as its camera said; null for anything else. */
export const decodeImage: Decode = async (bytes) => {
  let bitmap: ImageBitmap
  try {
    bitmap = await createImageBitmap(new Blob([bytes]), { imageOrientation: 'from-image' })
  } catch {
    // The browser's only word for what it cannot draw.
    return null
  }
  return {
    width: bitmap.width,
    height: bitmap.height,
    async encode({ width, height }, kind, quality) {
      const canvas = new OffscreenCanvas(width, height)
      const context = canvas.getContext('2d')
      if (context === null) throw new Error('The browser gives no canvas to draw on.')
      if (kind === 'image/jpeg') {
        // What is see-through would become black.
        context.fillStyle = '#ffffff'
        context.fillRect(0, 0, width, height)
      }
      context.imageSmoothingQuality = 'high'
      context.drawImage(bitmap, 0, 0, width, height)
      const blob = await canvas.convertToBlob({ type: kind, quality })
      return new Uint8Array(await blob.arrayBuffer())
    },
    close: () => bitmap.close(),
  }
}
