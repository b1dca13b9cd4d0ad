import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import { runCount } from '../../support/run-count.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

let application: WholeApplication
let agent: Agent
let count = 0

beforeAll(async () => {
  application = await wholeApplication({ settings: { 'permissions.defaultPreset': 'danger-full-access' } })
  const presets = join(application.folder, '.bosun/presets')
  await mkdir(presets, { recursive: true })
  await writeFile(join(presets, 'hands.preset.json'), JSON.stringify({ name: 'Hands', presentation: 'native', tools: ['read', 'write', 'edit', 'str_replace_editor'] }))
})
afterAll(() => application.dispose())

const seed = Number(process.env['BOSUN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

it(`after any script of edits the file holds the very bytes that a plain model of them says, and a failed one changes none (seed ${seed})`, async () => {
  await scripts(seed, runCount({ full: 1_000, desk: 40 }))
}, 300_000)

it('the scripts reach each encoding and each way to fail', async () => {
  const reached = await scripts(7, runCount({ full: 200, desk: 80 }))
  expect([...reached].toSorted()).toEqual([
    'FS_AMBIGUOUS_EDIT', 'FS_EDIT_NOT_FOUND', 'FS_NOT_FOUND', 'FS_NOT_OBSERVED', 'FS_NOT_TEXT', 'FS_STALE_VERSION', 'FS_UNENCODABLE', 'INVALID_ARGS',
    'edited latin1', 'edited utf16be', 'edited utf16le', 'edited utf32be', 'edited utf32le', 'edited utf8', 'edited utf8 with a mark',
  ])
}, 300_000)

/** The codes and encodings that came up. */
async function scripts(of: number, numRuns: number): Promise<ReadonlySet<string>> {
  const reached = new Set<string>()
  await fc.assert(
    fc.asyncProperty(firstFiles, fc.boolean(), fc.array(deeds, { minLength: 3, maxLength: 12 }), async (bytes, isReadFirst, sequence) => {
      // A log of its own now and then, so that no session grows without end.
      if (count++ % 50 === 0) agent = await freshAgent()
      const world = new World(join(application.folder, `file-${count}`), bytes)
      await world.start()
      for (const deed of [...(isReadFirst ? [{ verb: 'read' } as const] : []), ...sequence]) for (const word of await world.act(deed)) reached.add(word)
      await rm(world.path, { force: true })
    }),
    { numRuns, seed: of, endOnFailure: false },
  )
  return reached
}

async function freshAgent(): Promise<Agent> {
  const fresh = await application.ctx.agents.create({ cwd: application.folder, preset: 'hands' })
  fresh.session.append({ type: 'turn/start', data: { turn: 1 } })
  return fresh
}

// What may happen.

/** Pieces that texts are made of: everything that has ever been cut, joined or counted wrong. */
const pieces = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', 'b', 'ab', ' ', '\t', 'aa', '$&', '\\n') },
  { weight: 5, arbitrary: fc.constantFrom('\n', '\r\n') },
  { weight: 2, arbitrary: fc.constantFrom('é', 'ß', 'ÿ', 'Ã', '©', '\u{81}', '€', '😀', '😁') },
  { weight: 1, arbitrary: fc.constantFrom('\r', '\u{FEFF}', '\u{D83D}', '\u{DE00}', '\u{2028}', 'e\u{301}', '\0') },
)
const textOf = (maxLength: number) => fc.array(pieces, { maxLength }).map((parts) => parts.join(''))
const lineEnds = fc.constantFrom<'lf' | 'crlf' | 'mixed'>('lf', 'crlf', 'mixed')

const encodings = ['utf8', 'utf8', 'utf8 with a mark', 'utf16le', 'utf16be', 'utf32le', 'utf32be', 'latin1'] as const
type Encoding = (typeof encodings)[number]

const firstFiles = fc.oneof(
  {
    weight: 20,
    arbitrary: fc.record({ encoding: fc.constantFrom(...encodings), text: textOf(30), ends: lineEnds }).map(({ encoding, text, ends }): Uint8Array => {
      const lines = text.replaceAll('\0', '').replaceAll('\r\n', '\n')
      const ended = ends === 'mixed' ? text.replaceAll('\0', '') : ends === 'crlf' ? lines.replaceAll('\n', '\r\n') : lines
      return encode(ended, encoding) ?? encode(ended.replaceAll(/[^\0-\u{7F}]/gu, 'é'), encoding) ?? new Uint8Array()
    }),
  },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  { weight: 2, arbitrary: fc.constant(null) },
)

/** A part of the text as it stands at the time, by shares of its length, or a text of one's own. */
const wantedTexts = fc.oneof(
  { weight: 8, arbitrary: fc.record({ from: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.integer({ min: 0, max: 8 }), isLf: fc.boolean() }) },
  { weight: 1, arbitrary: textOf(3).map((text) => ({ text })) },
)
type Wanted = typeof wantedTexts extends fc.Arbitrary<infer T> ? T : never

const deeds = fc.oneof(
  { weight: 3, arbitrary: fc.record({ verb: fc.constant('read' as const) }) },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant('view' as const) }) },
  {
    weight: 8,
    arbitrary: fc.record({
      verb: fc.constant('edit' as const),
      wanted: wantedTexts,
      text: textOf(4),
      replaceAll: fc.boolean(),
      nearLine: fc.option(fc.integer({ min: 0, max: 8 }), { freq: 3 }),
      keeps: fc.constantFrom<'nothing' | 'before' | 'after'>('nothing', 'before', 'after'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ verb: fc.constant('str_replace' as const), wanted: wantedTexts, text: fc.option(textOf(4)) }) },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant('insert' as const), line: fc.integer({ min: -1, max: 8 }), text: textOf(4) }) },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant('write' as const), text: textOf(12) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('create' as const), text: textOf(6) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('others write' as const), text: textOf(3) }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('others delete' as const) }) },
)
type Deed = typeof deeds extends fc.Arbitrary<infer T> ? T : never

// The plain model: bytes, and what one may have seen of them.

class World {
  readonly path: string
  /** Null: no file. */
  #bytes: Uint8Array | null
  /** Undefined: never looked; null: seen to be absent. */
  #seen: Uint8Array | null | undefined

  constructor(path: string, bytes: Uint8Array | null) {
    this.path = path
    this.#bytes = bytes
  }

  async start(): Promise<void> {
    if (this.#bytes !== null) await writeFile(this.path, this.#bytes)
  }

  /** Does it for real and by the model, and compares. The answer names what it was about. */
  async act(deed: Deed): Promise<readonly string[]> {
    if (deed.verb === 'others delete') {
      this.#bytes = null
      await rm(this.path, { force: true })
      return []
    }
    if (deed.verb === 'others write') {
      this.#bytes = Buffer.concat([this.#bytes ?? new Uint8Array(), Buffer.from(deed.text)])
      await writeFile(this.path, this.#bytes)
      return []
    }
    const current = this.#bytes === null ? null : decode(this.#bytes)
    const { tool, args, expected: planned } = this.#plan(deed, current)
    const expected = Object.values(args).every((value) => typeof value !== 'string' || value.isWellFormed()) ? planned : 'INVALID_ARGS'
    const result = await this.#run(tool, args)
    const disk = await readFile(this.path).catch(() => null)
    const code = result.isError ? (result.error.info?.code ?? result.error.message) : null
    if (typeof expected === 'string') {
      expect([code, hex(disk)]).toEqual([expected, hex(this.#bytes)])
      if ((deed.verb === 'read' || deed.verb === 'view') && expected === 'FS_NOT_FOUND') this.#seen = null
      return [expected]
    }
    expect([code, hex(disk)]).toEqual([null, hex(expected)])
    if (deed.verb === 'read' && !result.isError) expect(result.value).toMatchObject({ lines: linesOf(current?.text ?? '').map((text, index) => ({ number: index + 1, text })) })
    const isChange = deed.verb !== 'read' && deed.verb !== 'view'
    this.#bytes = expected
    this.#seen = expected
    return isChange && current !== null && deed.verb !== 'write' ? [`edited ${current.encoding}`] : []
  }

  #run(name: string, args: object): Promise<ToolResult> {
    return application.ctx.tools.execute({ callId: `call-${++count}`, name, arguments: args, agent, signal: new AbortController().signal })
  }

  /** The call, and the bytes that must be there afterwards or the code that it must fail with. */
  #plan(deed: Exclude<Deed, { readonly verb: 'others write' | 'others delete' }>, current: Decoded | null): { readonly tool: string; readonly args: object; readonly expected: Uint8Array | string } {
    switch (deed.verb) {
      case 'read':
        return { tool: 'read', args: { file_path: this.path }, expected: this.#readable(current) }
      case 'view':
        return { tool: 'str_replace_editor', args: { command: 'view', path: this.path }, expected: this.#readable(current) }
      case 'edit': {
        const old_string = wantedIn(current?.text ?? '', deed.wanted)
        const new_string = deed.keeps === 'before' ? old_string + deed.text : deed.keeps === 'after' ? deed.text + old_string : deed.text
        const args = { file_path: this.path, old_string, new_string, replace_all: deed.replaceAll, ...(deed.nearLine !== null && { near_line: deed.nearLine }) }
        const isSenseless = old_string === '' || lf(old_string) === lf(new_string) || deed.nearLine === 0
        const expected = isSenseless ? 'INVALID_ARGS' : (this.#refusal(current) ?? edited(current!, { ...deed, old: lf(old_string), new: lf(new_string) }))
        return { tool: 'edit', args, expected }
      }
      case 'str_replace': {
        const old_str = wantedIn(current?.text ?? '', deed.wanted)
        const args = { command: 'str_replace', path: this.path, old_str, ...(deed.text !== null && { new_str: deed.text }) }
        return { tool: 'str_replace_editor', args, expected: this.#guard() ?? (old_str === '' ? 'INVALID_ARGS' : (this.#refusal(current) ?? replaced(current!, old_str, deed.text ?? ''))) }
      }
      case 'insert': {
        const args = { command: 'insert', path: this.path, insert_line: deed.line, new_str: deed.text }
        return { tool: 'str_replace_editor', args, expected: this.#refusal(current) ?? inserted(current!, deed.line, deed.text) }
      }
      case 'write':
        return { tool: 'write', args: { file_path: this.path, content: deed.text }, expected: this.#writeRefusal() ?? written(current, deed.text) }
      case 'create':
        return { tool: 'str_replace_editor', args: { command: 'create', path: this.path, file_text: deed.text }, expected: this.#bytes !== null ? 'INVALID_ARGS' : (this.#writeRefusal() ?? written(null, deed.text)) }
      default:
        throw new TypeError(`No model of ${JSON.stringify(deed satisfies never)}.`)
    }
  }

  #readable(current: Decoded | null): Uint8Array | string {
    if (this.#bytes === null) return 'FS_NOT_FOUND'
    return current === null ? 'FS_NOT_TEXT' : this.#bytes
  }

  /** Of what was never seen or has gone. */
  #guard(): string | undefined {
    if (this.#seen === undefined) return 'FS_NOT_OBSERVED'
    if (this.#seen === null) return this.#bytes === null ? 'FS_NOT_FOUND' : 'FS_NOT_OBSERVED'
    return this.#bytes === null ? 'FS_STALE_VERSION' : undefined
  }

  #refusal(current: Decoded | null): string | undefined {
    const refused = this.#guard()
    if (refused !== undefined) return refused
    if (current === null) return 'FS_NOT_TEXT'
    return hex(this.#seen ?? null) === hex(this.#bytes) ? undefined : 'FS_STALE_VERSION'
  }

  #writeRefusal(): string | undefined {
    if (this.#bytes === null) return this.#seen === undefined || this.#seen === null ? undefined : 'FS_STALE_VERSION'
    if (this.#seen === undefined || this.#seen === null) return 'FS_NOT_OBSERVED'
    return hex(this.#seen) === hex(this.#bytes) ? undefined : 'FS_STALE_VERSION'
  }
}

interface Decoded {
  readonly text: string
  readonly encoding: Encoding
}

function edited(file: Decoded, { old, new: next, replaceAll, nearLine }: { readonly old: string; readonly new: string; readonly replaceAll: boolean; readonly nearLine: number | null }): Uint8Array | string {
  // One entry for each unit of the text, a CRLF counting as one line feed.
  const units = file.text.match(/\r\n|[\s\S]/g) ?? []
  const plain = units.map((unit) => (unit === '\r\n' ? '\n' : unit)).join('')
  const found = matches(plain, old)
  if (found.length === 0) return 'FS_EDIT_NOT_FOUND'
  const chosen = replaceAll || found.length === 1 ? found : nearest(plain, found, nearLine)
  if (chosen === null) return 'FS_AMBIGUOUS_EDIT'
  const [head, tail] = commonEnds(old, next)
  const out = [...units]
  for (const at of chosen.toReversed()) {
    const after = units.slice(at).find((unit) => unit.endsWith('\n'))
    const lineEnd = after ?? units.slice(0, at).findLast((unit) => unit.endsWith('\n')) ?? '\n'
    const core = next.slice(head, next.length - tail).replaceAll('\n', lineEnd)
    out.splice(at + head, old.length - head - tail, core)
  }
  return encode(out.join(''), file.encoding) ?? 'FS_UNENCODABLE'
}

/** How much of both texts is the same at the start and, of the rest, at the end. */
function commonEnds(old: string, next: string): readonly [head: number, tail: number] {
  let head = 0
  while (head < Math.min(old.length, next.length) && old[head] === next[head]) head += 1
  let tail = 0
  while (tail < Math.min(old.length, next.length) - head && old.at(-1 - tail) === next.at(-1 - tail)) tail += 1
  return [head, tail]
}

function nearest(text: string, found: readonly number[], nearLine: number | null): readonly number[] | null {
  if (nearLine === null) return null
  const distance = (at: number) => Math.abs(text.slice(0, at).split('\n').length - nearLine)
  const least = Math.min(...found.map(distance))
  const all = found.filter((at) => distance(at) === least)
  return all.length === 1 ? all : null
}

function replaced(file: Decoded, old: string, next: string): Uint8Array | string {
  const found = matches(file.text, old)
  if (found.length !== 1) return found.length === 0 ? 'FS_EDIT_NOT_FOUND' : 'FS_AMBIGUOUS_EDIT'
  const [at = 0] = found
  return encode(file.text.slice(0, at) + next + file.text.slice(at + old.length), file.encoding) ?? 'FS_UNENCODABLE'
}

function inserted(file: Decoded, line: number, text: string): Uint8Array | string {
  const lines = file.text.split('\n')
  if (line < 0 || line > lines.length) return 'INVALID_ARGS'
  // Lines that bring no CR end as the next one does, or as the last one where none follows.
  const nextEnd = line < lines.length - 1 ? lines[line] : lines.at(-2)
  const lineEnd = !text.includes('\r') && nextEnd?.endsWith('\r') === true ? '\r\n' : '\n'
  const own = text.replaceAll('\n', lineEnd)
  const [before, after] = [lines.slice(0, line).join('\n'), lines.slice(line).join('\n')]
  const isEnd = line === lines.length
  const whole = file.text === '' && line === 0 ? own : isEnd ? `${before}${lineEnd}${own}` : `${before}${line === 0 ? '' : '\n'}${own}${lineEnd}${after}`
  return encode(whole, file.encoding) ?? 'FS_UNENCODABLE'
}

function written(current: Decoded | null, text: string): Uint8Array | string {
  const encoding = current?.encoding ?? 'utf8'
  const brings = encoding !== 'latin1' && text.startsWith('\u{FEFF}')
  const body = brings ? text.slice(1) : text
  const ends: readonly string[] = current?.text.match(/\r?\n/g) ?? []
  const isCrlf = ends.length > 0 && ends.every((end) => end === '\r\n') && !body.includes('\r\n')
  return encode(isCrlf ? body.replaceAll('\n', '\r\n') : body, brings && encoding === 'utf8' ? 'utf8 with a mark' : encoding) ?? 'FS_UNENCODABLE'
}

function matches(text: string, old: string): readonly number[] {
  const found: number[] = []
  for (let at = text.indexOf(old); at >= 0; at = text.indexOf(old, at + old.length)) found.push(at)
  return found
}

function wantedIn(text: string, wanted: Wanted): string {
  if ('text' in wanted) return wanted.text
  const start = Math.floor(wanted.from * text.length)
  const part = text.slice(start, start + wanted.length)
  return wanted.isLf ? lf(part) : part
}

const lf = (text: string) => text.replaceAll('\r\n', '\n')
/** As `read` shows them: no line after the last line end, and no CR before one. */
const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n').map((line, index, all) => (index < all.length - 1 || text.endsWith('\n') ? line.replace(/\r$/, '') : line)))
const hex = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString('hex'))

// Encodings, by the means of the runtime.

const marks: Partial<Record<Encoding, readonly number[]>> = { 'utf8 with a mark': [0xef, 0xbb, 0xbf], utf16le: [0xff, 0xfe], utf16be: [0xfe, 0xff], utf32le: [0xff, 0xfe, 0, 0], utf32be: [0, 0, 0xfe, 0xff] }

/** Null for what the encoding cannot hold. */
function encode(text: string, encoding: Encoding): Uint8Array | null {
  const body = bodyOf(text, encoding)
  return body === null ? null : Buffer.concat([Buffer.from(marks[encoding] ?? []), body])
}

function bodyOf(text: string, encoding: Encoding): Buffer | null {
  switch (encoding) {
    case 'utf8':
    case 'utf8 with a mark':
      return text.isWellFormed() ? Buffer.from(text, 'utf8') : null
    case 'latin1':
      return /^[\0-\u{FF}]*$/u.test(text) ? Buffer.from(text, 'latin1') : null
    case 'utf16le':
      return Buffer.from(text, 'utf16le')
    case 'utf16be':
      return Buffer.from(text, 'utf16le').swap16()
    case 'utf32le':
    case 'utf32be': {
      if (!text.isWellFormed()) return null
      const body = Buffer.concat(Array.from(text, (character) => Buffer.from(Uint32Array.of(character.codePointAt(0) ?? 0).buffer)))
      return encoding === 'utf32le' ? body : body.swap32()
    }
    default:
      throw new TypeError(encoding satisfies never)
  }
}

/** Null for what is no text. */
function decode(bytes: Uint8Array): Decoded | null {
  const buffer = Buffer.from(bytes)
  for (const encoding of ['utf32le', 'utf32be', 'utf8 with a mark', 'utf16le', 'utf16be'] as const) {
    const mark = Buffer.from(marks[encoding] ?? [])
    if (!buffer.subarray(0, mark.length).equals(mark)) continue
    const text = textIn(buffer.subarray(mark.length), encoding)
    if (text !== null) return { text, encoding }
  }
  if (buffer.includes(0)) return null
  const text = textIn(buffer, 'utf8')
  return text === null ? { text: buffer.toString('latin1'), encoding: 'latin1' } : { text, encoding: 'utf8' }
}

/** What encodes to these very bytes, or null. */
function textIn(body: Buffer, encoding: Encoding): string | null {
  const read = () => {
    switch (encoding) {
      case 'utf16be':
        return body.length % 2 === 0 ? Buffer.from(body).swap16().toString('utf16le') : ''
      case 'utf16le':
        return body.toString('utf16le')
      case 'utf32le':
      case 'utf32be': {
        if (body.length % 4 !== 0) return ''
        const points = Array.from({ length: body.length / 4 }, (_none, index) => (encoding === 'utf32le' ? body.readUInt32LE(index * 4) : body.readUInt32BE(index * 4)))
        return points.every((point) => point <= 0x10_ff_ff) ? String.fromCodePoint(...points) : ''
      }
      default:
        return body.toString('utf8')
    }
  }
  const text = read()
  return bodyOf(text, encoding)?.equals(body) === true ? text : null
}
