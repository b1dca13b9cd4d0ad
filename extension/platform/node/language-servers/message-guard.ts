/** Bytes of one message of a server. Answers are a few MB at most; what is larger would only fill the memory. */
export const MAX_MESSAGE_BYTES = 64 * 1024 * 1024
/** Bytes of what stands before a message. */
const MAX_HEAD_BYTES = 64 * 1024

/**
 * Watches the stream of a server for messages that no memory should hold, before they are gathered.
 *
 * Shape:  a function of the next bytes; words about what is too much, or null.
 * Source: Language Server Protocol 3.17, "Base Protocol". What is none of it is left for the reader to find.
 */
export function createMessageGuard(): (chunk: Uint8Array) => string | null {
  let head = Buffer.alloc(0)
  let bodyLeft = 0
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (bodyLeft > 0) {
        const taken = Math.min(bodyLeft, chunk.length - at)
        bodyLeft -= taken
        at += taken
        continue
      }
      head = Buffer.concat([head, chunk.subarray(at)])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return head.length > MAX_HEAD_BYTES ? `It sent ${head.length} bytes that begin no message` : null
      const said = /content-length: *(\d+)/i.exec(head.subarray(0, end).toString('latin1'))?.[1]
      at = chunk.length - (head.length - end - 4)
      head = Buffer.alloc(0)
      bodyLeft = Number(said ?? 0)
      if (bodyLeft > MAX_MESSAGE_BYTES) return `It sent a message of ${said} bytes, and at most ${MAX_MESSAGE_BYTES} are taken`
    }
    return null
  }
}
