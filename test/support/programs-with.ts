import { readdir, readFile } from 'node:fs/promises'

/**
 * How many programs run that have this word among their arguments, those that only wait to be reaped left out; for programs whose
 * process id in their own view of the system is another one. Linux alone; elsewhere 0.
 */
export async function programsWith(word: string): Promise<number> {
  if (process.platform !== 'linux') return 0
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(names.map((name) => readFile(`/proc/${name}/cmdline`, 'latin1').catch(() => '')))
  return lines.filter((line) => line.split('\0').includes(word)).length
}

/** Seconds that no other test sleeps for, as a word to find the sleeper by. */
export const ownSeconds = (): string => `6${Math.random().toString().slice(2, 8)}`
