import { expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { InstructionReport, InstructionRow } from '../../../extension/features/instructions/service.ts'
import { instructionDocument } from '../../../extension/host/instruction-document.ts'
import { chatRig } from './chat-rig.ts'

const page = (report: Partial<InstructionReport>) => instructionDocument({ rows: [], maxBytes: 65_536, ...report }, { l10n: { t: fillIn }, workspace: { folders: () => [{ name: 'app', path: '/w' }] } })
const scope = { kind: 'project', folder: '/w' } as const
const lineOf = (row: Partial<InstructionRow>) => page({ rows: [{ path: '/w/AGENTS.md', scope, bytes: 10, state: 'delivered', ...row }] }).split('\n').at(-2)

it('says what the limit is and that there are none yet', () => {
  expect(page({})).toContain('may have 65,536 bytes (setting `bosun.instructions.maxBytes`)')
  expect(page({})).toContain('There are none. `/init` in the chat asks the model to write one.')
})
it('says why none are read', () => expect(page({ note: 'Not in this preset.' })).toMatch(/\n\nNot in this preset\.\n$/))
it.each<[string, Partial<InstructionRow>, string]>([
  ['delivered', {}, '| AGENTS.md | app | 10 | delivered |  |'],
  ['everywhere', { scope: { kind: 'user', folder: '/home/me/.bosun' } }, '| AGENTS.md | all projects | 10 | delivered |  |'],
  ['of a named folder', { scope: { ...scope, label: 'api' } }, '| AGENTS.md | app (api) | 10 | delivered |  |'],
  ['cut', { state: 'cut', bytes: 100_000, reason: 'Too long.' }, '| AGENTS.md | app | 100,000 | cut | Too long. |'],
  ['left out', { state: 'dropped' }, '| AGENTS.md | app | 10 | left out |  |'],
  ['waiting', { state: 'pending' }, '| AGENTS.md | app | 10 | waits |  |'],
  ['ignored', { state: 'ignored', bytes: null, reason: 'It is a folder.' }, '| AGENTS.md | app |  | ignored | It is a folder. |'],
  ['with a path that would break the table', { path: '/w/a|b\n<i>`x`' }, '| a\\|b \\<i\\>\\`x\\` | app | 10 | delivered |  |'],
])('shows a file %s', (_name, row, line) => expect(lineOf(row)).toBe(line))

it('opens for the folder while there is no conversation, and for the one on screen', async () => {
  const rig = await chatRig({ secrets: { DEEPSEEK_API_KEY: 'k' } })
  await rig.controller.run('show-instructions')
  await rig.send('hello')
  await rig.controller.run('show-instructions')
  expect(rig.calls.filter((call) => Array.isArray(call) && call[0] === 'instructions')).toEqual([['instructions', '/project'], ['instructions', 's1']])
  expect(rig.editor.shown.filter(({ kind }) => kind === 'text')).toMatchObject([
    { value: { name: 'instructions/new/Instruction files.md', language: 'markdown', text: expect.stringContaining('# Instruction files') } },
    { value: { name: 'instructions/s1/Instruction files.md' } },
  ])
})
