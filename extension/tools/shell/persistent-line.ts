import { MESSAGE_SEQUENCE } from '../../capabilities/terminal-screen.ts'

/** Bytes of one typed line: a terminal cuts lines over 4 095. */
const MAX_LINE_BYTES = 2_000

/** What is typed when a shell has just been opened: nothing is echoed, no prompt is shown, `!` is a plain character. */
export const initialLine = (nonce: string) => `stty -echo 2>/dev/null; set +H; PS1=; PS2=; unset PROMPT_COMMAND; ${message(`${nonce};ready`)}\r`

/**
 * The lines that run one command: it is quoted, so that no part of it is read as more than its words, and the markers around its
 * output are new each time, so that no output can forge them.
 */
export function commandLines(nonce: string, command: string): string {
  const assigned = pieces(command).map((piece, index) => `__bosun_command${index === 0 ? '' : '+'}=$'${piece}'\r`)
  return `${assigned.join('')}${message(`${nonce};start`)}; eval "$__bosun_command"; printf '\\033]${MESSAGE_SEQUENCE};%s;end;%s;%s\\007' ${nonce} "$?" "$PWD"\r`
}

const message = (data: string) => `printf '\\033]${MESSAGE_SEQUENCE};%s\\007' '${data}'`

/** The command in quoted pieces that each fit a line. */
function pieces(command: string): readonly string[] {
  const found: string[] = []
  let piece = ''
  let bytes = 0
  for (const char of Array.from(command)) {
    const quoted = quote(char)
    const size = new TextEncoder().encode(quoted).length
    if (bytes + size > MAX_LINE_BYTES) {
      found.push(piece)
      piece = ''
      bytes = 0
    }
    piece += quoted
    bytes += size
  }
  return [...found, piece]
}

/** For bash's `$'…'`; keys that a terminal would act on are written as codes. */
function quote(char: string): string {
  if (char === '\\' || char === "'") return `\\${char}`
  if (char === '\n') return '\\n'
  const code = char.codePointAt(0) ?? 0
  return code < 0x20 || code === 0x7f ? `\\x${code.toString(16).padStart(2, '0')}` : char
}

/** Takes the output of one command out of what the terminal writes. */
export class MarkedOutput {
  #carry = ''
  #hasStarted = false
  readonly #start: string
  readonly #end: string

  constructor(nonce: string) {
    this.#start = `\u001b]${MESSAGE_SEQUENCE};${nonce};start\u0007`
    this.#end = `\u001b]${MESSAGE_SEQUENCE};${nonce};end;`
  }

  /** The output in `text`, and how the command ended once it has. */
  push(text: string): { readonly output: string; readonly end?: { readonly exitCode: number; readonly folder: string } } {
    this.#carry += text
    if (!this.#hasStarted) {
      const at = this.#carry.indexOf(this.#start)
      if (at === -1) {
        this.#carry = this.#carry.slice(-this.#start.length)
        return { output: '' }
      }
      this.#hasStarted = true
      this.#carry = this.#carry.slice(at + this.#start.length)
    }
    const at = this.#carry.indexOf(this.#end)
    if (at === -1) {
      const kept = startOf(this.#end, this.#carry)
      const output = this.#carry.slice(0, this.#carry.length - kept)
      this.#carry = this.#carry.slice(this.#carry.length - kept)
      return { output }
    }
    const stop = this.#carry.indexOf('\u0007', at)
    const output = this.#carry.slice(0, at)
    if (stop === -1) {
      this.#carry = this.#carry.slice(at)
      return { output }
    }
    const [exitCode = '', ...folder] = this.#carry.slice(at + this.#end.length, stop).split(';')
    this.#carry = ''
    return { output, end: { exitCode: Number(exitCode), folder: folder.join(';') } }
  }
}

/** How many characters at the end of `text` may be the beginning of `marker`. */
function startOf(marker: string, text: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length--) if (text.endsWith(marker.slice(0, length))) return length
  return 0
}
