import { spawn } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'

/** All processes that one program started, named by the process id of the program. */
export interface ProcessTree {
  /** False when it is known to be dead; costs one system call. */
  mayLive(pid: number): boolean
  /** Whether anything of it really runs: what only waits to be reaped does not count. */
  isAlive(pid: number): Promise<boolean>
  /** Without waiting, as a host does that is about to exit. */
  signalNow(pid: number, signal: NodeJS.Signals): void
  /** Reaches also what left the group but not the session. */
  signal(pid: number, signal: NodeJS.Signals): Promise<void>
}

export function createProcessTree(platform: NodeJS.Platform = process.platform): ProcessTree {
  if (platform === 'win32') return createWindowsTree()
  return platform === 'linux' ? createLinuxTree() : groupTree
}

/** A process group: its id is the process id of its leader, and cannot go to another process while a member lives. */
const groupTree: ProcessTree = {
  mayLive: (pid) => sendToGroup(pid, 0),
  isAlive: async (pid) => sendToGroup(pid, 0),
  signalNow: (pid, signal) => void sendToGroup(pid, signal),
  signal: async (pid, signal) => void sendToGroup(pid, signal),
}

function sendToGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal)
    return true
  } catch (error) {
    // No such group: it is dead. No permission: somebody in it runs as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * On Linux the session shows more than the group: a shell with job control gives each job a group of its own, and in a
 * container whose first process reaps nothing the dead stay listed, which would make every group look alive.
 */
function createLinuxTree(): ProcessTree {
  return {
    ...groupTree,
    isAlive: async (pid) => (await livingMembers(pid)).length > 0,
    signal: async (pid, signal) => {
      sendToGroup(pid, signal)
      const groups = new Set((await livingMembers(pid)).map(({ group }) => group))
      groups.delete(pid)
      for (const group of groups) sendToGroup(group, signal)
    },
  }
}

/** What lives in the group or the session that `leader` began. */
export async function livingMembers(leader: number): Promise<readonly { readonly pid: number; readonly group: number }[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(names.map((name) => readFile(`/proc/${name}/stat`, 'latin1').catch(() => '')))
  return stats.flatMap((stat, index) => {
    const { state, group, session, isExiting } = statFacts(stat)
    const isMember = group === leader || session === leader
    return isMember && !isExiting && state !== 'Z' && state !== 'X' ? [{ pid: Number(names[index]), group }] : []
  })
}

/**
 * It has let go of its files and runs no more code of its own; what is left may take milliseconds, as when a sandbox's mounts go with it.
 * Source: Linux `include/linux/sched.h`, `PF_EXITING`.
 */
const EXITING_FLAG = 0x4
/** A thread of the system itself. Source: the same, `PF_KTHREAD`. */
const KERNEL_FLAG = 0x200000

/** What the system says of a process. Source: proc(5), `/proc/pid/stat`. */
export function statFacts(stat: string): { readonly state: string; readonly group: number; readonly session: number; readonly isExiting: boolean; readonly isKernel: boolean } {
  // The program's name stands in parentheses and may hold any character.
  const [state = '', , group, session, , , flags] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state, group: Number(group), session: Number(session), isExiting: (Number(flags) & EXITING_FLAG) !== 0, isKernel: (Number(flags) & KERNEL_FLAG) !== 0 }
}

/** Asks ever less often whether something is over, for at most `ms`. True as soon as it is. */
export async function isOverWithin(ms: number, isOver: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + ms
  for (let pause = 2; ; pause = Math.min(pause * 2, 50)) {
    if (await isOver()) return true
    const left = deadline - performance.now()
    if (left <= 0) return false
    await delay(Math.min(pause, left))
  }
}

/** Runs a program to its end without looking at its output. */
export type RunQuietly = (command: string, args: readonly string[]) => Promise<void>

/** Windows knows neither groups nor signals: every signal that ends a program ends its tree by force. */
export function createWindowsTree(run: RunQuietly = runQuietly): ProcessTree {
  const kill = (pid: number) => run('taskkill', ['/PID', String(pid), '/T', '/F'])
  // Only asked once the program itself has ended: then `taskkill` has no way to its descendants any more.
  return { mayLive: () => false, isAlive: async () => false, signalNow: (pid) => void kill(pid), signal: kill }
}

function runQuietly(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', windowsHide: true })
    child.once('error', () => resolve())
    child.once('exit', () => resolve())
  })
}
