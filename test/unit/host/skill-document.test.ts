import { expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { SkillReport, SkillRow } from '../../../extension/features/skills/service.ts'
import { skillDocument } from '../../../extension/host/skill-document.ts'
import { chatRig } from './chat-rig.ts'

const page = (report: Partial<SkillReport>) => skillDocument({ rows: [], ...report }, { l10n: { t: fillIn }, workspace: { folders: () => [{ name: 'app', path: '/work' }] } })
const row = { name: 'a', path: '/w/.bosun/skills/a/SKILL.md', origin: 'project', state: 'loaded', description: 'About a.', isForModel: true, isForPerson: true } as const
const lineOf = (more: Partial<SkillRow>) => page({ rows: [{ ...row, ...more }] }).split('\n').at(-2)

it('says what a skill is where there are none', () => expect(page({})).toContain('There are none. A skill is a folder with a `SKILL.md`'))
it('says why the model is told of none', () => expect(page({ note: 'Not in this preset.' })).toContain('\n\nNot in this preset.\n'))
it.each<[string, Partial<SkillRow>, string]>([
  ['for both', {}, '| a | About a. | you and the model | the project | /w/.bosun/skills/a/SKILL.md |'],
  ['for the model', { isForPerson: false, label: 'api' }, '| a | About a. | the model | the project api | /w/.bosun/skills/a/SKILL.md |'],
  ['for the person', { isForModel: false, origin: 'user' }, '| a | About a. | you | you | /w/.bosun/skills/a/SKILL.md |'],
  ['for nobody', { isForModel: false, isForPerson: false, origin: 'custom' }, '| a | About a. | nobody | a folder of your settings | /w/.bosun/skills/a/SKILL.md |'],
  ['of an extension', { origin: 'contributed', path: 'some.ext' }, '| a | About a. | you and the model | an extension | some.ext |'],
  ['of Bosun', { origin: 'bundled', path: 'Bosun' }, '| a | About a. | you and the model | Bosun | Bosun |'],
  ['with words that would break the table', { description: 'a | b\n`c` <d>' }, '| a | a \\| b \\`c\\` \\<d\\> | you and the model | the project | /w/.bosun/skills/a/SKILL.md |'],
  ['that is not loaded', { state: 'broken', reason: 'It is a folder.' }, '| a | It is a folder. | /w/.bosun/skills/a/SKILL.md |'],
])('shows a skill %s', (_name, more, line) => expect(lineOf(more)).toBe(line))
it('has one table of those that are loaded and one of the others', () => {
  const text = page({ rows: [row, { ...row, state: 'shadowed', reason: 'Another goes first.' }] })
  expect(text.match(/^\| a \|.*$/gm)).toHaveLength(2)
  expect(text.indexOf('## Not loaded')).toBeGreaterThan(text.indexOf('| About a.'))
})

it('opens for the folder while there is no conversation, and for the one on screen', async () => {
  const rig = await chatRig({ secrets: { DEEPSEEK_API_KEY: 'k' } })
  await rig.controller.run('show-skills')
  await rig.send('hello')
  await rig.controller.run('show-skills')
  expect(rig.calls.filter((call) => Array.isArray(call) && call[0] === 'skills')).toEqual([['skills', '/project'], ['skills', 's1']])
  expect(rig.editor.shown.filter(({ kind }) => kind === 'text')).toMatchObject([
    { value: { name: 'skills/new/Skills.md', language: 'markdown', text: expect.stringContaining('# Skills') } },
    { value: { name: 'skills/s1/Skills.md' } },
  ])
})
