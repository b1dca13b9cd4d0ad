import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, linkSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { imageBytes } from '../support/image-bytes.ts'
import { createFolders, runHeadless } from '../support/headless.ts'
import { pdfBytes } from '../support/pdf-bytes.ts'
import { send, startPageServer, type PageServer } from '../support/page-server.ts'
import { wholePng } from '../support/whole-png.ts'

/*
 * The acceptance checklist of the capability tools at the program itself: what `headless tools` prints, one line a call, and what is on
 * the disk afterwards. What needs an editor, a stop in the middle or another window is proved elsewhere.
 */

type Line = Readonly<Record<string, unknown>>
/** A call and what is printed of it. Without an item it prepares for the next one. */
interface Call {
  readonly item: string | null
  readonly name: string
  readonly args: object | string
  readonly printed: object
}
interface Batch {
  readonly preset?: string
  readonly permissions?: 'allow' | 'deny'
  readonly env?: Readonly<Record<string, string>>
  readonly settings?: (port: number) => object
  readonly files?: (at: (name: string) => string, write: (name: string, content: string | Uint8Array) => void) => void
  readonly calls: (port: number) => readonly Call[]
  /** What must be on the disk at the end. */
  readonly world?: (at: (name: string) => string) => void
}

const call = (item: string | null, name: string, args: object | string, printed: object): Call => ({ item, name, args, printed })
const fails = (code: string | null, message: RegExp = /./): object => ({
  isError: true, value: null, content: [{ type: 'text', text: expect.stringMatching(/^Error: /) as string }], error: { message: expect.stringMatching(message) as string, ...(code !== null && { info: { code } }) },
})
const says = (text: string | RegExp, more: object = {}): object => ({ isError: false, error: null, content: [{ type: 'text', text: typeof text === 'string' ? text : (expect.stringMatching(text) as string) }], ...more })
const works = (more: object = {}): object => ({ isError: false, error: null, ...more })
const file = (name: string, body: string) => `<file path="${name}">\n${body}\n</file>`
const end = (lines: number) => `\n\n(End of file, ${lines} line${lines === 1 ? '' : 's'}.)`

const read = (item: string | null, file_path: string, printed: object, more: object = {}) => call(item, 'read', { file_path, ...more }, printed)
const bash = (item: string | null, command: string, printed: object, more: object = {}) => call(item, 'bash', { command, description: 'x', ...more }, printed)
const edited = (item: string, file_path: string, old_string: string, new_string: string, printed: object, more: object = {}) => [
  read(null, file_path, works()),
  call(item, 'edit', { file_path, old_string, new_string, ...more }, printed),
]
/** By the editor of the minimal preset, which wants absolute paths: the folder is put in where the calls are made. */
const changed = (item: string | null, command: string, path: string, more: object, printed: object) => call(item, 'str_replace_editor', { command, path: `{{folder}}/${path}`, ...more }, printed)

const batches: Readonly<Record<string, Batch>> = {
  'all tools': {
    files: (_at, write) => {
      write('a', 'x\n')
      write('exact', 'x'.repeat(50_000))
      write('more', 'x'.repeat(50_001))
      write('wide', '😀'.repeat(20_000))
      write('pages', `${'x'.repeat(99)}\n`.repeat(511))
    },
    calls: () => [
      read('extra root argument ignored', 'a', says(file('a', `1: x${end(1)}`)), { colour: 'red' }),
      call('an argument that JSON cannot carry refused', 'read', '{"file_path":"a","limit":1e999}', fails('INVALID_ARGS', /finite/)),
      call('arguments that are no JSON refused', 'read', '{"file_path":', fails('INVALID_ARGS', /cannot be read/)),
      call('unknown tool', 'nope', {}, { ...fails('UNKNOWN_TOOL'), card: null, pending: null, meta: null }),
      bash('exactly 50 000 bytes inline', 'cat exact', says('x'.repeat(50_000))),
      bash('50 001 bytes spilled, canonical value unchanged', 'cat more', says(/^x+\n\[…\]\nx+\n\n\[\d+ bytes in the middle are left out\. All of this result is in \//, { value: { stdout: { text: 'x'.repeat(50_001) } } })),
      bash('multi-byte cut', 'cat wide', says(/^(?:😀)+\n\[… \d+ bytes left out …\]\n(?:😀)+/u)),
      read('read exempt from spilling', 'pages', says(/\n511: x{99}\n/)),
      bash('escalation with one of two fields', 'touch made', fails('INVALID_ARGS', /does not offer justification/), { justification: 'x' }),
      call('not-wider request refused', 'write', { file_path: 'made', content: 'x', sandbox_permissions: 'read-only', justification: 'x' }, fails('INVALID_ARGS', /does not offer sandbox_permissions/)),
    ],
    world: (at) => expect(existsSync(at('made'))).toBe(false),
  },
  'nobody who allows': {
    permissions: 'deny',
    files: (at, write) => {
      write('../beyond/file', 'theirs')
      symlinkSync('../beyond', at('link'))
    },
    calls: () => [
      bash('reject runs nothing', 'touch made', fails('DENIED')),
      call('a change denied', 'write', { file_path: 'made', content: 'x' }, fails('DENIED')),
      call('.. escape denied', 'write', { file_path: '../beyond/new', content: 'x' }, fails('DENIED')),
      call('symlink escape denied', 'write', { file_path: 'link/file', content: 'x' }, fails('DENIED')),
      call('new file below a symlinked parent denied', 'write', { file_path: 'link/deep/new', content: 'x' }, fails('DENIED')),
    ],
    world: (at) => expect([existsSync(at('made')), existsSync(at('../beyond/new')), existsSync(at('../beyond/deep')), readFileSync(at('../beyond/file'), 'utf8')]).toEqual([false, false, false, 'theirs']),
  },
  bash: {
    env: { MY_API_TOKEN: 'secret-value', MY_PLAIN: 'plain' },
    files: (_at, write) => write('a-file', ''),
    calls: () => [
      bash('exit 0 without marker', 'echo hi', says('hi\n', { card: { card: 'terminal', output: 'hi\n', exitCode: 0 }, pending: { card: 'terminal', title: 'echo hi', description: 'x' } })),
      bash('exit 3', 'echo hi; exit 3', says('hi\n[exit code: 3]', { value: { exitCode: 3, signal: null, timedOut: false }, meta: { exitCode: 3 } })),
      bash('self-SIGKILL', 'kill -KILL $$', says('(no output)\n[killed by signal: SIGKILL]', { value: { exitCode: null, signal: 'SIGKILL', timedOut: false, aborted: false } })),
      bash('deadline with trapped TERM', 'trap "exit 0" TERM; echo ready; sleep 60 & wait', says('ready\n[timed out after 300 ms]', { value: { timedOut: true, exitCode: 0 } }), { timeoutMs: 300 }),
      bash('grandchild holding stdout returns', 'sleep 1000 & echo started', works({ value: { exitCode: 0, timedOut: false, stdout: { text: 'started\n' } } })),
      bash('stderr without stdout', 'echo err >&2', says('[stderr]\nerr\n')),
      bash('stdout lacking newline before the stderr section', 'printf out; echo err >&2', says('out\n[stderr]\nerr\n')),
      bash('nothing at all', 'true', says('(no output)')),
      bash('exact-cap output', 'head -c 64000 /dev/zero | tr "\\0" x', works({ value: { stdout: { truncated: false, totalBytes: 64_000 } } })),
      bash('cap+1 output', 'head -c 64001 /dev/zero | tr "\\0" x', works({ value: { stdout: { truncated: true, totalBytes: 64_001, spillPath: expect.any(String) as string } } })),
      bash('secrets scrubbed from env', 'echo "[$MY_API_TOKEN][$MY_PLAIN][$NO_COLOR][$BOSUN_SHELL]"', says('[][plain][1][1]\n')),
      bash('bad workdir', 'true', fails('BAD_WORKDIR', /nowhere does not exist/), { workdir: 'nowhere' }),
      bash('a workdir that is a file', 'true', fails('BAD_WORKDIR', /not a folder/), { workdir: 'a-file' }),
      bash('look-alike exit marker does not fool our card', 'printf "x\\n[exit code: 3]"', says('x\n[exit code: 3]', { card: { card: 'terminal', exitCode: 0 } })),
      bash('blank command', ' ', fails('INVALID_ARGS', /blank/)),
    ],
  },
  jobs: {
    calls: () => [
      bash('background: id returned', 'echo one; read x; echo two', says(/^Started background job bash-1\./, { value: { kind: 'background', jobId: 'bash-1' }, pending: { card: 'generic', kind: 'execute' } }), { run_in_background: true, interactive: true }),
      call('wait timeout = running', 'job_output', { job_id: 'bash-1', wait: true, timeout_ms: 2_000 }, says(/one\n\[status: running/)),
      call('delta reads', 'job_output', { job_id: 'bash-1' }, says(/^\(no new output\)\n\[status: running/)),
      call('listed', 'job_list', {}, says(/^bash-1 \[bash\] running.* — echo one/, { card: null, pending: { card: 'generic', title: 'List background jobs', kind: 'read' } })),
      call('a wait of nothing refused', 'job_output', { job_id: 'bash-1', wait: true, timeout_ms: 0 }, fails('INVALID_ARGS')),
      call('kill', 'job_kill', { job_id: 'bash-1' }, works({ value: { outcome: 'cancellation-requested', job: { status: 'stopping' } } })),
      call(null, 'job_output', { job_id: 'bash-1', wait: true }, says(/\[status: killed/)),
      call('kill twice: already-finished', 'job_kill', { job_id: 'bash-1' }, works({ value: { outcome: 'already-finished', job: { status: 'killed' } } })),
      call('unknown job', 'job_output', { job_id: 'bash-77' }, fails('UNKNOWN_JOB')),
      ...Array.from({ length: 10 }, () => bash(null, 'exec sleep 1000', works(), { run_in_background: true })),
      bash('11th job refused before spawn', 'touch eleventh', fails('JOB_LIMIT'), { run_in_background: true }),
    ],
    world: (at) => expect(existsSync(at('eleventh'))).toBe(false),
  },
  'the shell of the minimal preset': {
    preset: 'minimal',
    calls: () => [
      call(null, 'bash', { command: 'mkdir sub; cd sub; X=7; f() { echo "f$1"; }' }, says('(no output)')),
      call('cwd, variable, function persist', 'bash', { command: 'basename "$PWD"; echo $X; f 1' }, says('sub\n7\nf1\n')),
      call('forged marker ignored', 'bash', { command: `printf '\\033]7137;0000;end;0;/\\007after\\n'; false` }, says('after\n[exit code: 1]')),
      call('REPL left open returns partial', 'bash', { command: 'cat' }, says('(no output)\n[waits for input: the next command is typed to it]')),
      call(null, 'bash', { command: '\u0004' }, works()),
      call('output over cap keeps both ends with notice', 'bash', { command: 'seq 1 20000' }, says(/^1\n2\n[^]*All of it: [^]*\n19999\n20000\n$/)),
      call('exit 7: reset note', 'bash', { command: 'exit 7' }, says(/\[the shell ended with exit code 7\. The next call starts a fresh shell\.\]$/)),
      call('exit 7: fresh shell', 'bash', { command: 'echo "[$X]"' }, says('[]\n')),
    ],
  },
  observation: {
    files: (_at, write) => {
      for (const name of ['unread', 'touched', 'changed', 'gone']) write(name, 'old\n')
    },
    calls: () => [
      call('write over unread file refused', 'write', { file_path: 'unread', content: 'x' }, fails('FS_NOT_OBSERVED', /Read it first/)),
      read(null, 'touched', works()),
      bash(null, 'touch -d 2001-01-01 touched', works()),
      call('touched externally, same hash passes', 'edit', { file_path: 'touched', old_string: 'old', new_string: 'new' }, works()),
      read(null, 'changed', works()),
      bash(null, 'echo theirs > changed', works()),
      call('changed externally, edit stale', 'edit', { file_path: 'changed', old_string: 'theirs', new_string: 'new' }, fails('FS_STALE_VERSION', /-old\n\+theirs/)),
      read('failed read', 'new', fails('FS_NOT_FOUND')),
      call('failed read, write creates', 'write', { file_path: 'new', content: 'one\n' }, works({ value: { operation: 'create', before: null, after: 'one\n' } })),
      call('edit after own write without read', 'edit', { file_path: 'new', old_string: 'one', new_string: 'two' }, works()),
      read(null, 'gone', works()),
      bash(null, 'rm gone', works()),
      call('external delete is stale', 'edit', { file_path: 'gone', old_string: 'old', new_string: 'new' }, fails('FS_STALE_VERSION', /deleted/)),
    ],
    world: (at) => expect(['unread', 'touched', 'changed', 'new'].map((name) => readFileSync(at(name), 'utf8'))).toEqual(['old\n', 'new\n', 'theirs\n', 'two\n']),
  },
  read: {
    files: (at, write) => {
      write('f', 'line\n'.repeat(2_100))
      write('empty', '')
      write('open', 'a\nb')
      write('crlf', 'a\r\nb\r\n')
      write('cr', 'a\rb\n')
      write('long', `${'x'.repeat(5_000)}\n`)
      write('bytes', `${'x'.repeat(1_023)}\n`.repeat(60))
      write('bom', '\u{FEFF}a\n')
      write('late', Buffer.concat([Buffer.from('a\n'), Buffer.from([0xe9, 0x0a])]))
      for (const size of [-1, 0, 1].map((more) => 10 * 1024 * 1024 + more)) write(`big${size}`, 'twelve chars\n'.repeat(size / 13 + 1).slice(0, size))
      for (const nul of [8_191, 8_193]) {
        const bytes = Buffer.from('a\n'.repeat(5_000))
        bytes[nul] = 0
        write(`nul${nul}`, bytes)
      }
      mkdirSync(at('d/sub'), { recursive: true })
      execFileSync('mkfifo', [at('pipe')])
      symlinkSync('open', at('link'))
      symlinkSync('nowhere', at('dangling'))
    },
    calls: () => [
      ...(
        [
          ['offset 0', { offset: 0 }], ['offset fractional', { offset: 1.5 }], ['limit 0', { limit: 0 }], ['limit 2 001', { limit: 2_001 }], ['limit fractional', { limit: 2.5 }],
        ] as const
      ).map(([item, more]) => read(item, 'f', fails('INVALID_ARGS', /whole number/), more)),
      read('offset 1, limit 1', 'f', says(file('f', '1: line\n\n(Lines 1-1 of 2100. Go on with offset 2.)')), { offset: 1, limit: 1 }),
      read('limit 2 000', 'f', works({ value: { totalLines: 2_100, lines: expect.objectContaining({ length: 2_000 }) as unknown } }), { limit: 2_000 }),
      read('empty file', 'empty', says(file('empty', '\n(The file is empty.)'))),
      read('no final newline', 'open', says(file('open', `1: a\n2: b${end(2)}`), { card: { card: 'read', path: 'open', totalLines: 2, lines: [{ number: 1, text: 'a' }, { number: 2, text: 'b' }] } })),
      read('CRLF', 'crlf', says(file('crlf', `1: a\n2: b${end(2)}`))),
      read('lone CR', 'cr', says(file('cr', `1: a\rb${end(1)}`))),
      read('5 000-char line', 'long', says(file('long', `1: ${'x'.repeat(2_000)}… (line truncated to 2000 chars)${end(1)}`))),
      read('byte cap before line cap', 'bytes', says(/\n50: x+\n\n\(Output stopped at 51200 bytes, line 50 of 60\. Go on with offset 51\.\)/)),
      ...[-1, 0, 1].map((more) => read(`10 MiB ${more} same result`, `big${10 * 1024 * 1024 + more}`, works({ value: { lines: [{ number: 700_000, text: 'twelve chars' }] } }), { offset: 700_000, limit: 1 })),
      read('NUL at byte 8 191', 'nul8191', fails('FS_NOT_TEXT', /binary/)),
      read('NUL at byte 8 193', 'nul8193', works(), { limit: 1 }),
      read('invalid UTF-8 late in file', 'late', says(file('late', '1: a\n2: é\n\n(End of file, 2 lines. Stored as latin1.)'))),
      read('BOM', 'bom', says(file('bom', `1: a${end(1)}`))),
      read('directory', 'd', fails('FS_NOT_REGULAR_FILE', /is a folder[^]*\nsub\/$/)),
      read('FIFO', 'pipe', fails('FS_NOT_REGULAR_FILE', /FIFO/)),
      read('symlink', 'link', says(file('link', `1: a\n2: b${end(2)}`))),
      read('dangling symlink', 'dangling', fails('FS_NOT_FOUND')),
      read('offset past end', 'f', fails('FS_NOT_FOUND', /there is no line 2101/), { offset: 2_101 }),
    ],
  },
  read_image: {
    files: (_at, write) => {
      write('a.txt', 'x')
      write('a.png', wholePng(3, 2))
      write('same.png', wholePng(3, 2))
      write('wide.png', wholePng(2_001, 100))
      write('jpeg.png', imageBytes('jpeg', 3, 2, 40))
      write('huge.png', imageBytes('png', 40_000_001, 1, 40))
      write('cut.png', wholePng(300, 200).slice(0, -20))
    },
    calls: () => {
      const image = (item: string | null, file_path: string, printed: object) => call(item, 'read_image', { file_path }, printed)
      const attached = { attachmentId: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) as string, mediaType: 'image/png', width: 3, height: 2 }
      return [
        image('wrong extension', 'a.txt', fails('INVALID_ARGS', /does not end in/)),
        image('an image', 'a.png', works({ value: { path: 'a.png', image: attached }, card: { card: 'generic', content: [{ type: 'image' }] } })),
        image('identical bytes share one object', 'same.png', works({ value: { image: attached } })),
        image('2 001 px side: a smaller copy', 'wide.png', works({ value: { image: { width: 2_000 }, scaledFrom: { width: 2_001, height: 100 } } })),
        image('renamed JPEG as .png', 'jpeg.png', fails('INVALID_IMAGE', /holds JPEG/)),
        image('40 MP + 1', 'huge.png', fails('INVALID_IMAGE', /40 million/)),
        image('truncated file', 'cut.png', fails('INVALID_IMAGE', /cut off/)),
        image('a missing file', 'gone.png', fails('FS_NOT_FOUND')),
      ]
    },
  },
  write: {
    files: (at, write) => {
      for (const name of ['same', 'run.sh', 'real', 'linked', 'readonly']) write(name, 'old\n')
      write('binary.pdf', Buffer.from([0, 1, 2, 0xff]))
      chmodSync(at('run.sh'), 0o751)
      chmodSync(at('readonly'), 0o444)
      symlinkSync('real', at('link'))
      symlinkSync('nowhere', at('dangling'))
      linkSync(at('linked'), at('other'))
    },
    calls: () => {
      const put = (item: string, file_path: string, content: string, printed: object) => call(item, 'write', { file_path, content }, printed)
      return [
        put('create with parents', 'deep/er/a', 'one\r\ntwo', says('Created deep/er/a.', { value: { operation: 'create', before: null, after: 'one\ntwo' }, pending: { card: 'diff' }, card: { card: 'diff', diffs: [{ path: 'deep/er/a', oldText: null }] } })),
        put('empty content', 'nothing', '', works({ value: { operation: 'create', after: '' } })),
        read(null, 'same', works()),
        put('identical content', 'same', 'old\n', works({ value: { operation: 'update', before: 'old\n', after: 'old\n' } })),
        read(null, 'run.sh', works()),
        put('mode kept', 'run.sh', 'new\n', works()),
        read(null, 'link', works()),
        put('through symlink', 'link', 'new\n', works()),
        put('dangling symlink', 'dangling', 'x', fails('FS_NOT_REGULAR_FILE')),
        read(null, 'linked', works()),
        put('hard-link count', 'linked', 'new\n', works()),
        put('parent is a file', 'same/x', 'x', fails('FS_IO_ERROR', /part of its path is a file/)),
        read(null, 'readonly', works()),
        put('read-only file', 'readonly', 'x', fails('FS_READONLY')),
        put('binary file that was not read', 'binary.pdf', 'x', fails('FS_NOT_OBSERVED')),
      ]
    },
    world: (at) => {
      expect([readFileSync(at('deep/er/a'), 'utf8'), readFileSync(at('nothing'), 'utf8'), readFileSync(at('real'), 'utf8'), readFileSync(at('other'), 'utf8'), readFileSync(at('readonly'), 'utf8')]).toEqual(['one\r\ntwo', '', 'new\n', 'old\n', 'old\n'])
      expect([statSync(at('run.sh')).mode & 0o777, statSync(at('nothing')).mode & 0o777, lstatSync(at('link')).isSymbolicLink(), existsSync(at('nowhere')), statSync(at('linked')).nlink]).toEqual([0o751, 0o666 & ~process.umask(), true, false, 1])
    },
  },
  edit: {
    files: (_at, write) => {
      const files = { none: 'one\n', one: 'one\ntwo\nthree\n', two: 'x\ny\nx\n', all: 'x x\nx\n', over: 'aaa', literal: 'a b c', crlf: 'a\r\nb\r\nc\r\n', mixed: 'a\r\nb\nc\r\nd\re\n', bom: '\u{FEFF}a b\n', whole: 'all\n', nul: `${'a\n'.repeat(5_000)}\0end x\n` }
      for (const [name, content] of Object.entries(files)) write(name, content)
    },
    calls: () => [
      ...edited('0 matches', 'none', 'two', 'x', fails('FS_EDIT_NOT_FOUND', /was not found/)),
      ...edited('1 match', 'one', 'two', '2', says('Edited one at line 2. It now reads:\n1: one\n2: 2\n3: three', { card: { card: 'diff' }, value: { replacements: 1 } })),
      ...edited('2 matches', 'two', 'x', 'z', fails('FS_AMBIGUOUS_EDIT', /line 1: x\n {2}line 3: x$/)),
      ...edited('replace_all count', 'all', 'x', 'y', works({ value: { replacements: 3 } }), { replace_all: true }),
      ...edited('aa in aaa', 'over', 'aa', 'b', works({ value: { replacements: 1 } })),
      ...edited('$& literal', 'literal', 'b', "$& $1 $$ $'", works()),
      ...edited('old == new', 'none', 'one', 'one', fails('INVALID_ARGS', /the same text/)),
      ...edited('empty old', 'none', '', 'x', fails('INVALID_ARGS', /empty/)),
      ...edited('multi-line old and CRLF file', 'crlf', 'a\nb\n', 'A\nB\nX\n', works()),
      ...edited('mixed-EOL file keeps untouched lines', 'mixed', 'b', 'B\nC', works()),
      ...edited('BOM kept', 'bom', 'a', 'A', works()),
      ...edited('delete whole content', 'whole', 'all\n', '', works({ card: { card: 'diff', diffs: [{ oldText: 'all\n', newText: '' }] } })),
      ...edited('late NUL', 'nul', 'x', 'y', works()),
    ],
    world: (at) =>
      expect(['none', 'one', 'two', 'all', 'over', 'literal', 'crlf', 'mixed', 'bom', 'whole', 'nul'].map((name) => readFileSync(at(name), 'utf8'))).toEqual([
        'one\n', 'one\n2\nthree\n', 'x\ny\nx\n', 'y y\ny\n', 'ba', "a $& $1 $$ $' c", 'A\r\nB\r\nX\r\nc\r\n', 'a\r\nB\nC\nc\r\nd\re\n', '\u{FEFF}A b\n', '', `${'a\n'.repeat(5_000)}\0end y\n`,
      ]),
  },
  str_replace_editor: {
    preset: 'minimal',
    files: (at, write) => {
      for (const [name, content] of Object.entries({ a: '1\n2\n3', empty: '', crlf: 'a\r\nb', two: 'x\ny\nx\n', top: 'a\nb\n', 'd/B': '', 'd/a': '', 'd/.hidden': '', 'd/e/x': '' })) write(name, content)
      mkdirSync(at('d/node_modules'))
    },
    calls: () => [
      call('relative path refused in strict mode', 'str_replace_editor', { command: 'view', path: './a' }, fails('INVALID_ARGS', /Maybe you mean \/.*\/a\./)),
      changed('view range errors', 'view', 'a', { view_range: [3, 2] }, fails('INVALID_ARGS', /before it begins/)),
      changed('view range −1', 'view', 'a', { view_range: [2, -1] }, says(/\(3 lines, lines 2 to 3\)\n {5}2 {2}2\n {5}3 {2}3$/)),
      changed('empty file 1 line', 'view', 'empty', {}, says(/\(1 line\)\n {5}1 {2}$/)),
      changed('directory listing filters and order', 'view', 'd', {}, says(/\nf\t[^\n]*\/d\/B\nf\t[^\n]*\/d\/a\nd\t[^\n]*\/d\/e\nf\t[^\n]*\/d\/e\/x$/)),
      changed('create existing', 'create', 'a', { file_text: 'x' }, fails('INVALID_ARGS', /is there already/)),
      changed(null, 'view', 'two', {}, works()),
      changed('ambiguous lists lines', 'str_replace', 'two', { old_str: 'x', new_str: 'z' }, fails('FS_AMBIGUOUS_EDIT', /line 1: x\n {2}line 3: x$/)),
      changed(null, 'view', 'top', {}, works()),
      changed('insert 0', 'insert', 'top', { insert_line: 0, new_str: 'X' }, works()),
      changed('insert at count', 'insert', 'top', { insert_line: 4, new_str: 'Y' }, works()),
      changed(null, 'view', 'crlf', {}, works()),
      changed('CR not normalised', 'str_replace', 'crlf', { old_str: 'a\nb', new_str: 'x' }, fails('FS_EDIT_NOT_FOUND', /Only line ends differ/)),
      changed('an unread file refused', 'insert', 'd/a', { insert_line: 0, new_str: 'x' }, fails('FS_NOT_OBSERVED')),
    ],
    world: (at) => expect(['a', 'two', 'top', 'crlf', 'd/a'].map((name) => readFileSync(at(name), 'utf8'))).toEqual(['1\n2\n3', 'x\ny\nx\n', 'X\na\nb\n\nY', 'a\r\nb', '']),
  },
  'glob and grep': {
    files: (_at, write) => {
      write('src/deep/b.ts', 'x\r\nhit CRLF\r\n')
      write('-dash.ts', 'hit -dash')
      write('node_modules/m.ts', 'hit')
      write('.gitignore', 'node_modules\n')
      write('.git/config.ts', 'hit')
      write('latin1.txt', Buffer.concat([Buffer.from('hit '), Buffer.from([0xe4, 0xff, 0x0a])]))
      write('long.txt', `longhit ${'é'.repeat(1_500)}\n`)
      for (let count = 0; count < 101; count += 1) write(`many/f${count}.md`, `manyhit\nmanyhit\nmanyhit\n`)
    },
    calls: () => {
      const glob = (item: string, args: object, printed: object) => call(item, 'glob', args, printed)
      const grep = (item: string, args: object, printed: object) => call(item, 'grep', args, printed)
      return [
        glob('bare *.ts matches nested', { pattern: 'b.ts' }, says('src/deep/b.ts', { card: { card: 'search', shape: 'paths', paths: ['src/deep/b.ts'], truncated: false, total: 1 } })),
        glob('node_modules by include_ignored alone', { pattern: 'm.ts' }, says(/^No files match m\.ts\./)),
        glob('node_modules when asked', { pattern: 'm.ts', include_ignored: true }, says('node_modules/m.ts')),
        glob('.git never', { pattern: 'config.ts', include_ignored: true }, says('No files match config.ts.')),
        glob('result over cap: page and full list locator', { pattern: '*.md' }, says(/\n\n\(100 of 101 files, newest first; all of them: \/.+\)\nBy folder: many\/ 101$/, { value: { paths: expect.objectContaining({ length: 101 }) as unknown } })),
        glob('root missing', { pattern: '*', path: 'nowhere' }, fails('SEARCH_FAILED', /does not exist/)),
        glob('invalid pattern', { pattern: 'a{b' }, fails('SEARCH_INVALID_PATTERN')),
        glob('pattern starting with -', { pattern: '-d*' }, says('-dash.ts')),
        grep('path starting with -', { pattern: '-dash', path: '-dash.ts' }, says('Found 1 match in 1 file\n\n-dash.ts\nLine 1: hit -dash')),
        grep('invalid regex', { pattern: '(' }, fails('SEARCH_INVALID_PATTERN')),
        grep('exit 1 = empty', { pattern: 'nowhere at all' }, says(/^No lines match nowhere at all\./)),
        grep('include with ! refused', { pattern: 'x', include: '!*.ts' }, fails('INVALID_ARGS', /cannot exclude/)),
        grep('include with , refused', { pattern: 'x', include: '*.ts,*.md' }, fails('INVALID_ARGS', /not a list/)),
        grep('include with braces fine, CRLF stripped', { pattern: 'hit C', include: '*.{ts,js}' }, says('Found 1 match in 1 file\n\nsrc/deep/b.ts\nLine 2: hit CRLF', { card: { card: 'search', shape: 'matches', files: [{ path: 'src/deep/b.ts', matches: [{ lineNumber: 2, line: 'hit CRLF' }] }] } })),
        grep('long line cut on UTF-8 boundary', { pattern: 'longhit' }, says(/^Found 1 match in 1 file\n\nlong\.txt\nLine 1: longhit é+… \(line cut\)$/)),
        grep('non-UTF-8 line placeholder', { pattern: '^hit ', path: 'latin1.txt' }, says(/Line 1: \(this line is not valid UTF-8\)/)),
        grep('matches over cap: page and full list locator', { pattern: 'manyhit' }, says(/^Found 303 matches in 101 files, the first 250 shown\n[^]*\(250 of 303 matches; all of them: \/.+\)/)),
      ]
    },
  },
  skills: {
    files: (_at, write) => {
      const skill = (name: string, more = '', body = `Do ${name}.`) => `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n${body}\n`
      write('.bosun/skills/a/SKILL.md', skill('a'))
      write('.agents/skills/a/SKILL.md', skill('a', '', 'The other.'))
      write('.bosun/skills/closed/SKILL.md', skill('closed', 'disable-model-invocation: true\n'))
      write('.bosun/skills/camel/SKILL.md', skill('camel', 'disableModelInvocation: true\n'))
      write('.bosun/skills/goes/SKILL.md', skill('goes'))
    },
    calls: () => {
      const skill = (item: string, name: string, printed: object) => call(item, 'skill', { name }, printed)
      return [
        skill('a skill; duplicate names by rank', 'a', says(/^<skill name="a">[^]*Do a\.\n<\/skill>$/, { value: { name: 'a', provider: 'project', content: 'Do a.\n' } })),
        skill('bad name', '../a', fails('SKILL_INVALID_NAME')),
        skill('disable-model-invocation blocks the tool', 'closed', fails('SKILL_NOT_ALLOWED', /\/closed/)),
        skill('camelCase flag drops the skill', 'camel', fails('SKILL_BROKEN', /disable-model-invocation/)),
        skill('unknown', 'b', fails('SKILL_NOT_FOUND')),
        bash(null, 'rm -r .bosun/skills/goes', works()),
        skill('vanished between list and load', 'goes', fails('SKILL_NOT_FOUND', /went away/)),
      ]
    },
  },
  web: {
    preset: 'editor',
    settings: (port) => ({ 'bosun.tools.web.searchProvider': 'searxng', 'bosun.tools.web.providers': { searxng: { baseUrl: `http://127.0.0.1:${port}` } }, 'bosun.tools.web.allowedPrivateHosts': [`127.0.0.1:${port}`] }),
    calls: (port) => {
      const fetched = (item: string, path: string, printed: object) => call(item, 'web_fetch', { url: path.startsWith('http') ? path : `http://127.0.0.1:${port}${path}` }, printed)
      const search = (item: string, queries: readonly string[], printed: object) => call(item, 'web_search', { queries }, printed)
      return [
        search('0 queries', [], fails('INVALID_ARGS', /0 entries/)),
        search('5 queries', ['a', 'b', 'c', 'd', 'e'], fails('INVALID_ARGS', /5 entries/)),
        search('round-robin and URL dedup', ['a', 'b'], works({ value: { sources: ['1', '2', '4', '3'].map((n) => ({ url: `https://${n}.example/` })) }, card: { card: 'web', kind: 'search' } })),
        search('a failing query gives what the others found', ['a', 'bad'], works({ value: { failedQueries: [{ query: 'bad' }] } })),
        fetched('404 is a result', '/404', works({ value: { statusCode: 404 }, card: { card: 'web', kind: 'fetch', statusCode: 404 } })),
        fetched('cross-origin redirect', '/other', fails('WEB_REDIRECT_BLOCKED')),
        fetched('6th redirect', '/r6', fails('WEB_REDIRECT_BLOCKED', /more than 5/)),
        fetched('5 redirects', '/r5', works({ value: { body: { content: 'there' } } })),
        fetched('declared oversize', '/large', fails('WEB_FETCH_TOO_LARGE')),
        fetched('a PDF is its text', '/a.pdf', works({ value: { body: { content: expect.stringContaining('First page') as string } } })),
        fetched('another type refused', '/a.zip', fails('WEB_UNSUPPORTED_CONTENT_TYPE')),
        fetched('unknown charset', '/klingon', fails('WEB_UNSUPPORTED_CONTENT_TYPE', /klingon/)),
        fetched('600-level nesting falls back to raw', '/deep', works({ value: { body: { content: expect.stringContaining('<div><div>') as string } } })),
        fetched('private address blocked', 'http://192.168.1.1/', fails('WEB_BLOCKED_URL')),
        fetched('IPv6-mapped loopback blocked', 'http://[::ffff:127.0.0.1]/', fails('WEB_BLOCKED_URL')),
        fetched('no address', 'http://', fails('WEB_INVALID_URL')),
      ]
    },
  },
  'terminals and language services': {
    calls: () => {
      const terminal = (item: string | null, name: string, args: object, printed: object) => call(item, `terminal_${name}`, args, printed)
      const pty = { sessionId: 'pty-1' }
      return [
        terminal('open', 'open', { type: 'bash', name: 'work' }, works({ value: { sessionId: 'pty-1', name: 'work', type: 'bash', status: { kind: 'running' } }, pending: { card: 'generic', kind: 'execute' } })),
        terminal('send', 'send', { ...pty, text: 'echo one' }, works({ value: { viewport: 'echo one\none\n$', waitReason: 'stdin_read' }, card: { card: 'terminal', output: 'echo one\none\n$' } })),
        terminal('stdin prompt detected', 'send', { ...pty, text: 'read -p "name? " x' }, works({ value: { viewport: 'read -p "name? " x\nname?', waitReason: 'stdin_read' } })),
        terminal(null, 'send', { ...pty, text: 'me' }, works()),
        terminal('read', 'read', { ...pty, count: 2 }, says(/\[lines: \d+-\d+ of \d+\]$/)),
        terminal(null, 'send', { ...pty, text: 'sleep 1000', run_in_background: true }, works()),
        terminal('send while active', 'send', { ...pty, text: 'x' }, fails('SEND_ACTIVE')),
        terminal('a signal of no kind refused', 'signal', { ...pty, signal: 'SIGUSR1' }, fails('INVALID_ARGS')),
        terminal('not there', 'read', { sessionId: 'pty-9' }, fails('NO_SESSION')),
        terminal('name twice', 'open', { type: 'bash', name: 'work' }, fails('DUPLICATE_NAME')),
        terminal('close', 'close', pty, says('Closed pty-1.', { value: { sessionId: 'pty-1', outcome: 'closed' } })),
        terminal('list', 'list', {}, says('You have no terminals.')),
        call('lsp without a server', 'lsp', { operation: 'hover', file_path: 'a.ts', line: 1, character: 1 }, fails('LSP_UNAVAILABLE')),
      ]
    },
    files: (_at, write) => write('a.ts', 'const a = 1\n'),
  },
}

let server: PageServer
beforeAll(async () => {
  server = await startPageServer(({ path }, response) => {
    if (path.startsWith('/search')) {
      const found = { a: ['1', '2', '3'], b: ['2', '4'] }[new URL(path, 'http://x').searchParams.get('q') ?? '']
      return found === undefined ? send(response, 'no', { status: 500 }) : send(response, JSON.stringify({ results: found.map((n) => ({ url: `https://${n}.example/`, title: n })) }), { type: 'application/json' })
    }
    const redirect = /^\/r(\d)$/.exec(path)
    if (redirect) return redirect[1] === '0' ? send(response, 'there', { type: 'text/plain' }) : response.writeHead(302, { location: `/r${Number(redirect[1]) - 1}` }).end()
    if (path === '/404') return send(response, '<h1>Not here</h1>', { status: 404 })
    if (path === '/other') return response.writeHead(302, { location: 'https://other.example/' }).end()
    if (path === '/large') return response.writeHead(200, { 'content-type': 'text/html', 'content-length': '50000000' }).write('<p>x')
    if (path === '/a.pdf') return send(response, Buffer.from(pdfBytes([['First page']])), { type: 'application/pdf' })
    if (path === '/a.zip') return send(response, 'PK', { type: 'application/zip' })
    if (path === '/klingon') return send(response, 'x', { type: 'text/html; charset=klingon' })
    return send(response, `<html><body>${'<div>'.repeat(600)}deep${'</div>'.repeat(600)}</body></html>`)
  })
})
afterAll(() => server.close())

describe.each(Object.entries(batches))('headless tools: %s', (_name, batch) => {
  const { paths, remove } = createFolders('work', 'store')
  const [work = '', store = ''] = paths
  const at = (name: string) => join(work, name)
  let code: number | null
  let lines: readonly Line[] = []
  let stderr = ''
  const calls = batch.calls(0)
  beforeAll(async () => {
    mkdirSync(work)
    mkdirSync(store)
    batch.files?.(at, (name, content) => {
      mkdirSync(dirname(at(name)), { recursive: true })
      writeFileSync(at(name), content)
    })
    // The same on every machine, whether it has a sandbox or not; what a sandbox does has its own tests.
    writeFileSync(join(store, 'settings.json'), JSON.stringify({ 'bosun.sandbox.use': 'off', ...batch.settings?.(server.port) }))
    const planned = batch.calls(server.port).map(({ name, args }) => ({ name, arguments: typeof args === 'string' ? args : (JSON.parse(JSON.stringify(args).replaceAll('{{folder}}', work)) as object) }))
    const outcome = await runHeadless(['tools', JSON.stringify(planned), '--cwd', work, '--storage', store, '--permissions', batch.permissions ?? 'allow', ...(batch.preset === undefined ? [] : ['--preset', batch.preset])], batch.env ? { env: batch.env } : {})
    ;({ code, lines, stderr } = outcome)
  })
  afterAll(remove)

  it('answers every call with one line, and leaves on the disk what it says', () => {
    expect([code, lines.map(({ name }) => name)], stderr).toEqual([0, calls.map(({ name }) => name)])
    for (const line of lines) expect(Object.keys(line).filter((key) => key !== 'policy')).toEqual(['name', 'isError', 'value', 'content', 'pending', 'card', 'meta', 'error'])
    // What prepares for the next call went well.
    for (const [index, { item, printed }] of calls.entries()) if (item === null) expect(lines[index], stderr).toMatchObject(printed)
    batch.world?.(at)
  })
  it.each(calls.flatMap(({ item }, index) => (item === null ? [] : [{ item, index }])))('$item', ({ index }) => {
    expect(lines[index]).toMatchObject(batch.calls(server.port)[index]?.printed ?? {})
  })
})
