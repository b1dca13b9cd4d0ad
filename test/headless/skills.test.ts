import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { createFolders, runHeadless } from '../support/headless.ts'
import { startModelServer } from '../support/model-server.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A project with one skill and a person with another. */
function setUp() {
  const { paths, remove } = createFolders('work', 'store', 'home')
  cleanUps.push(remove)
  const [work = '', store = '', home = ''] = paths
  const put = (folder: string, name: string) => {
    mkdirSync(join(folder, name), { recursive: true })
    writeFileSync(join(folder, name, 'SKILL.md'), `---\nname: ${name}\ndescription: About ${name}.\n---\nDo ${name}.\n`)
  }
  put(join(work, '.bosun/skills'), 'review')
  put(join(home, '.agents/skills'), 'greet')
  const run = (...args: readonly string[]) => runHeadless([...args, '--cwd', work, '--storage', store], { env: { HOME: home } })
  return { work, home, run }
}

it('tool skill loads one of the project and one of the person', async () => {
  const { run, work, home } = setUp()
  const { code, lines } = await run('tools', JSON.stringify(['review', 'greet', '../x', 'none'].map((name) => ({ name: 'skill', arguments: { name } }))))
  expect(code).toBe(0)
  expect(lines).toMatchObject([
    {
      isError: false,
      value: { name: 'review', provider: 'project', resourceBase: { kind: 'directory', path: join(work, '.bosun/skills/review') }, content: 'Do review.\n' },
      content: [{ type: 'text', text: `<skill name="review">\nFiles that it names without a full path stand in ${work}/.bosun/skills/review.\n\nDo review.\n</skill>` }],
      pending: { card: 'generic', title: 'Load skill review', kind: 'read' },
      card: { card: 'generic', title: 'Loaded skill review' },
    },
    { value: { name: 'greet', provider: 'user', resourceBase: { path: join(home, '.agents/skills/greet') } } },
    { isError: true, error: { info: { name: 'SkillError', code: 'SKILL_INVALID_NAME' } } },
    { isError: true, error: { info: { name: 'SkillError', code: 'SKILL_NOT_FOUND' }, message: 'There is no skill none. There are review, greet.' } },
  ])
})

it('run tells the model of them, and a prompt that begins with /name brings one along', async () => {
  const { run } = setUp()
  const server = await startModelServer({ steps: [{ answer: { parts: [{ text: 'Done.' }] } }] })
  cleanUps.push(() => server.close())
  const { code, lines, stderr } = await run('run', '--base-url', server.url, '--model', 'scripted', '--prompt', '/greet the team')
  const messages = lines.filter(({ type }) => type === 'user/message').map(({ data }) => data as { readonly source: { readonly kind: string }; readonly content: readonly { readonly text: string }[] })
  expect([code, messages.map(({ source }) => source.kind)], stderr).toEqual([0, ['plugin', 'user', 'skill-invocation', 'skill-catalog']])
  expect(messages.slice(1).map(({ content }) => content[0]?.text)).toEqual(['/greet the team', expect.stringContaining('Do greet.'), expect.stringContaining('- review: About review.\n- greet: About greet.\n')])
})
