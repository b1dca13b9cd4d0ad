import { toLf } from '../../base/encoding.ts'
import type { CellEdit, NotebookCell, NotebookOutput } from '../../capabilities/notebooks.ts'
import type { TextReplacement } from '../../capabilities/file-system.ts'
import type { Span } from '../../base/json-span.ts'

/** A notebook as one text, and where in it the sources stand that can be edited. Line ends are `\n`. */
export interface NotebookText {
  readonly text: string
  /** Of each cell. */
  readonly sources: readonly Span[]
}

/** UTF-16 units of one output that are shown. */
const MAX_OUTPUT_CHARS = 2_000
/** Outputs of one cell that are shown. */
const MAX_OUTPUTS = 20

/** Cells one below the other, each under a heading with its number, kind and id, code with its outputs. */
export function notebookText(cells: readonly NotebookCell[]): NotebookText {
  const sources: Span[] = []
  let text = ''
  for (const [index, { id, kind, language, source, outputs }] of cells.entries()) {
    const number = index + 1
    text += `${index === 0 ? '' : '\n'}# %% cell ${number} [${[kind, language].filter((part) => part !== null).join(' ')}]${id === null ? '' : ` id=${id}`}\n`
    const shown = toLf(source)
    sources.push({ start: text.length, end: text.length + shown.length })
    text += `${shown}\n`
    for (const output of outputs.slice(0, MAX_OUTPUTS)) text += `# %% output of cell ${number} [${output.name}]\n${outputText(output)}\n`
    if (outputs.length > MAX_OUTPUTS) text += `# %% ${outputs.length - MAX_OUTPUTS} more outputs of cell ${number} are not shown\n`
  }
  return { text, sources }
}

function outputText({ text, chars }: NotebookOutput): string {
  if (text === null) return `(${chars} characters of data, not shown)`
  const shown = toLf(text).replace(/\n$/, '')
  if (shown.length <= MAX_OUTPUT_CHARS) return shown
  return `${shown.slice(0, MAX_OUTPUT_CHARS).toWellFormed()}\n(${shown.length - MAX_OUTPUT_CHARS} more characters of this output are not shown)`
}

/** Changes of the whole text, each inside one source, as changes of cells. Offsets are those of the sources with `\n` line ends. */
export function cellEdits({ text, sources }: NotebookText, replacements: readonly TextReplacement[]): readonly CellEdit[] {
  return sources.flatMap(({ start, end }, index) => {
    const own = replacements.filter((each) => each.start >= start && each.end <= end).map((each) => ({ start: each.start - start, end: each.end - start, newText: each.newText }))
    return own.length === 0 ? [] : [{ index, source: text.slice(start, end), replacements: own }]
  })
}
