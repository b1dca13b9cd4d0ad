import { describe, expect, it } from 'vitest'
import { imageHeader } from '../../../../extension/base/image-header.ts'
import { createPictureScaler } from '../../../../extension/platform/node/picture-scaler.ts'
import { wholePng } from '../../../support/whole-png.ts'

const entry = new URL('../../../../extension/platform/node/scale-picture-main.ts', import.meta.url)
const fit = (bytes: Uint8Array, limits = { maxSide: 100, maxBytes: 100_000 }, signal = new AbortController().signal) => createPictureScaler({ entry }).fit(bytes, limits, signal)

describe('a picture', () => {
  it('is made as small as its longer side may be, in its proportions', async () => {
    const { bytes, ...facts } = await fit(wholePng(400, 200))
    expect(facts).toEqual({ mediaType: 'image/png', width: 100, height: 50 })
    expect(imageHeader(bytes)).toEqual({ mediaType: 'image/png', width: 100, height: 50 })
  })
  it('that is small enough keeps its size', async () => expect(await fit(wholePng(30, 20))).toMatchObject({ width: 30, height: 20 }))
  it('that would have too many bytes becomes a JPEG, or smaller', async () => {
    const { bytes, mediaType } = await fit(wholePng(300, 300, 'noise'), { maxSide: 200, maxBytes: 20_000 })
    expect([mediaType, bytes.length <= 20_000, imageHeader(bytes)?.mediaType]).toEqual(['image/jpeg', true, 'image/jpeg'])
  })
  it('that was a JPEG stays one', async () => {
    const { bytes } = await fit(wholePng(300, 300, 'noise'), { maxSide: 200, maxBytes: 20_000 })
    expect(await fit(bytes, { maxSide: 50, maxBytes: 100_000 })).toMatchObject({ mediaType: 'image/jpeg', width: 50 })
  })
  it.each([
    ['cut off', wholePng(300, 300, 'noise').slice(0, 5_000)],
    ['none at all', Buffer.from('nothing')],
  ])('%s is refused', async (_name, bytes) => expect(fit(bytes)).rejects.toMatchObject({ code: 'PICTURE_DAMAGED' }))
  it('is left with the call or its time', async () => {
    await expect(fit(wholePng(30, 20), undefined, AbortSignal.abort())).rejects.toMatchObject({ code: 'PICTURE_ABORTED' })
    await expect(createPictureScaler({ entry, timeoutMs: 1 }).fit(wholePng(30, 20), { maxSide: 10, maxBytes: 1_000 }, new AbortController().signal)).rejects.toMatchObject({ code: 'PICTURE_TIMEOUT' })
  })
})
