import { execFile } from 'node:child_process'
import { readdir, readFile, readlink } from 'node:fs/promises'
import type { Foreground } from '../../capabilities/terminal.ts'

/**
 * Who has the keyboard of the terminal that `leader` was started at.
 *
 * Linux tells which system call each program waits in, so waiting for keys is proven there; macOS tells the group only.
 * Source: proc(5), `/proc/pid/stat` field `tpgid` and `/proc/pid/syscall`; ps(1), `tpgid`.
 */
export async function findForeground(leader: number, platform: NodeJS.Platform = process.platform): Promise<Foreground> {
  if (platform === 'linux') return linuxForeground(leader)
  if (platform === 'win32') return unknown
  const group = await groupByPs(leader)
  return { group, isShell: group === null ? null : group === leader, isReading: null }
}

const unknown: Foreground = { group: null, isShell: null, isReading: null }

async function linuxForeground(leader: number): Promise<Foreground> {
  const group = (await statOf(leader))?.foreground ?? -1
  if (group <= 0) return unknown
  const pids = group === leader ? [leader] : await membersOf(group)
  const states = await Promise.all(pids.map(isReadingTerminal))
  const isReading = states.includes(true) ? true : states.includes(null) ? null : false
  return { group, isShell: group === leader, isReading }
}

/** The program's name stands in parentheses and may hold any character. */
async function statOf(pid: number): Promise<{ readonly group: number; readonly foreground: number } | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return group === undefined ? null : { group: Number(group), foreground: Number(foreground) }
}

async function membersOf(group: number): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number)
  const stats = await Promise.all(pids.map(statOf))
  return pids.filter((_pid, index) => stats[index]?.group === group)
}

const calls = process.arch === 'arm64' ? { read: 63, select: [72] } : { read: 0, select: [23, 270] }

const isReadingTerminal = (pid: number) => isReadingFrom(pid, isTerminal)

/**
 * Whether a program waits to read from a descriptor that `isMeant`, as far as its system call tells.
 *
 * Shape: null where the system does not let us look, as for a program of another user.
 */
export async function isReadingFrom(pid: number, isMeant: (pid: number, descriptor: number) => Promise<boolean>): Promise<boolean | null> {
  const line = await readFile(`/proc/${pid}/syscall`, 'latin1').catch(() => null)
  if (line === null) return null
  const [call, first] = line.split(' ')
  if (call === undefined || first === undefined) return false
  const argument = Number(first)
  if (Number(call) === calls.read) return isMeant(pid, argument)
  // Line editors wait for standard input alone with `select`, whose first argument is the highest descriptor plus one.
  return calls.select.includes(Number(call)) && argument === 1 && isMeant(pid, 0)
}

export const isTerminal = async (pid: number, descriptor: number): Promise<boolean> =>
  /^\/dev\/(pts\/\d+|tty)/.test(await readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => ''))

function groupByPs(leader: number): Promise<number | null> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'tpgid=', '-p', String(leader)], (_error, stdout) => {
      const group = Number(stdout.trim())
      resolve(group > 0 ? group : null)
    })
  })
}
