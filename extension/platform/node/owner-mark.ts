import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { isOverWithin, statFacts } from './process-tree.ts'

/**
 * Set in whatever a host starts. A host that was itself started by another one names both, the outer one first. Behind the name of the
 * host stands the number of the program that it started: `<outer>/3:<own>/12`.
 */
export const OWNER_VARIABLE = 'BOSUN_OWNER'

/**
 * Finds what left its group and its session, as daemons do, when the host that started it ends, or when one program is ended.
 *
 * It is looked for only then, so a command costs no more for it. Measured 2026-11-30: 0.02 ms a process of the machine on Linux.
 * What takes the mark out of its environment, or writes its title over it as some servers do, is not found.
 */
export interface OwnerMark extends Marks {
  /** For one more program. */
  ofProgram(): Marks
  /** Without waiting, as a host does that is about to exit; only where the system shows environments at once. */
  killAllNow(): void
}

export interface Marks {
  readonly environment: Readonly<Record<string, string>>
  /**
   * TERM to all of it, KILL after the grace. Resolves with the process ids it found, when they are gone or hang in the system itself.
   * What is in a group or session of `others` is left to whoever ends those.
   */
  endAll(graceMs: number, others?: ReadonlySet<number>): Promise<readonly number[]>
}

/** After KILL; what is still there then hangs in the system itself. */
const killPatienceMs = 2_000
/** There are programs that never have an environment: these are waited for no longer than that. */
const maxLooks = 8
const lookAgainMs = 2
/** Marks of outer hosts that are passed on; more of them inside each other is a mistake. */
const maxOuterCharacters = 400

export function createOwnerMark(outer = process.env[OWNER_VARIABLE] ?? '', platform: NodeJS.Platform = process.platform): OwnerMark {
  const own = randomUUID()
  return ownerMarkFrom([...(outer === '' ? [] : [outer.slice(-maxOuterCharacters)]), own].join(':'), platform)
}

/** The mark that another process made: the last name in `value` is the one that is looked for. */
export function ownerMarkFrom(value: string, platform: NodeJS.Platform = process.platform): OwnerMark {
  const own = value.slice(value.lastIndexOf(':') + 1)
  let programs = 0
  return {
    ...marksOf(value, own, platform),
    ofProgram() {
      programs += 1
      return marksOf(`${value}/${programs}`, `${own}/${programs}`, platform)
    },
    killAllNow() {
      if (platform !== 'linux') return
      for (let looks = 0; looks < maxLooks; looks += 1) {
        const { marked, isUnclear } = lookInProc(own)
        for (const { pid } of marked) signal(pid, 'SIGKILL')
        if (!isUnclear) return
      }
    },
  }
}

function marksOf(value: string, own: string, platform: NodeJS.Platform): Marks {
  const find = platform === 'linux' ? () => markedInProc(own) : platform === 'darwin' ? () => markedForPs(own) : async () => []
  return {
    environment: { [OWNER_VARIABLE]: value },
    async endAll(graceMs, others = new Set()) {
      const findLeft = async () => (await find()).filter(({ groups }) => !groups.some((group) => others.has(group)))
      const found = await findLeft()
      const pids = found.map(({ pid }) => pid)
      for (const pid of pids) signal(pid, 'SIGTERM')
      if (found.length === 0 || (await isOverWithin(graceMs, async () => (await findLeft()).length === 0))) return pids
      await isOverWithin(killPatienceMs, async () => {
        const left = await findLeft()
        for (const { pid } of left) signal(pid, 'SIGKILL')
        return left.length === 0
      })
      return pids
    },
  }
}

interface Marked {
  readonly pid: number
  /** Its group, and its session where that is known. */
  readonly groups: readonly number[]
}

async function markedInProc(own: string): Promise<readonly Marked[]> {
  const found = new Map<number, Marked>()
  for (let looks = 1; ; looks += 1) {
    const { marked, isUnclear } = lookInProc(own)
    for (const one of marked) found.set(one.pid, one)
    if (!isUnclear || looks === maxLooks) return [...found.values()]
    await delay(lookAgainMs)
  }
}

/**
 * `isUnclear` while a process shows no environment, as one does for a moment while it becomes another program.
 *
 * Source: proc(5), `/proc/pid/environ`: as the program was started; empty for what only waits to be reaped.
 */
function lookInProc(own: string): { readonly marked: readonly Marked[]; readonly isUnclear: boolean } {
  let isUnclear = false
  const marked = listedInProc().flatMap((name) => {
    try {
      if (Number(name) === process.pid) return []
      const environment = readFileSync(`/proc/${name}/environ`, 'latin1')
      if (environment !== '' && !isOwn(environment, own)) return []
      const { group, session, state, isExiting, isKernel } = statFacts(readFileSync(`/proc/${name}/stat`, 'latin1'))
      if (environment !== '') return [{ pid: Number(name), groups: [group, session] }]
      isUnclear ||= !isKernel && !isExiting && state !== 'Z' && state !== 'X'
      return []
    } catch {
      // It ended meanwhile, or belongs to another user and so was not started here.
      return []
    }
  })
  return { marked, isUnclear }
}

function listedInProc(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    // No /proc is mounted: nothing can be found.
    return []
  }
}

/** Source: ps(1) of macOS, `-E`; the system hides the environment of some programs. */
function markedForPs(own: string): Promise<readonly Marked[]> {
  return new Promise((resolve) => {
    execFile('ps', ['-axwwE', '-o', 'pid=,pgid=,command='], { maxBuffer: 64 * 1024 * 1024 }, (_error, stdout) => {
      const rows = stdout.split('\n').filter((line) => isOwn(line, own)).map((line) => line.trim().split(/\s+/).map(Number))
      resolve(rows.flatMap(([pid = 0, group = 0]) => (pid > 0 && pid !== process.pid ? [{ pid, groups: [group] }] : [])))
    })
  })
}

const isOwn = (environment: string, own: string): boolean => new RegExp(`${OWNER_VARIABLE}=[^\\0\\s]*${own}(?!\\d)`).test(environment)

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    // It ended in this very moment, or became another user's.
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ESRCH' && code !== 'EPERM') throw error
  }
}
