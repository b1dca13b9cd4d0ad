import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/*
 * A small language server for tests, started as a program: it speaks the protocol by hand, so that it can also speak it badly.
 *
 * Usage: `node language-server.ts MODE`. Words of the files it is shown are names: a line `def NAME` declares one, any other place
 * of the word refers to it.
 *   ok                  answers at once
 *   slow                answers the handshake after a second
 *   mute                never answers the handshake
 *   hang                never answers a question
 *   crash               ends with code 3 at the first question, each time it is started
 *   crash-once FILE     the same, unless the file is there, which it makes before it ends
 *   fail                ends before the handshake, with words on the standard error
 *   flood               publishes two thousand problems for a file, again and again
 *   garbage             says what is no message before each answer
 *   huge                begins a message of many GB as its answer, and goes on and on
 *   endless             answers with what has no end and is no message
 *   nonsense            answers with what is none of the protocol
 */
const [mode = 'ok', flag = ''] = process.argv.slice(2)
if (mode === 'fail') {
  process.stderr.write('reading the project\ncannot find the licence\n')
  process.exit(7)
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
}
type Place = { readonly line: number; readonly character: number }

const texts = new Map<string, string>()
let pending = Buffer.alloc(0)
process.stdin.on('data', (chunk: Buffer) => {
  pending = Buffer.concat([pending, chunk])
  for (;;) {
    const end = pending.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/Content-Length: (\d+)/i.exec(pending.subarray(0, end).toString())?.[1])
    if (pending.length < end + 4 + length) return
    const message = JSON.parse(pending.subarray(end + 4, end + 4 + length).toString()) as Message
    pending = pending.subarray(end + 4 + length)
    void receive(message)
  }
})
process.stdin.on('end', () => process.exit(0))

const write = (message: object) => {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`)
  process.stdout.write(body)
}

async function receive({ id, method, params = {} }: Message): Promise<void> {
  const { textDocument } = params as { readonly textDocument?: { readonly uri: string; readonly text?: string } }
  switch (method) {
    case 'initialize':
      if (mode === 'mute') return
      if (mode === 'slow') await new Promise((resolve) => setTimeout(resolve, 1_000))
      return reply(id, { capabilities })
    case 'initialized':
      return
    case 'shutdown':
      return reply(id, null)
    case 'exit':
      process.exit(0)
      return
    case 'textDocument/didOpen':
      texts.set(textDocument?.uri ?? '', textDocument?.text ?? '')
      publish(textDocument?.uri ?? '')
      if (mode === 'flood') setInterval(() => publish(textDocument?.uri ?? ''), 20)
      return
    case 'textDocument/didClose':
      texts.delete(textDocument?.uri ?? '')
      return
    default:
      if (id === undefined || method === undefined) return
      if (mode === 'hang') return
      if (mode === 'crash' || (mode === 'crash-once' && !isMarked())) {
        process.stderr.write('out of memory\n')
        process.exit(3)
      }
      if (mode === 'huge') process.stdout.write('Content-Length: 99999999999\r\n\r\n')
      if (mode === 'huge' || mode === 'endless') return pour()
      if (mode === 'nonsense') return reply(id, { contents: 7, uri: 7, name: 7 })
      return reply(id, answer(method, params, textDocument?.uri ?? ''))
  }
}

/** As fast as somebody takes it. */
function pour(): void {
  const block = 'x'.repeat(1_000_000)
  const more = (): void => {
    while (process.stdout.write(block));
  }
  process.stdout.on('drain', more)
  more()
}

function isMarked(): boolean {
  try {
    readFileSync(flag)
    return true
  } catch {
    // Made by the first run, so that the second one finds it.
    process.getBuiltinModule('node:fs').writeFileSync(flag, '')
    return false
  }
}

function reply(id: number | undefined, result: unknown): void {
  if (mode === 'garbage') {
    process.stdout.write('Content-Length: 5\r\n\r\n{oops')
    process.stdout.write('Content-Length: 4\r\n\r\nnull')
  }
  write({ id, result })
}

const capabilities = {
  textDocumentSync: 1,
  definitionProvider: true,
  referencesProvider: true,
  hoverProvider: true,
  documentSymbolProvider: true,
  renameProvider: true,
  codeActionProvider: { resolveProvider: true },
}

function publish(uri: string): void {
  const count = mode === 'flood' ? 2_000 : (texts.get(uri)?.match(/\bwrong\b/g)?.length ?? 0)
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }
  write({ method: 'textDocument/publishDiagnostics', params: { uri, diagnostics: Array.from({ length: count }, (_, index) => ({ range, severity: 1, message: `wrong ${index + 1}`, source: 'toy' })) } })
}

function answer(method: string, params: Readonly<Record<string, unknown>>, uri: string): unknown {
  const text = texts.get(uri) ?? (uri === '' ? '' : readFileSync(fileURLToPath(uri), 'utf8'))
  const position = (params['position'] ?? { line: 0, character: 0 }) as Place
  const name = wordAt(text, position)
  const [declared] = name === '' ? [] : placesOf(text, name).filter(({ start }) => text.split('\n')[start.line]?.startsWith('def ') === true)
  switch (method) {
    case 'textDocument/definition':
      // A plain location and a link in one answer.
      return declared === undefined ? null : [{ uri, range: declared }, { targetUri: uri, targetRange: declared, targetSelectionRange: declared }]
    case 'textDocument/references':
      return placesOf(text, name).map((range) => ({ uri, range }))
    case 'textDocument/hover':
      return declared === undefined ? null : { contents: ['**', name, '**'].join('') }
    case 'textDocument/documentSymbol':
      return text.split('\n').flatMap((row, line) => (row.startsWith('def ') ? [symbol(row.slice(4), line)] : []))
    case 'textDocument/rename':
      return name === '' ? null : { changes: { [uri]: placesOf(text, name).map((range) => ({ range, newText: params['newName'] })) } }
    case 'textDocument/codeAction':
      return [
        { title: 'Shout', kind: 'refactor', data: { uri } },
        { title: 'Run it', command: 'toy.run' },
      ]
    case 'codeAction/resolve': {
      const { data, title, kind } = params as { readonly data: { readonly uri: string }; readonly title: string; readonly kind: string }
      const all = texts.get(data.uri) ?? ''
      const [first = ''] = all.split('\n')
      return { title, kind, edit: { documentChanges: [{ textDocument: { uri: data.uri, version: 1 }, edits: [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: first.length } }, newText: first.toUpperCase() }] }] } }
    }
    default:
      return null
  }
}

const symbol = (name: string, line: number) => {
  const range = { start: { line, character: 4 }, end: { line, character: 4 + name.length } }
  return { name, kind: 12, range, selectionRange: range }
}

function wordAt(text: string, { line, character }: Place): string {
  const row = text.split('\n')[line] ?? ''
  return (/\w*$/.exec(row.slice(0, character))?.[0] ?? '') + (/^\w*/.exec(row.slice(character))?.[0] ?? '')
}

function placesOf(text: string, name: string) {
  return text.split('\n').flatMap((row, line) => [...row.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].map(({ index }) => ({ start: { line, character: index }, end: { line, character: index + name.length } })))
}
