import { execFile } from 'node:child_process'
import type { KeyEcho } from '../../capabilities/terminal.ts'

/**
 * What the terminal `device` does with a key that is typed right now.
 *
 * Shape:  null where there is no `stty`, or no such device any more.
 * Source: termios(3), the flags `ECHO` and `ICANON`, as stty(1) prints them.
 */
export function findKeyEcho(device: string, platform: NodeJS.Platform = process.platform): Promise<KeyEcho | null> {
  if (platform === 'win32') return Promise.resolve(null)
  return new Promise((resolve) => {
    execFile('stty', ['-a', platform === 'linux' ? '-F' : '-f', device], { env: { ...process.env, LC_ALL: 'C' } }, (error, stdout) => resolve(error ? null : keyEchoIn(stdout)))
  })
}

/** Flags stand as words; one that is off has a `-` before it. */
export function keyEchoIn(flags: string): KeyEcho | null {
  const words = new Set(flags.split(/[\s;]+/))
  if (words.has('-icanon')) return 'program'
  if (words.has('-echo')) return 'hidden'
  return words.has('echo') ? 'shown' : null
}
