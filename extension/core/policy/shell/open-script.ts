import type { ShellNode } from '../../../capabilities/shell-syntax.ts'
import { innerRuns, isFedByInput, shells } from './inner-runs.ts'
import { shellScript, type ShellCommand, type ShellScript } from './shell-parts.ts'

/** A script in a script in a script: nobody writes that to be read. */
const MAX_DEPTH = 4
/** Scripts inside of one line, so that reading it stays cheap. */
const MAX_SCRIPTS = 40

/**
 * A command line taken apart to the bottom: wrappers opened, scripts in quotes and here-documents read.
 *
 * Null when it is not one well-formed line. What is started in a way of its own stands among `hidden`.
 */
export async function openScript(text: string, parse: (text: string) => Promise<ShellNode | null>, homeFolder: string): Promise<ShellScript | null> {
  let left = MAX_SCRIPTS
  const open = async (source: string, depth: number): Promise<ShellScript | null> => {
    const tree = await parse(source)
    return tree === null ? null : opened(shellScript(tree, homeFolder), depth)
  }

  async function opened(script: ShellScript, depth: number): Promise<ShellScript> {
    const all: Draft = { ...script, commands: [], hidden: [], inputs: [...script.inputs], redirects: [...script.redirects], values: [...script.values], assigned: [...script.assigned], used: [...script.used], unknown: [...script.unknown] }
    for (const command of script.commands) await take(all, command, depth)
    for (const input of fedTexts(script)) await takeText(all, input, { depth, isPlain: false })
    return all
  }

  async function take(all: Draft, command: ShellCommand, depth: number): Promise<void> {
    const runs = innerRuns(command)
    const isOpen = runs.length > 0 && runs.every(({ isPlain }) => isPlain)
    if (!isOpen) all.commands.push(command)
    for (const { runs: inner, isPlain } of runs) {
      if (depth >= MAX_DEPTH) all.unknown.push('commands inside of commands')
      else if (inner.kind === 'script') await takeText(all, inner.text, { depth, isPlain: isPlain && isOpen, written: command })
      else {
        const next = await opened({ ...empty, commands: [{ words: inner.words, written: command }] }, depth + 1)
        add(all, next, isPlain && isOpen)
      }
    }
  }

  async function takeText(all: Draft, source: string, { depth, isPlain, written }: { readonly depth: number; readonly isPlain: boolean; readonly written?: ShellCommand }): Promise<void> {
    left -= 1
    const inner = left < 0 || depth >= MAX_DEPTH ? null : await open(source, depth + 1)
    if (inner !== null) return add(all, written === undefined ? inner : { ...inner, commands: inner.commands.map((command) => ({ ...command, written })) }, isPlain)
    if (!isPlain) return
    // Its own words say nothing then.
    if (written !== undefined) all.commands.push(written)
    all.unknown.push('a script inside of it')
  }

  return open(text, 0)
}

type Draft = { readonly [Key in keyof ShellScript]: ShellScript[Key] extends readonly (infer Entry)[] ? Entry[] : never }

function add(all: Draft, inner: ShellScript, isPlain: boolean): void {
  ;(isPlain ? all.commands : all.hidden).push(...inner.commands)
  all.hidden.push(...inner.hidden)
  all.inputs.push(...inner.inputs)
  all.redirects.push(...inner.redirects)
  all.values.push(...inner.values)
  all.assigned.push(...inner.assigned)
  all.used.push(...inner.used)
  if (isPlain) all.unknown.push(...inner.unknown)
}

const empty: ShellScript = { commands: [], hidden: [], inputs: [], redirects: [], values: [], assigned: [], used: [], unknown: [] }

/** Texts that a shell of the script may be given as its input: here-documents, and what is printed. */
function fedTexts({ commands, inputs }: ShellScript): readonly string[] {
  const isShellFed = commands.some((command) => isFedByInput(command) && shells.has(command.words[0]?.text?.split('/').at(-1) ?? ''))
  if (!isShellFed) return []
  const printed = commands.filter(({ words: [program] }) => program?.text === 'echo' || program?.text === 'printf').map(({ words }) => words.slice(1).filter(({ guess }) => !guess.startsWith('-')).map(({ guess }) => guess).join(' '))
  return [...inputs, ...printed]
}
