import { randomBytes } from 'node:crypto'
import { link, open, readFile, rename, rm, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Undo } from '../../base/undo.ts'
import type { LogWriter } from '../../capabilities/event-store.ts'
import { hasCode } from './file-facts.ts'

export interface LeaseTimes {
  /** The holder touches the lease this often. */
  readonly heartbeatMs: number
  /** A lease that was not touched for so long is dead, whoever holds it; where the clock may be what changed, it is watched for a beat first. */
  readonly staleMs: number
}

interface Holder {
  readonly writer: LogWriter
  readonly token: string
  /** Epoch ms of its last sign of life. */
  readonly beatAt: number
}

const leaseName = 'lease.json'
/** Others that come and go while we try; then the one that is there has won. */
const maxAttempts = 5

/**
 * The right to write one session, as a file in its folder. A holder whose process is gone from this machine loses it at once,
 * any other when its heartbeat stops.
 */
export class Lease {
  readonly writer: LogWriter
  readonly #path: string
  readonly #token: string
  readonly #times: LeaseTimes
  readonly #timer: NodeJS.Timeout
  readonly #listeners = new Set<() => void>()
  #checkedAt = Date.now()
  #checkedAtMonotonic = performance.now()
  #isHeld = true

  /** The lease, or who holds it. Errors: what the file system says. */
  static async acquire(folder: string, times: LeaseTimes): Promise<Lease | LogWriter> {
    const token = randomBytes(12).toString('hex')
    const writer: LogWriter = { pid: process.pid, host: hostname(), since: Date.now() }
    for (let attempt = 1; ; attempt++) {
      if (await place(folder, { ...writer, token })) return new Lease(folder, writer, token, times)
      const holder = await holderOf(join(folder, leaseName))
      if (holder === null) continue
      if (attempt >= maxAttempts || (await isAlive(folder, holder, times))) return holder.writer
      await removeDead(folder, holder)
    }
  }

  private constructor(folder: string, writer: LogWriter, token: string, times: LeaseTimes) {
    this.writer = writer
    this.#path = join(folder, leaseName)
    this.#token = token
    this.#times = times
    this.#timer = setInterval(() => void this.#beat(), times.heartbeatMs).unref()
  }

  /** Looks at the file only when the last look is so old that somebody may have taken the lease for dead. */
  async isHeld(): Promise<boolean> {
    const { staleMs } = this.#times
    // The one clock may be set, the other stands still while the machine sleeps.
    const age = Math.max(Math.abs(Date.now() - this.#checkedAt), performance.now() - this.#checkedAtMonotonic)
    if (this.#isHeld && age > staleMs / 2) await this.#beat()
    return this.#isHeld
  }

  /** Called once when somebody else took the lease over. */
  onLost(listener: () => void): Undo {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Give it back. */
  async release(): Promise<void> {
    clearInterval(this.#timer)
    if (!this.#isHeld) return
    this.#isHeld = false
    const holder = await holderOf(this.#path)
    if (holder?.token === this.#token) await unlink(this.#path)
  }

  /** Forget it: its folder is gone. */
  abandon(): void {
    clearInterval(this.#timer)
    this.#isHeld = false
  }

  async #beat(): Promise<void> {
    try {
      const holder = await holderOf(this.#path)
      if (!this.#isHeld) return
      if (holder?.token !== this.#token) return this.#lose()
      const now = new Date()
      await utimes(this.#path, now, now)
      this.#checkedAt = now.getTime()
      this.#checkedAtMonotonic = performance.now()
    } catch {
      // A disk that fails now may answer at the next beat; a lease nobody sees beating is taken over, and then we see that.
    }
  }

  #lose(): void {
    this.#isHeld = false
    clearInterval(this.#timer)
    for (const listener of this.#listeners) listener()
  }
}

/** Put the lease there, whole, unless there is one. */
async function place(folder: string, content: LogWriter & { readonly token: string }): Promise<boolean> {
  const draft = join(folder, `.lease-${content.token}`)
  try {
    await writeFile(draft, JSON.stringify(content), { mode: 0o600 })
    await link(draft, join(folder, leaseName))
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    if (!hasCode(error, 'EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP')) throw error
    return await placeWithoutLink(join(folder, leaseName), JSON.stringify(content))
  } finally {
    await rm(draft, { force: true })
  }
}

/** For file systems without hard links. */
async function placeWithoutLink(path: string, content: string): Promise<boolean> {
  try {
    const handle = await open(path, 'wx', 0o600)
    try {
      await handle.writeFile(content)
    } finally {
      await handle.close()
    }
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Null when there is no lease. One that cannot be understood counts as held by nobody we know, as long as it is fresh. */
async function holderOf(path: string): Promise<Holder | null> {
  try {
    const [text, { mtimeMs }] = await Promise.all([readFile(path, 'utf8'), stat(path)])
    return holderFrom(text, mtimeMs)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

function holderFrom(text: string, beatAt: number): Holder {
  try {
    const { pid, host, since, token } = JSON.parse(text) as Record<string, unknown>
    if (typeof pid === 'number' && typeof host === 'string' && typeof since === 'number' && typeof token === 'string')
      return { writer: { pid, host, since }, token, beatAt }
  } catch {
    // Text that is no JSON is a lease that cannot be understood.
  }
  return { writer: { pid: 0, host: 'unknown', since: beatAt }, token: text, beatAt }
}

/**
 * A beat that is old, or lies in a time to come, may only show that the clock was set or the machine slept: then the holder beats again
 * soon, and that is waited for. Only of another machine an old one is the end: its clock is its own, and nobody can ask for its process.
 */
async function isAlive(folder: string, holder: Holder, times: LeaseTimes): Promise<boolean> {
  const { writer, beatAt } = holder
  const isHere = writer.host === hostname()
  if (isHere && !isRunning(writer.pid)) return false
  const ageMs = Date.now() - beatAt
  if (Math.abs(ageMs) <= times.staleMs) return true
  return ageMs > 0 && !isHere ? false : await beatsAgain(join(folder, leaseName), holder, times)
}

async function beatsAgain(path: string, { token, beatAt }: Holder, { heartbeatMs }: LeaseTimes): Promise<boolean> {
  const deadline = performance.now() + heartbeatMs * 1.5
  while (performance.now() < deadline) {
    await delay(Math.min(100, heartbeatMs / 4))
    const now = await holderOf(path)
    // One that came in its place lives too.
    if (now !== null && (now.token !== token || now.beatAt !== beatAt)) return true
    if (now === null) return false
  }
  return false
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process may not be signalled, but it runs.
    return hasCode(error, 'EPERM')
  }
}

/** Take a dead lease away, but never one that a third window placed meanwhile. */
async function removeDead(folder: string, dead: Holder): Promise<void> {
  const path = join(folder, leaseName)
  const aside = join(folder, `.lease-dead-${randomBytes(6).toString('hex')}`)
  try {
    await rename(path, aside)
  } catch (error) {
    // Another window was faster.
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  const taken = await holderOf(aside)
  if (taken !== null && taken.token !== dead.token) await putBack(aside, path)
  await unlink(aside)
}

async function putBack(aside: string, path: string): Promise<void> {
  try {
    await link(aside, path)
  } catch (error) {
    // A fourth window placed its own; the third one sees the loss at its next beat.
    if (!hasCode(error, 'EEXIST')) throw error
  }
}
