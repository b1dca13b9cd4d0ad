import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/**
 * All bytes of a plain file.
 *
 * A pipe or a device in its place is refused at once: reading one would wait for a writer, or never end.
 * Errors: in words when it is no plain file or larger than `maxBytes`; else what the file system says.
 */
export async function readPlainFile(path: string, maxBytes: number): Promise<Uint8Array> {
  // Without waiting for whoever writes into a pipe. Windows knows no such flag and no such pipes.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const facts = await handle.stat()
    if (!facts.isFile()) throw new TypeError(`it is ${facts.isDirectory() ? 'a folder' : 'a pipe or a device'}, not a file`)
    if (facts.size > maxBytes) throw new RangeError(`it has ${facts.size} bytes, more than the ${maxBytes} that are read`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/** The same as UTF-8 text, without a byte order mark. */
export const readPlainText = async (path: string, maxBytes: number): Promise<string> => new TextDecoder().decode(await readPlainFile(path, maxBytes))
