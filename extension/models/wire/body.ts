import { joinBytes } from '../../base/join-bytes.ts'
import { wholeText } from './whole-text.ts'

/** A piece of a body: text of this one request, or what was written before, in UTF-8. A piece begins and ends with a whole character. */
export type BodyPiece = string | Uint8Array<ArrayBuffer>

const encoder = new TextEncoder()

/** JSON as it is sent, to be kept and sent again: it is written and encoded once, however many requests it goes into. */
export const writtenJson = (value: unknown): Uint8Array<ArrayBuffer> => bytesOf(JSON.stringify(value))

/** With commas between them. */
export const listed = (pieces: readonly BodyPiece[]): readonly BodyPiece[] => pieces.flatMap((piece, index) => (index === 0 ? [piece] : [comma, piece]))

const comma = encoder.encode(',')

/**
 * The bytes of a body.
 *
 * Of a long talk the most part stands there already, and is copied: nothing is read, written or encoded again.
 */
export const bodyOf = (pieces: readonly BodyPiece[]): Uint8Array<ArrayBuffer> => joinBytes(pieces.map((piece) => (typeof piece === 'string' ? bytesOf(piece) : piece)))

const bytesOf = (json: string) => encoder.encode(wholeText(json))
