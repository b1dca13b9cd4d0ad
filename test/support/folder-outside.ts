import { mkdir, mkdtemp, realpath } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { root } from '../../scripts/root.ts'

/** A fresh folder that is in no folder for temporary files, which a session may write in; the clone itself may stand in one. Whoever asks removes it. */
export async function folderOutside(name: string): Promise<string> {
  const temporary = await Promise.all([tmpdir(), '/tmp', '/private/tmp'].map(real))
  for (const place of [join(root, 'out'), homedir(), '/var/tmp', '/dev/shm']) {
    try {
      await mkdir(place, { recursive: true })
      const path = await realpath(place)
      if (!temporary.some((folder) => path === folder || path.startsWith(folder + sep))) return await mkdtemp(join(path, `bosun-${name}-`))
    } catch {
      // It is not there, or may not be written in: the next may be.
    }
  }
  throw new Error('Every folder that may be written in is one for temporary files. Run the tests where another one is, such as a home folder.')
}

const real = (path: string) => realpath(path).catch(() => path)
