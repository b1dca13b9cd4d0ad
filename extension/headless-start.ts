// The first file of `dist/headless.js`: the program itself is read after Node knows where compiled code is kept, so that a start does not compile it anew.
import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

// `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE` keep their say. A folder that cannot be written costs the saved time, nothing else.
// Where there is no home it stays off: below a folder that takes no new name, such as `/proc`, Node would try for ever to make one.
if (existsSync(homedir())) enableCompileCache(join(cacheFolder(), 'bosun', 'compiled'))
// A bundle of its own, of `headless.ts`.
await import(new URL('./headless-program.js', import.meta.url).href)

/** Where this system keeps what may be deleted at any time; the person's own, so that nobody else can put code there. */
function cacheFolder(): string {
  if (process.platform === 'win32') return process.env['LOCALAPPDATA'] || join(homedir(), 'AppData', 'Local')
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Caches')
  return process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
}
