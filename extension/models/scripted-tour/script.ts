import { fileToRead, freeName, listedPaths, wordToFind, type Stop, type StopOutcome, type TourFacts } from './tour-facts.ts'

/** One answer of the script. */
export interface Beat {
  readonly thought?: string
  readonly text: string
  readonly calls: readonly TourCall[]
}

export interface TourCall {
  readonly id: string
  readonly name: string
  readonly args: object
}

/** Entries of the task list, each with the stop that completes it. */
const tasks: readonly { readonly content: string; readonly after: Stop }[] = [
  { content: 'Look around in the workspace', after: 'search' },
  { content: 'Write a file of its own, after asking', after: 'write' },
  { content: 'Change that file', after: 'edit' },
  { content: 'Run a harmless command', after: 'run' },
]

/** What the script says and does next. A stop whose tool is not offered is passed by, one that failed is not tried again. */
export function nextBeat(facts: TourFacts): Beat {
  const { outcomes, tools } = facts
  const isNext = (stop: Stop, tool: string) => !outcomes.has(stop) && tools.has(tool)
  const shell = tools.has('bash') ? 'bash' : 'pwsh'
  const paths = listedPaths(outcomes.get('list'))
  const file = fileToRead(paths)

  if (!outcomes.has('list') && !outcomes.has('own') && tools.has('glob')) return lookAround(facts)
  if (file !== undefined && isNext('read', 'read')) return readFile(facts, file)
  if (isNext('search', 'grep')) return search(facts)
  if (isNext('write', 'write')) return writeFile(facts, paths)
  if (wasDone(outcomes.get('write')) && isNext('edit', 'edit')) return editFile(facts)
  if (isNext('run', shell)) return runCommand(facts, shell)
  if (isNext('done', 'todo_write')) return tickOff(facts)
  return farewell(facts)
}

const wasDone = (outcome: StopOutcome | undefined) => outcome !== undefined && !outcome.isError

function lookAround(facts: TourFacts): Beat {
  return {
    thought: 'A script does not think. With a model, its reasoning would stand here, folded away until you open it.',
    text:
      'Welcome to Bosun. **This is a guided tour: a written script, not a model.** It shows each part of Bosun on the folder you have open. ' +
      'It changes nothing of yours: it writes one new file, and only if you allow it.\n\n' +
      'First a plan, which you see under **Tasks**, and a look at what is here.',
    calls: [
      ...taskList(facts, 'plan'),
      { id: facts.callId('list'), name: 'glob', args: { pattern: '**/*' } },
      { id: facts.callId('own'), name: 'glob', args: { pattern: 'bosun-tour*.md' } },
    ],
  }
}

function readFile(facts: TourFacts, file: string): Beat {
  return {
    text: `There it is. Next the script reads the beginning of \`${file}\`. Click the path on the card to open it there.`,
    calls: [{ id: facts.callId('read'), name: 'read', args: { file_path: file, limit: 40 } }],
  }
}

function search(facts: TourFacts): Beat {
  const word = wordToFind(facts.outcomes.get('read'))
  const opening = facts.outcomes.has('read') ? said(facts.outcomes.get('read'), 'Read.') : 'There is no file here to read, so on to the next stop.'
  return {
    text: `${opening} A search comes next, for \`${word}\`. Reading and searching never ask; they touch nothing.`,
    calls: [{ id: facts.callId('search'), name: 'grep', args: { pattern: word } }],
  }
}

function writeFile(facts: TourFacts, paths: readonly string[]): Beat {
  const name = freeName([...paths, ...listedPaths(facts.outcomes.get('own'))])
  const content = [
    '# A tour of Bosun',
    '',
    'This file was written by the guided tour, a script. You can delete it.',
    '',
    'Seen so far: a listing, a file and a search.',
    'Next: this line will change.',
    '',
  ].join('\n')
  return {
    text:
      `Now the script wants to write a new file, \`${name}\`. Bosun asks you first, here in the chat and in a notification: ` +
      'what would happen, and what "Always allow…" would mean. Allow it or deny it; both are fine.',
    calls: [{ id: facts.callId('write'), name: 'write', args: { file_path: name, content } }],
  }
}

function editFile(facts: TourFacts): Beat {
  return {
    text: 'Written. Now it changes one line of that file. The card shows the difference; a click opens it in the editor’s own diff view.',
    calls: [
      ...taskList(facts, 'tick'),
      {
        id: facts.callId('edit'),
        name: 'edit',
        args: { file_path: writtenName(facts), old_string: 'Next: this line will change.', new_string: 'Next: this line has changed.' },
      },
    ],
  }
}

function runCommand(facts: TourFacts, shell: string): Beat {
  const { outcomes } = facts
  const opening = !outcomes.has('write')
    ? 'Nothing is written here: the tool for it is not offered.'
    : wasDone(outcomes.get('write'))
      ? said(outcomes.get('edit'), 'Changed.')
      : 'Nothing was written. That is how a “no” works: it is final, the model learns of it, and the work goes on without it.'
  const command = shell === 'bash' ? 'echo "Hello from Bosun" && ls' : 'Write-Output "Hello from Bosun"; Get-ChildItem -Name'
  return {
    text: `${opening}\n\nThe last stop is a harmless command. Its output, exit code and duration are kept apart on the card.`,
    calls: [{ id: facts.callId('run'), name: shell, args: { command, description: 'Say hello and list the folder' } }],
  }
}

function tickOff(facts: TourFacts): Beat {
  return { text: said(facts.outcomes.get('run'), 'It ran.'), calls: taskList(facts, 'done') }
}

function farewell(facts: TourFacts): Beat {
  const { outcomes } = facts
  const lines = [
    line(outcomes.get('list'), 'Listed the workspace', 'Could not list the workspace'),
    line(outcomes.get('read'), 'Read a file', 'Could not read a file'),
    line(outcomes.get('search'), 'Searched', 'Could not search'),
    line(outcomes.get('write'), `Wrote \`${writtenName(facts)}\`, with your leave`, 'Wrote nothing: it was not allowed, or failed'),
    line(outcomes.get('edit'), 'Changed it', 'Did not change it'),
    line(outcomes.get('run'), 'Ran a command', 'Ran no command: it was not allowed, or failed'),
  ].filter((text) => text !== null)
  const left = wasDone(outcomes.get('write')) ? `\`${writtenName(facts)}\` is yours now; delete it when you like.\n\n` : ''
  return {
    text:
      `That was the tour:\n\n${lines.map((text) => `- ${text}`).join('\n')}\n\n${left}` +
      'To work with a real model, choose one under the message box: a local server, or a provider after "Set an API key…".',
    calls: [],
  }
}

const line = (outcome: StopOutcome | undefined, done: string, failed: string) => (outcome === undefined ? null : outcome.isError ? failed : done)

/** A failed stop is told as what it is. */
function said(outcome: StopOutcome | undefined, done: string): string {
  return outcome?.isError === true ? 'That one was not allowed, or failed; the card says why. The tour goes on.' : done
}

function writtenName({ outcomes }: TourFacts): string {
  const name = outcomes.get('write')?.args['file_path']
  return typeof name === 'string' ? name : 'bosun-tour.md'
}

/** The whole list, each entry as far as the tour has come. */
function taskList(facts: TourFacts, stop: Stop): readonly TourCall[] {
  if (!facts.tools.has('todo_write')) return []
  const firstOpen = stop === 'done' ? tasks.length : tasks.findIndex(({ after }) => !facts.outcomes.has(after))
  const todos = tasks.map(({ content }, index) => ({
    content,
    status: index < firstOpen ? 'completed' : index === firstOpen ? 'in_progress' : 'pending',
  }))
  return [{ id: facts.callId(stop), name: 'todo_write', args: { todos } }]
}
