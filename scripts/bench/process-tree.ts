import { readFileSync, readdirSync } from 'node:fs'

/**
 * Proportional memory (PSS) of a process and all below it, in bytes; 0 where the system has no `/proc`.
 * Processes that end while they are read count as nothing.
 */
export function treeMemory(root: number): number {
  const children = new Map<number, number[]>()
  for (const name of entries('/proc')) {
    const parent = parentOf(name)
    if (parent === undefined) continue
    children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  let total = 0
  const pending = [root]
  for (let pid = pending.pop(); pid !== undefined; pid = pending.pop()) {
    total += pssOf(pid)
    pending.push(...(children.get(pid) ?? []))
  }
  return total
}

const entries = (folder: string): string[] => {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name))
  } catch {
    return [] // Not a system with /proc: the figure is left out.
  }
}

function parentOf(pid: string): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return undefined // It ended meanwhile.
  }
}

function pssOf(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0) * 1024
  } catch {
    return 0 // It ended meanwhile.
  }
}
