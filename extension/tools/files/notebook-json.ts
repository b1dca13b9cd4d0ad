import * as z from 'zod'
import { elementSpans, jsonSpan } from '../../base/json-span.ts'
import { stripAnsi } from '../../base/strip-ansi.ts'
import type { TextReplacement } from '../../capabilities/file-system.ts'
import { readableForms, type NotebookCell, type NotebookOutput } from '../../capabilities/notebooks.ts'

// Source: nbformat 4.5, https://nbformat.readthedocs.io/en/latest/format_description.html; what is not looked at may be anything.
const lines = z.union([z.string(), z.array(z.string())]).transform((text) => (typeof text === 'string' ? text : text.join('')))
const data = z.record(z.string(), z.unknown())
const output = z.union([
  z.object({ output_type: z.literal('stream'), name: z.string(), text: lines }),
  z.object({ output_type: z.enum(['display_data', 'execute_result']), data }),
  z.object({ output_type: z.literal('error'), ename: z.string(), evalue: z.string(), traceback: z.array(z.string()) }),
])
const notebook = z.object({
  nbformat: z.literal(4),
  metadata: z.looseObject({ language_info: z.looseObject({ name: z.string() }).optional().catch(undefined), kernelspec: z.looseObject({ language: z.string() }).optional().catch(undefined) }).catch({}),
  cells: z.array(
    z.object({
      id: z.string().optional().catch(undefined),
      cell_type: z.enum(['code', 'markdown', 'raw']),
      source: lines,
      outputs: z.array(output.catch({ output_type: 'display_data', data: {} })).optional().catch(undefined),
    }),
  ),
})

/** The cells of a stored notebook; null when the text is none of the format that is known (nbformat 4). */
export function cellsOfJson(json: string): readonly NotebookCell[] | null {
  const parsed = notebook.safeParse(parsedJson(json))
  if (!parsed.success) return null
  const { metadata, cells } = parsed.data
  const language = metadata.language_info?.name ?? metadata.kernelspec?.language ?? null
  return cells.map(({ id, cell_type: kind, source, outputs = [] }) => ({ id: id ?? null, kind, language: kind === 'code' ? language : null, source, outputs: outputs.flatMap(outputsFrom) }))
}

function parsedJson(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    // No notebook then; as a text it can be read all the same.
    return null
  }
}

function outputsFrom(found: z.infer<typeof output>): readonly NotebookOutput[] {
  switch (found.output_type) {
    case 'stream':
      return [textOutput(found.name, found.text)]
    case 'error':
      return [textOutput('error', found.traceback.length > 0 ? found.traceback.join('\n') : `${found.ename}: ${found.evalue}`)]
    case 'display_data':
    case 'execute_result': {
      const forms = Object.entries(found.data).map(([mediaType, value]) => ({ mediaType, text: typeof value === 'string' ? value : Array.isArray(value) ? value.join('') : JSON.stringify(value) }))
      return readableForms(forms).map(({ form: { mediaType, text }, isText }) => (isText ? textOutput(mediaType, text) : { name: mediaType, text: null, chars: text.length }))
    }
  }
}

const textOutput = (name: string, text: string): NotebookOutput => ({ name, text: stripAnsi(text), chars: text.length })

/**
 * What has to be changed in a notebook's JSON so that a cell has another source. Lines that stay keep their very characters, and so does
 * everything around them.
 *
 * Errors: `RangeError` where the cell is not there.
 */
export function sourceReplacement(json: string, index: number, source: string): TextReplacement {
  const span = jsonSpan(json, ['cells', index, 'source'])
  if (span === undefined) throw new RangeError(`The notebook has no cell ${index}.`)
  if (json[span.start] !== '[') return { ...span, newText: JSON.stringify(source) }
  const old = elementSpans(json, span)
  const oldTexts = old.map(({ start, end }) => json.slice(start, end))
  const next = source.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const same = (place: number, otherPlace: number) => oldTexts[place] !== undefined && next[otherPlace] !== undefined && JSON.parse(oldTexts[place]) === next[otherPlace]
  let head = 0
  while (same(head, head)) head += 1
  let tail = 0
  while (tail < Math.min(old.length, next.length) - head && same(old.length - 1 - tail, next.length - 1 - tail)) tail += 1
  const parts = [...oldTexts.slice(0, head), ...next.slice(head, next.length - tail).map((line) => JSON.stringify(line)), ...oldTexts.slice(old.length - tail)]
  if (parts.length === 0) return { ...span, newText: '[]' }
  const [first, second] = old
  const lead = first === undefined ? indentFor(json, span.start) : json.slice(span.start + 1, first.start)
  const gap = first === undefined || second === undefined ? `,${lead}` : json.slice(first.end, second.start)
  const last = old.at(-1)
  const end = last === undefined ? lead.slice(0, -1) : json.slice(last.end, span.end - 1)
  return { ...span, newText: `[${lead}${parts.join(gap)}${end}]` }
}

/** A line of its own, one deeper than the line in which the array stands, as notebooks are stored. */
function indentFor(json: string, at: number): string {
  const line = json.slice(json.lastIndexOf('\n', at) + 1, at)
  return json.includes('\n') ? `\n${/^\s*/.exec(line)?.[0] ?? ''} ` : ''
}
