/** A stretch of output in one look. Colours are names of the theme's sixteen, or `#rrggbb` for the others. */
export interface AnsiSpan {
  readonly text: string
  readonly color?: string
  readonly background?: string
  readonly isBold?: true
  readonly isDim?: true
  readonly isItalic?: true
  readonly isUnderlined?: true
  readonly isStruck?: true
  readonly isInverse?: true
}

type Style = Omit<AnsiSpan, 'text'>
type Cell = { readonly char: string; readonly style: Style }

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
/** The theme's sixteen colours as they are called in `--vscode-terminal-ansi…`, in lower case and with `bright-`. */
const colorNames = [...names, ...names.map((name) => `bright-${name}`)]

// Control sequence, one that is cut off at the end, operating system command, other escape, or one character that moves the cursor.
const control = /\u001b(?:\[[0-9;:?<=>!]*)?$|\u001b\[([0-9;:?<=>!]*)[ -/]*([@-~])|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]|[\r\n\b]|[\u0000-\u0008\u000b-\u001f\u007f]/g

/**
 * The lines that a terminal would show for `text`, each as spans.
 *
 * Carriage return, backspace and "erase in line" act on the current line, so progress bars end as their last state; other
 * movements are left out. Source: ECMA-48, as far as logs use it.
 */
export function ansiLines(text: string): readonly (readonly AnsiSpan[])[] {
  const lines: (readonly AnsiSpan[])[] = []
  let cells: Cell[] = []
  let column = 0
  let style: Style = {}
  const write = (chunk: string) => {
    for (const char of chunk) {
      cells[column] = { char, style }
      column += 1
    }
  }
  const endLine = () => {
    lines.push(spansOf(cells))
    cells = []
    column = 0
  }
  let from = 0
  for (const match of text.matchAll(control)) {
    write(text.slice(from, match.index))
    from = match.index + match[0].length
    if (match[0] === '\n') endLine()
    else if (match[0] === '\r') column = 0
    else if (match[0] === '\b') column = Math.max(0, column - 1)
    else if (match[2] === 'm') style = styled(style, match[1] ?? '')
    else if (match[2] === 'K') eraseInLine(cells, column, match[1] ?? '')
  }
  write(text.slice(from))
  if (cells.length > 0) endLine()
  return lines
}

/** The same text as `ansiLines` shows, without looks. */
export const plainText = (text: string): string =>
  ansiLines(text)
    .map((line) => line.map((span) => span.text).join(''))
    .join('\n')

function eraseInLine(cells: Cell[], column: number, mode: string): void {
  if (mode === '' || mode === '0') cells.length = Math.min(cells.length, column)
  else if (mode === '2') cells.length = 0
  else for (let index = 0; index <= column && index < cells.length; index += 1) cells[index] = { char: ' ', style: {} }
}

function spansOf(cells: readonly (Cell | undefined)[]): readonly AnsiSpan[] {
  const spans: { text: string; style: Style }[] = []
  for (let index = 0; index < cells.length; index += 1) {
    // A cell that was skipped over is blank.
    const { char, style } = cells[index] ?? { char: ' ', style: {} }
    const last = spans.at(-1)
    if (last?.style === style) last.text += char
    else spans.push({ text: char, style })
  }
  return spans.map(({ text, style }) => ({ text, ...style }))
}

function styled(style: Style, parameters: string): Style {
  // `38:2::r:g:b` and `38;2;r;g;b` say the same.
  const codes = parameters.replaceAll(/:+/g, ';').split(';').map(Number)
  let next: { -readonly [Key in keyof Style]: Style[Key] } = { ...style }
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index]!
    if (code === 38 || code === 48 || code === 58) {
      const { color, used } = extendedColor(codes.slice(index + 1))
      // 58 colours the underline, which is drawn in the colour of the text.
      if (color !== undefined && code !== 58) next[code === 38 ? 'color' : 'background'] = color
      index += used
    } else {
      next = withCode(next, code)
    }
  }
  return next
}

function withCode(style: Style, code: number): Style {
  const without = (...keys: readonly (keyof Style)[]) =>
    Object.fromEntries(Object.entries(style).filter(([key]) => !keys.includes(key as keyof Style))) as Style
  if (code >= 30 && code <= 37) return { ...style, color: colorNames[code - 30]! }
  if (code >= 90 && code <= 97) return { ...style, color: colorNames[code - 90 + 8]! }
  if (code >= 40 && code <= 47) return { ...style, background: colorNames[code - 40]! }
  if (code >= 100 && code <= 107) return { ...style, background: colorNames[code - 100 + 8]! }
  switch (code) {
    case 0:
      return {}
    case 1:
      return { ...style, isBold: true }
    case 2:
      return { ...style, isDim: true }
    case 3:
      return { ...style, isItalic: true }
    case 4:
      return { ...style, isUnderlined: true }
    case 7:
      return { ...style, isInverse: true }
    case 9:
      return { ...style, isStruck: true }
    case 22:
      return without('isBold', 'isDim')
    case 23:
      return without('isItalic')
    case 24:
      return without('isUnderlined')
    case 27:
      return without('isInverse')
    case 29:
      return without('isStruck')
    case 39:
      return without('color')
    case 49:
      return without('background')
    default:
      return style
  }
}

/** After 38 or 48: `5;n` of 256 colours, or `2;r;g;b`. */
function extendedColor(rest: readonly number[]): { readonly color: string | undefined; readonly used: number } {
  const hex = (...parts: readonly number[]) => `#${parts.map((part) => Math.min(255, Math.max(0, part || 0)).toString(16).padStart(2, '0')).join('')}`
  if (rest[0] === 2) return { color: hex(rest[1] ?? 0, rest[2] ?? 0, rest[3] ?? 0), used: 4 }
  if (rest[0] !== 5) return { color: undefined, used: 0 }
  const index = rest[1] ?? 0
  if (index < 16) return { color: colorNames[index], used: 2 }
  if (index >= 232) return { color: hex(...Array<number>(3).fill(8 + (index - 232) * 10)), used: 2 }
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40)
  const cube = index - 16
  return { color: hex(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)), used: 2 }
}
