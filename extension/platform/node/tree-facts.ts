import { execFile } from 'node:child_process'
import { readdir, readFile, readlink } from 'node:fs/promises'
import type { TreeFacts } from '../../capabilities/process.ts'
import { isOverWithin, livingMembers, type ProcessTree } from './process-tree.ts'
import { isReadingFrom, isTerminal } from './terminal-foreground.ts'

/**
 * What the system knows of the tree that `leader` began.
 *
 * Linux tells of system calls and sockets; elsewhere nothing is known.
 * Source: proc(5), `/proc/pid/syscall`, `/proc/pid/fd`, `/proc/pid/net/tcp`.
 */
export async function inspectTree(leader: number, platform: NodeJS.Platform = process.platform): Promise<TreeFacts> {
  if (platform !== 'linux') return { isReadingInput: null, ports: null }
  const pids = (await livingMembers(leader)).map(({ pid }) => pid)
  const [input, listening] = await Promise.all([inputOf(leader), listeningSockets(leader)])
  // Many programs share the input of the first one; a file or the null device has no one to wait for.
  const isInput = async (pid: number, descriptor: number) => {
    const link = await linkOf(pid, descriptor)
    return (input !== null && link === input) || (await isTerminal(pid, descriptor))
  }
  const [readers, sockets] = await Promise.all([
    Promise.all(pids.map((pid) => isReadingFrom(pid, isInput))),
    listening.size === 0 ? [] : Promise.all(pids.map(socketsOf)),
  ])
  const ports = new Set(sockets.flat().flatMap((inode) => listening.get(inode) ?? []))
  return {
    isReadingInput: readers.includes(true) ? true : readers.includes(null) ? null : false,
    ports: [...ports].sort((a, b) => a - b),
  }
}

async function inputOf(leader: number): Promise<string | null> {
  const link = await linkOf(leader, 0)
  return /^(?:pipe|socket):/.test(link) ? link : null
}

const linkOf = (pid: number, descriptor: number) => readlink(`/proc/${pid}/fd/${descriptor}`).catch(() => '')

/** Ports of listening TCP sockets by inode, in the network that `pid` sees. */
async function listeningSockets(pid: number): Promise<ReadonlyMap<string, number>> {
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'latin1').catch(() => '')))
  const rows = tables.flatMap((table) => table.split('\n').slice(1).map((row) => row.trim().split(/\s+/)))
  return new Map(
    rows.flatMap(([, local = '', , state, , , , , , inode = '']) =>
      state === listenState ? [[inode, Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16)] as const] : [],
    ),
  )
}

/** Source: Linux `include/net/tcp_states.h`, `TCP_LISTEN`. */
const listenState = '0A'

async function socketsOf(pid: number): Promise<readonly string[]> {
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const links = await Promise.all(descriptors.map((name) => linkOf(pid, Number(name))))
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? [])
}

/** When a program was started, in the system's own words, so that it can be told from a later one with its id. Null where that is not known, or nothing has the id. */
export async function birthOf(pid: number, platform: NodeJS.Platform = process.platform): Promise<string | null> {
  if (platform === 'win32') return null
  if (platform !== 'linux') return startByPs(pid)
  const [boot, stat] = await Promise.all([readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => ''), readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')])
  // The program's name stands in parentheses and may hold any character; the time is in ticks since the boot.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, ticks] = [fields[0], fields[19]]
  return ticks === undefined || state === 'Z' || state === 'X' ? null : `${boot.trim()}:${ticks}`
}

function startByPs(pid: number): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'lstart=', '-p', String(pid)], { env: { LC_ALL: 'C' } }, (_error, stdout) => resolve(stdout.trim() || null))
  })
}

const leftoverGraceMs = 3_000

/** As `ProcessRunner.endLeftover`. */
export async function endLeftover({ pid, birth }: { readonly pid: number; readonly birth?: string }, tree: ProcessTree): Promise<'gone' | 'ended' | 'alive'> {
  if (!isThere(pid)) return 'gone'
  const now = await birthOf(pid)
  if (now === null && process.platform === 'linux') return 'gone'
  if (now === null || birth === undefined) return 'alive'
  if (now !== birth) return 'gone'
  const isOver = async () => !(await tree.isAlive(pid))
  await tree.signal(pid, 'SIGTERM')
  if (await isOverWithin(leftoverGraceMs, isOver)) return 'ended'
  await tree.signal(pid, 'SIGKILL')
  return (await isOverWithin(leftoverGraceMs, isOver)) ? 'ended' : 'alive'
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
