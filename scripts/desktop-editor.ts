import { existsSync, realpathSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'

const launchers = process.platform === 'win32' ? ['code.cmd', 'code-insiders.cmd'] : ['code', 'code-insiders']

/**
 * The executable of a desktop VS Code: the one at `path`, else the one behind `code` on PATH.
 *
 * The `code` command only launches the editor and lets go of it; the executable itself stays, so that whoever started
 * it can end it. Undefined when there is none, or no desktop to show it on.
 */
export function findDesktopEditor(path?: string): string | undefined {
  if (path !== undefined) return existsSync(path) ? behindLauncher(path) : undefined
  if (process.platform === 'linux' && !process.env['DISPLAY'] && !process.env['WAYLAND_DISPLAY']) return undefined
  const found = (process.env['PATH'] ?? '')
    .split(delimiter)
    .flatMap((folder) => launchers.map((name) => join(folder, name)))
    // The `code` of a remote terminal reaches the editor it belongs to and cannot start another.
    .find((candidate) => existsSync(candidate) && !realpathSync(candidate).includes('remote-cli'))
  return found === undefined ? undefined : behindLauncher(found)
}

function behindLauncher(path: string): string {
  const real = realpathSync(path)
  if (basename(dirname(real)) !== 'bin') return real
  const above = dirname(dirname(real))
  const name = basename(real, '.cmd')
  const candidates = [
    join(above, name),
    join(above, name === 'code' ? 'Code.exe' : 'Code - Insiders.exe'),
    // On macOS the launcher is Contents/Resources/app/bin/code.
    join(above, '../../MacOS/Electron'),
    join(above, '../../MacOS/Code'),
  ]
  return candidates.find((candidate) => existsSync(candidate)) ?? real
}
