import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/*
 * Chapter 19: every line of the acceptance checklist, and the tests that prove it. Written down by hand. A proof is the title of a test,
 * or the name of a row of a table of tests, or how either begins; whoever renames one says so here. "ours" marks what was decided
 * differently than the reference does it.
 */

type Proof = readonly [suite: string, title: string]
type Item = readonly [item: string, ...proofs: readonly Proof[]]

const titlesOf =
  (suite: string) =>
  (title: string): Proof => [suite, title]
const spec = (name: string) => titlesOf(`spec/capability-tools/${name}.test.ts`)

const sandbox = spec('00-sandbox')
const realSandbox = spec('00-sandbox-real')
const shared = spec('00-shared')
const badShellInput = spec('01-shell-bad-input')
const shellControl = spec('01-shell-control')
const pwsh = spec('02-pwsh')
const persistent = spec('03-persistent-shell')
const observation = spec('04-observation')
const read = spec('05-read')
const readImage = spec('06-read-image')
const write = spec('07-write')
const edit = spec('08-edit')
const strReplaceEditor = spec('09-str-replace-editor')
const glob = spec('10-glob')
const grep = spec('11-grep')
const jobs = spec('12-jobs')
const skill = spec('13-skill')
const webSearch = spec('14-web-search')
const webFetch = spec('15-web-fetch')
const terminal = spec('16-terminal')
const lsp = spec('17-lsp')
const attachments = titlesOf('spec/core-runtime/16-attachments.test.ts')
const cards = titlesOf('spec/core-runtime/09-cards.test.ts')
const shellTool = titlesOf('unit/tools/shell/shell-tool.test.ts')
const streams = titlesOf('unit/tools/shell/stream-collector.test.ts')
const jobTools = titlesOf('unit/tools/jobs/job-tools.test.ts')
const jobBook = titlesOf('unit/features/jobs/jobs.test.ts')
const searchTools = titlesOf('unit/tools/search/search-tools.test.ts')
const ripgrep = titlesOf('unit/platform/node/ripgrep-search.test.ts')
const addressGuard = titlesOf('unit/platform/node/address-guard.test.ts')
const webPages = titlesOf('unit/platform/node/web-pages.test.ts')
const processes = titlesOf('contract/process-runner.suite.ts')
const headlessRun = titlesOf('headless/run.test.ts')
const editorFiles = titlesOf('editor/file-tools.test.ts')
const editorSearch = titlesOf('editor/search.test.ts')
const editorLanguages = titlesOf('editor/languages.test.ts')
const editorChanges = titlesOf('editor/language-changes.test.ts')

const checklist: Readonly<Record<string, readonly Item[]>> = {
  Shared: [
    ['parallel read calls overlap while edit waits its turn', shared('parallel read calls overlap while edit waits its turn')],
    ['extra root argument ignored', shared('with an extra argument at the root ignores it')],
    ['NaN argument refused', shared('with the argument %s is refused before its body runs')],
    ['abort before and after dispatch gives the two codes', shared('that is aborted before dispatch runs nothing, one that is aborted after it says so')],
    ['own-timer timeout and caller abort distinguished', shared('of 30 s ends %s by TOOL_TIMEOUT with its milliseconds, the stop of the caller by another code')],
    ['malformed meta gives the generic card, no throw', shared('of malformed meta is the generic one, whatever the tool, and nothing throws'), cards('takes facts of every odd shape for no facts, and never throws')],
    ['replay of a stored session draws identical cards with the workspace deleted', headlessRun('replays its log to the same cards and messages with the workspace gone'), cards('every tool’s cards are the same after a restart with the workspace gone')],
  ],
  Spill: [
    ['exactly 50 000 bytes inline; 50 001 spilled, replacement within the cap with its notice', shared('of exactly 50 000 bytes stays inline'), shared('of 50 001 bytes is saved whole, and what takes its place is at most the cap, notice included')],
    ['multi-byte cut', shared('is cut at whole characters')],
    ['failing store keeps the original', shared('stays whole where the store fails')],
    ['notice larger than the cap keeps the original', shared('stays whole where the notice alone is larger than the cap')],
    ['read and Code Mode calls exempt', shared('of read, which pages itself, and of a program’s call stays whole')],
    ['canonical value unchanged', shared('leaves the canonical value as it was')],
  ],
  'Sandbox/trust': [
    ['escalation with one of two fields', sandbox('without justification'), sandbox('without sandbox_permissions')],
    ['not-wider request refused without prompt', sandbox('for the mode the session has'), sandbox('not-wider request refused without prompt'), shared('by %s is refused without a question, and nothing runs')],
    ['reject or cancel runs nothing', sandbox('reject/cancel runs nothing: %s'), shared('that is %s runs nothing'), shared('rejected'), shared('cancelled')],
    ['grant not reused by the next call', sandbox('runs that one call in the wider mode and is not reused by the next call'), shared('that is allowed once lets this call alone run: the next one asks again')],
    ['symlink and .. escape denied', sandbox('symlink and .. escape denied: ..'), sandbox('symlink and .. escape denied: a link'), realSandbox('a write outside is denied'), shared('a path with ..'), shared('a link that leads out'), shared('denies an edit through a link to a file outside when nobody allows it')],
    ['new file below a symlinked parent outside the roots denied', sandbox('new file below a symlinked parent outside the roots denied'), shared('a new file below a linked folder'), shared('denies %s when nobody allows it, and nothing is made')],
    ['second workspace folder writable', sandbox('a second workspace folder is writable'), realSandbox('a second workspace folder is writable'), shared('holds a second folder of the workspace as well')],
    ['untrusted: shell absent, write refused, granting trust re-registers', sandbox('untrusted: shell absent, write refused, granting trust re-registers'), shared('has no shell and takes no change; with trust the tools are back')],
  ],
  'bash/pwsh': [
    ['exit 0 without marker', shellTool('gives the output, no marker and every fact of a clean end'), pwsh('a clean end has no marker')],
    ['exit 3', shellTool('a non-zero exit, which is no error'), pwsh('the native code of a failed end')],
    ['self-SIGKILL', shellTool('a process that kills itself: a signal, neither time-out nor stop')],
    ['deadline with trapped TERM', shellTool('shows also when the command traps the signal and exits with 0'), badShellInput('ignores TERM is killed after the grace, with all that ignore it with it')],
    ['grandchild holding stdout returns within grace', shellControl('come within the grace though a grandchild holds the output open'), processes('a grandchild that holds the output is waited for only as long as the grace')],
    ['sleep tree gone after abort', shellTool('ends the whole tree, and what was written until then reaches the model and the card')],
    ['stderr without stdout', shellTool('errors without output')],
    ['stdout lacking newline before the stderr section', shellTool('a line break before the second stream when the first has none')],
    ['exact-cap and cap+1 output', shellTool('of exactly 64 000 bytes is whole'), shellTool('of one byte more keeps both ends, says so, and is whole in a file')],
    ['stream over spill cap has no path', streams('over the cap of its file has none'), badShellInput('of a call keeps both ends, in bounded memory, and no file beyond 64 MiB')],
    ['secrets scrubbed from env, managed names not inherited', shellTool('has no secrets of the host, nothing of ours but what we give, and quiet programs')],
    ['bad workdir', shellTool('a workdir that does not exist'), shellTool('a workdir that is a file'), shellTool('a workdir that is not on a disk')],
    [
      'background: id returned at once, survives turn abort, delta reads, 11th job refused before spawn, spawn failure reason read once',
      shellTool('returns its id at once, survives the call’s stop, and gives output by parts'),
      jobs('outlives the stop of the turn that started it'),
      shellTool('is the eleventh that is refused before anything runs'),
      shellTool('that cannot be started is killed before exit, and its reason is read once'),
    ],
    ['look-alike exit marker does not fool our card', shellTool('are not fooled by a look-alike marker in the output')],
    // Ours: such a command becomes a block of its own, so that it works.
    ['pwsh param() first', pwsh('param after comments'), pwsh('a command that begins with param()')],
    ['non-ASCII output under Windows PowerShell 5.1', pwsh('is no logo, no profile, no questions, and one argument that is a script: UTF-8 first'), pwsh('non-ASCII output')],
  ],
  'Persistent shell': [
    ['cwd, variable, function persist', persistent('keeps folder, variable, function and background program'), pwsh('folder, variable and function persist')],
    ['forged marker ignored', persistent('is not fooled by a forged marker'), pwsh('a forged marker is ignored')],
    ['exit 7 gives a reset note and a fresh shell', persistent('a shell that ended says how, and the next call has a fresh one'), pwsh('exit 7 is told, and the next call has a fresh shell')],
    ['REPL left open returns partial', persistent('a nested program returns what it showed; ending it goes back to the shell'), persistent('a program left waiting returns what it showed')],
    ['deadline reset', persistent('gives what came as a result, is ended, and the next call has a fresh one')],
    ['queued second call', persistent('calls queue'), pwsh('a second call queues')],
    // Ours: an error, with what had come.
    ['abort discards', persistent('a stop ends the shell and what ran, and is an error with what had come'), pwsh('a stop discards and resets')],
    // Ours: both ends, and a file with all of it.
    ['output over cap keeps head with notice', persistent('output over the cap keeps both ends, with the way to all of it'), pwsh('output over the cap keeps both ends with a notice')],
  ],
  Observation: [
    ['write over unread file refused', observation('write over unread file refused')],
    ['read, touch externally, edit stale (ours: same hash passes)', observation('read → touch externally → edit stale only when the bytes differ: the same hash passes')],
    ['failed read, write creates', observation('failed read → write creates'), observation('failed read → a file that came since is not written over')],
    ['external delete is stale', observation('external delete → stale')],
    ['two racing edits', observation('two racing edits: one wins, the other is told')],
    ['edit after own write without read', observation('edit after own write without read')],
    ['user typing in the open buffer makes it stale', editorFiles('user typing in the open buffer makes it stale, and what was typed is told')],
    ['rename in explorer keeps the observation', editorFiles('rename in explorer keeps the observation'), observation('rename in explorer keeps the observation')],
    ['resume keeps it (ours)', observation('resume keeps it')],
  ],
  read: [
    [
      'offset/limit bounds 0, 1, 2 000, 2 001, fractional',
      read('offset 0'), read('offset 1'), read('offset fractional'), read('limit 0'), read('limit 1'), read('limit 2 000 is the most'), read('limit 2 001'), read('limit fractional'),
    ],
    ['empty file', read('empty file')],
    ['no final newline', read('no final newline')],
    ['CRLF', read('CRLF')],
    ['lone CR', read('lone CR')],
    ['5 000-char line', read('5 000-char line')],
    ['byte cap before line cap', read('byte cap before line cap')],
    ['10 MiB ± 1 same result', read('10 MiB ± 1 same result')],
    ['NUL at byte 8 191 and 8 193', read('NUL at byte %d: readable %s')],
    // Ours: the encoding of the editor, or Latin-1, and the result names it.
    ['invalid UTF-8 late in file', read('invalid UTF-8 late in file')],
    ['BOM', read('BOM')],
    ['directory', read('directory, with what is in it')],
    ['FIFO', read('FIFO')],
    ['symlink, dangling symlink', read('symlink'), read('dangling symlink')],
    ['offset past end', read('offset past end')],
    ['dirty buffer shown', editorFiles('dirty buffer shown')],
  ],
  read_image: [
    ['wrong extension', readImage('%j is refused')],
    ['renamed JPEG as .png', readImage('renamed JPEG as .png')],
    // Ours: a smaller copy is shown, with the factor.
    ['2 001 px side', readImage('2 001 px side: is shown as a smaller copy, with its own size and the factor')],
    ['40 MP + 1', readImage('40 MP + 1')],
    ['3.5 MiB + 1', readImage('3.5 MiB + 1 of what cannot be drawn are refused'), readImage('of too many bytes is shown as a smaller copy')],
    ['truncated file', readImage('truncated file: PNG'), readImage('truncated file: JPEG'), readImage('truncated file: GIF'), readImage('truncated file: WebP')],
    ['text-only model refused before I/O', readImage('a model that does not declare images refuses, whether the file is there or not')],
    ['21st image in a message', readImage('21st image in a message is refused'), attachments('are counted one by one as they are attached, so that one too many is refused')],
    ['identical bytes share one object', readImage('identical bytes share one object')],
  ],
  write: [
    ['create with parents', write('create with parents')],
    ['empty content', write('empty content')],
    ['identical content', write('identical content is still an update')],
    ['mode kept, new file mode from umask', write('mode kept, new file mode from umask')],
    ['through symlink', write('through symlink: its target is replaced and the link kept')],
    ['dangling symlink', write('dangling symlink is refused')],
    ['hard-link count', write('hard-link count: the other name keeps the old content')],
    ['parent is a file', write('parent is a file')],
    ['binary old content gives before null', write('binary old content → `before` null')],
    ['open clean buffer gets one undo stop', editorFiles('open clean buffer gets one undo stop')],
    ['open dirty unseen buffer refused', editorFiles('open dirty unseen buffer refused')],
    ['format-on-save reported and next edit not stale', editorFiles('format-on-save reported and next edit not stale')],
    ['read-only file', write('read-only file is refused')],
    ['virtual FS', editorFiles('virtual FS'), editorFiles('virtual FS that may not be written')],
  ],
  edit: [
    ['0 / 1 / 2 matches', edit('0 matches'), edit('1 match'), edit('2 matches')],
    ['replace_all count', edit('`replace_all` count')],
    ['aa in aaa', edit('`aa` in `aaa` counts once')],
    ['$& literal', edit('`$&` literal')],
    ['old == new', edit('old == new')],
    ['empty old', edit('empty old')],
    ['multi-line old and CRLF file', edit('multi-line old vs CRLF file')],
    ['mixed-EOL file keeps untouched lines (ours)', edit('mixed-EOL file keeps untouched lines')],
    ['BOM kept (ours)', edit('BOM kept')],
    ['delete whole content', edit('delete whole content')],
    // Ours: it is text, and stays where it is.
    ['late NUL', edit('late NUL stays where it is')],
    ['hunk card for pure insertion and deletion', edit('hunk card for pure insertion and for pure deletion')],
  ],
  str_replace_editor: [
    ['relative path refused in strict mode', strReplaceEditor('relative path refused, with the likely absolute one')],
    ['view range errors, −1', strReplaceEditor('view range errors: %j'), strReplaceEditor('view range -1 is the end')],
    ['empty file 1 line', strReplaceEditor('empty file 1 line')],
    ['directory listing filters and order', strReplaceEditor('directory listing filters and order')],
    ['create existing', strReplaceEditor('create existing: a file that is there')],
    ['ambiguous lists lines', strReplaceEditor('ambiguous lists lines: several matches')],
    ['insert 0 and at count', strReplaceEditor('insert 0: at the top'), strReplaceEditor('insert at count: after what follows the last line end')],
    ['CR not normalised', strReplaceEditor('CR not normalised: it is matched as data'), strReplaceEditor('CR not normalised: a match that needs other line ends')],
  ],
  'glob/grep': [
    ['bare *.ts matches nested', glob('matches a bare pattern at any depth, newest first, without ignored files, links and version control')],
    // Ours: an argument says so, include_ignored.
    ['node_modules per setting', glob('finds ignored files when asked, never version control')],
    ['.git never', glob('finds nothing inside version control'), ripgrep('binary, hidden, ignored and version-control files are not searched')],
    ['result over cap: page and full list locator', glob('is a page of the newest 100'), grep('is a page of 250 lines with the place of the whole'), searchTools('shows 100 of more, with where the others are, and the value is complete'), searchTools('shows 250 of more, the rest is in a file')],
    ['root missing', glob('refuses a bad pattern or a missing folder'), searchTools('a path that is not there')],
    ['invalid pattern and regex', glob('refuses a bad pattern or a missing folder'), grep('refuses a bad expression')],
    ['pattern or path starting with -', glob('takes a pattern with folders, and one that begins with a dash'), grep('takes a type, a pattern and a path that begin with a dash')],
    ['exit 1 = empty', grep('finds nothing without an error')],
    ['include with ! or , refused, braces fine', searchTools('an include that excludes'), searchTools('an include that is a list'), searchTools('takes white space as a pattern and a comma in braces')],
    ['long line cut on UTF-8 boundary', grep('is a page of 250 lines with the place of the whole'), searchTools('cuts a long line between characters, in the page only')],
    ['non-UTF-8 line placeholder', grep('stands in for a line that is not text')],
    ['non-UTF-8 file name skipped and counted (ours)', glob('a name that is no UTF-8 is counted, and does no harm'), grep('a name that is no UTF-8 is counted, and does no harm'), ripgrep('a name that is no UTF-8 is counted and does no harm'), searchTools('counts names that cannot be shown')],
    ['CRLF stripped', grep('finds lines in the order of paths and lines, without CR and ignored files')],
    ['abort kills rg', grep('kills ripgrep while it works'), ripgrep('a stop ends ripgrep at once')],
    ['30 s timeout', shared('of 30 s ends %s by TOOL_TIMEOUT'), searchTools('end after 30 s')],
    ['dirty-buffer overlay', editorSearch('dirty-buffer overlay: finds what the person typed and did not save'), ripgrep('stand in the place of what is on the disk')],
    ['multi-root prefixes', glob('looks into every open folder, newest first over all'), grep('leads paths with the folder’s name when several are open')],
  ],
  jobs: [
    ['wait timeout = running', jobTools('returns a running job when the wait is over')],
    ['wait abort leaves job', jobTools('leaves the job alone when the call is stopped')],
    ['kill twice: already-finished', jobTools('asks the job to stop and later finds it finished')],
    ['foreign session refused', jobs('is neither read, killed nor listed by another session'), jobTools('refuses the job of another session')],
    ['notice once; none after read, kill, wait', jobBook('goes into the next step of a busy owner'), jobBook('is not sent after a kill'), jobBook('is not sent to who waits for the end')],
    ['3 wakes then quiet', jobBook('wakes three times and is then quiet, until the person speaks'), jobs('counts among the wakes: three in a row, then quiet until the person speaks')],
    ['disposal kills and awaits', jobs('is ended and waited for when the session goes'), jobBook('takes its jobs along, awaited')],
    ['reload reports orphans', jobs('names each job with its id, process and time of start'), jobs('ends a program that is still there and is the same, and says so')],
  ],
  skill: [
    ['bad name', skill('that is malformed is refused: %j')],
    ['vanished between list and load', skill('that vanished between list and load is refused')],
    ['disable-model-invocation blocks tool but not /name', skill('is not in the list, is refused to the tool, and comes by /name')],
    ['duplicate names by rank', skill('the lowest rank of a name wins, the others are shown as passed over')],
    ['camelCase flag drops skill', skill('disableModelInvocation'), skill('userInvocable')],
    ['catalogue replaced on change, re-sent after compaction, tombstone when empty', skill('is replaced by the whole new one when something changed, and only then'), skill('is told again after a compaction took it away'), skill('that became empty says so, once')],
  ],
  web: [
    ['0 and 5 queries', webSearch('%j is refused, and nobody is asked')],
    // Ours: one that fails by itself gives what the others found; what would befall each fails all.
    ['one failing query fails all and aborts siblings', webSearch('fail as a whole when what failed would befall each: the others are aborted and waited for'), webSearch('of which one fails by itself give what the others found, and tell of it')],
    ['round-robin and URL dedup', webSearch('give their sources in turn by rank, each address once')],
    ['404 is a result', webFetch('is one for status %i too')],
    ['cross-origin redirect', webFetch('to another site')],
    ['6th redirect', webFetch('the sixth'), webFetch('are followed five times within a site')],
    ['declared and streamed oversize', webFetch('declared over 5 000 000 bytes is refused'), webFetch('streamed over it is cut, and says so')],
    ['unknown charset', webFetch('an unknown declared charset is an error')],
    // Ours: the text of a PDF is read; what is no text at all is refused.
    ['PDF type refused', webFetch('a PDF is its text, with the numbers of its pages'), webFetch('a PDF that is %s is refused'), webFetch('%s is refused')],
    ['600-level nesting falls back to raw', webFetch('of a page nested deeper than 512 levels is its HTML')],
    [
      'private address, DNS rebinding, IPv6-mapped loopback blocked (ours)',
      webFetch('a private network'), webFetch('is refused when its name leads to a private address'), webFetch('this machine as an IPv6 address'),
      webPages('goes to the address that was judged, found once, with the name in the request'), webPages('is judged anew at each redirect, so that a name may not change its mind'), addressGuard('of the public is open: %s'),
    ],
  ],
  'terminal/lsp': [
    ['open-send-read-close', terminal('work together, and each says what it did')],
    ['send while active', terminal('another send has to wait')],
    ['stdin prompt detected', terminal('where a program reads from the keyboard')],
    ['deadline does not kill', terminal('gives what there is and does not kill')],
    ['SIGINT stops child not shell', terminal('stop the child, not the shell')],
    ['escape split across chunks', terminal('is right where an escape sequence or a character is split across chunks')],
    ['foreign owner', terminal('a terminal of another session')],
    ['scrollback loss flagged', terminal('has lost its beginning when more came than it keeps, and says so')],
    ['LocationLink and Location mixed', editorChanges('takes a mix of Location and LocationLink')],
    ['101 locations', lsp('101 locations: 100 are given, and that one more is not')],
    ['hover null', lsp('hover null: nothing is said of the place'), editorChanges('has no hover where nobody says anything, and no command links in one')],
    ['column past end clamped', lsp('column past the end of its line is clamped to the end, and says so')],
    ['cold server retried', lsp('cold server retried: it is asked again until it knows something')],
    ['abort discards late answer', lsp('abort discards the late answer: one that comes after the stop is not given'), editorLanguages('drop an answer that comes after the stop')],
  ],
}

describe.each(Object.entries(checklist))('%s', (_family, items) => {
  it.each(items.map(([item, ...proofs]) => ({ item, proofs })))('$item', ({ proofs }) => {
    expect(proofs.length).toBeGreaterThan(0)
    expect(proofs.flatMap(problemOf)).toEqual([])
  })
})

it('has every line', () => {
  const counts = Object.entries(checklist).map(([family, items]) => [family, items.length])
  expect(counts).toEqual([
    ['Shared', 7], ['Spill', 6], ['Sandbox/trust', 8], ['bash/pwsh', 16], ['Persistent shell', 8], ['Observation', 9], ['read', 16], ['read_image', 9], ['write', 14], ['edit', 12],
    ['str_replace_editor', 8], ['glob/grep', 17], ['jobs', 8], ['skill', 6], ['web', 11], ['terminal/lsp', 14],
  ])
})

describe('a proof', () => {
  const source = [
    "it('says a thing', () => {})",
    "test(`of ${1}`, () => {})",
    'it.each(rows)("%s is so", () => {})',
    "it.skipIf(isWindows)('runs elsewhere', () => {})",
    "  ['a row', 1],",
    "it.each<[string, number]>([['first', 1], ['second', 2]])('%s', () => {})",
    "  ])('after a table', () => {})",
    "it.skip('is left out', () => {})",
    "// it('is only spoken of')",
    "expect('says nothing')",
  ].join('\n')
  it.each(['says a', 'of ', '%s is so', 'runs elsewhere', 'a row', 'first', 'second', 'after a table'])('is a title or a row: %s', (title) => expect(hasTitle(source, title)).toBe(true))
  it.each(['is left out', 'is only spoken of', 'says nothing', 'row', 'nowhere', ''])('is nothing else: %j', (title) => expect(hasTitle(source, title)).toBe(false))
})

function problemOf([suite, title]: Proof): readonly string[] {
  const path = new URL(`../../${suite}`, import.meta.url)
  if (!existsSync(path)) return [`There is no ${suite}.`]
  return hasTitle(readFileSync(path, 'utf8'), title) ? [] : [`${suite} has no test that begins with ${JSON.stringify(title)}.`]
}

/** A test that runs, or a row of a table of tests, begins with that title. */
function hasTitle(source: string, title: string): boolean {
  if (title === '') return false
  const begins = `['"\`]${title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`
  const [aTest, afterTable, aRow] = [new RegExp(String.raw`^\s*(?:it|test)\b(?!\.(?:skip|todo)\b).*?\(${begins}`), new RegExp(String.raw`^\s*\]\)\(${begins}`), new RegExp(String.raw`\[${begins}`)]
  return source.split('\n').some((line) => !/^\s*(?:\/\/|\*)/.test(line) && (aTest.test(line) || afterTable.test(line) || (aRow.test(line) && !/^\s*(?:expect|const)\b/.test(line))))
}
