import { versionOfBytes, type FileVersion } from '../../capabilities/file-system.ts'
import type { Session } from '../../core/session/session.ts'

/** Reads of a log that are tried, from its end. */
const MAX_TRIED_READS = 200

/**
 * The text that a whole read of an earlier run showed, known by its digest: after a resume nothing else remembers it.
 *
 * Shape: undefined when no read of the log showed all of that version, or it is stored in an encoding that the lines do not tell.
 */
export async function textFromLog(session: Session, version: FileVersion): Promise<string | undefined> {
  let tried = 0
  for (const event of session.milestones().toReversed()) {
    if (event.type !== 'tool/result') continue
    const [block] = event.data.message.content[0].content
    const lines = block?.type === 'text' ? wholeRead(block.text) : null
    if (lines === null) continue
    if ((tried += 1) > MAX_TRIED_READS) return undefined
    for (const end of ['\n', '\r\n']) {
      const text = lines.join(end)
      for (const candidate of [`${text}${end}`, text]) if (await isVersion(candidate, version)) return candidate
    }
  }
  return undefined
}

/** The lines of a read that began at the first and went to the last, none of them cut; null for another. */
function wholeRead(text: string): readonly string[] | null {
  const [, body = '', count] = /^<file path="[^"\n]*">\n([^]*)\n\n\(End of file, (\d+) lines?\.[^\n]*\)\n<\/file>$/.exec(text) ?? []
  const lines = body.split('\n')
  if (count === undefined || lines.length !== Number(count)) return null
  const bare = lines.map((line, index) => (line.startsWith(`${index + 1}: `) ? line.slice(`${index + 1}: `.length) : null))
  return bare.every((line) => line !== null) ? bare : null
}

/** With a byte order mark or without. */
async function isVersion(text: string, version: FileVersion): Promise<boolean> {
  const bytes = new TextEncoder().encode(text)
  return (await versionOfBytes(bytes)) === version || (await versionOfBytes(Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes))) === version
}
