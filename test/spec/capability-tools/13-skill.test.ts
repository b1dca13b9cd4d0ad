import { execFileSync } from 'node:child_process'
import { mkdir, rename, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { ioError, type FileSystem } from '../../../extension/capabilities/file-system.ts'
import type { UserMessage } from '../../../extension/core/log/message.ts'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import { MAX_IN_FOLDER } from '../../../extension/features/skills/scan.ts'
import { instructionRig, type InstructionRig } from '../../support/instruction-rig.ts'
import { sayText } from '../../support/scripted-adapter.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'

/* Chapter 13, the lines of chapter 19 on skills, and what chapter 11.4 and 23 of the runtime say of them, through the whole application. */

let rig: InstructionRig | undefined
afterEach(async () => {
  await rig?.application.dispose()
  rig = undefined
})
const start = async (options: Parameters<typeof instructionRig>[0] = {}) => (rig = await instructionRig(options))
const the = () => rig ?? fail()
const fail = (): never => {
  throw new Error('Start first.')
}

const skill = (name: string, more = '', body = `Do ${name}.`) => `---\nname: ${name}\ndescription: About ${name}.\n${more}---\n${body}\n`
/** A project skill by its name. */
const project = (name: string, more?: string, body?: string) => ({ [`.bosun/skills/${name}/SKILL.md`]: skill(name, more, body) })
const home = () => dirname(the().folder)

const messages = (kind: UserMessage['source']['kind']) =>
  the().agent.session.events().flatMap((event) => (event.type === 'user/message' && event.data.source.kind === kind ? [event.data] : []))
const textsOf = (kind: UserMessage['source']['kind']) => messages(kind).map(({ content }) => content.map((part) => (part.type === 'text' ? part.text : '')).join(''))
/** The names of each list that the model was told. */
const told = () => textsOf('skill-catalog').map((text) => [...text.matchAll(/^- ([^:]+):/gm)].map(([, name]) => name))
/** Files of which some cannot be reached; what is known without reading stays known. */
const unreliable = (files: FileSystem, isOut: (path: string) => boolean): FileSystem =>
  new Proxy(files, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]) => {
        const path = (args[0] as { readonly path?: string } | undefined)?.path
        if ((name === 'readText' || name === 'readDirectory') && path !== undefined && isOut(path)) return Promise.reject(ioError(path, 'is out of reach'))
        return Reflect.apply(value, target, args) as unknown
      }
    },
  })
let calls = 0
const load = (name: string): Promise<ToolResult> =>
  the().ctx.tools.execute({ callId: `load-${++calls}`, name: 'skill', arguments: { name }, agent: the().agent, signal: new AbortController().signal })
const loaded = async (name: string) => outcomeOf(await load(name))
const codeOf = async (name: string) => {
  const result = await load(name)
  return result.isError ? result.error.info?.code : 'loaded'
}
const rows = async () => {
  const { rows: all } = await the().ctx.skills.report({ session: the().agent.session })
  return all.map(({ name, path, state, reason }) => `${name} ${path.replace(`${the().folder}/`, '').replace(`${home()}/`, '~/')} ${state}${reason === undefined ? '' : `: ${reason.replaceAll(`${the().folder}/`, '')}`}`)
}
const command = (line: string) => the().ctx.commands.run(the().agent, line)

describe('the tool', () => {
  it('gives the name, who keeps it, where its files are, and what it says behind the front matter', async () => {
    const { folder } = await start({ files: project('a-b', '', '# Title\n\nDo <b>it</b>.\n') })
    const result = await load('a-b')
    expect(outcomeOf(result)).toEqual({ name: 'a-b', provider: 'project', resourceBase: { kind: 'directory', path: join(folder, '.bosun/skills/a-b') }, content: '# Title\n\nDo <b>it</b>.\n\n' })
    expect(textOf(result)).toBe(`<skill name="a-b">\nFiles that it names without a full path stand in ${folder}/.bosun/skills/a-b.\n\n# Title\n\nDo <b>it</b>.\n\n</skill>`)
  })
  it('says of no folder for a skill that is one file', async () => {
    await start({ files: { '.bosun/skills/a.md': skill('a') } })
    expect(await loaded('a')).toEqual({ name: 'a', provider: 'project', content: 'Do a.\n' })
  })
  it('escapes a folder that would pose as a tag', async () => {
    await start({ files: { '.bosun/skills/x<"&/SKILL.md': skill('a') } })
    expect(textOf(await load('a'))).toContain('/.bosun/skills/x&lt;&quot;&amp;.\n')
  })
  it('reads the file anew each time', async () => {
    const { write } = await start({ files: project('a') })
    await loaded('a')
    await write(project('a', '', 'Other.'))
    expect(await loaded('a')).toMatchObject({ content: 'Other.\n' })
  })
  it('takes a long one whole; what is too long for a result is kept beside the talk', async () => {
    await start({ files: project('a', '', 'x'.repeat(60_000)) })
    const result = await load('a')
    expect(outcomeOf(result)).toMatchObject({ content: `${'x'.repeat(60_000)}\n` })
    expect(textOf(result)).toContain('All of this result is in')
  })
  it('runs alone, in the order of the calls, without a deadline, and asks nobody', async () => {
    const { application, agent } = await start({ files: project('a'), settings: { 'permissions.defaultPreset': 'read-only' } })
    expect(application.ctx.tools.executionMode({ name: 'skill', arguments: { name: 'a' }, agent })).toBe('exclusive')
    expect(application.ctx.tools.get('skill')?.timeoutMs).toBeUndefined()
    expect(await codeOf('a')).toBe('loaded')
  })
  it('is a card of the kind read, pending and done, and a generic one for a malformed record', async () => {
    const { application } = await start({ files: project('a') })
    const tool = application.ctx.tools.get('skill')
    expect(tool?.presentCall?.({ name: 'a' })).toEqual({ card: 'generic', title: 'Load skill a', kind: 'read' })
    expect(tool?.presentCall?.({ name: 1 })).toBeUndefined()
    const [done, failed] = [await load('a'), await load('b')]
    expect(tool?.presentResult?.({ name: 'a' }, done)).toEqual({ card: 'generic', title: 'Loaded skill a', content: [{ type: 'text', text: textOf(done) }] })
    expect(tool?.presentResult?.({ name: 'b' }, failed)).toEqual({ card: 'generic', content: [{ type: 'text', text: textOf(failed) }] })
  })
  it('lets the model read what a skill of the person brings along, and no more of their folders', async () => {
    const { write, say, agent, application } = await start({ files: project('b') })
    await write({ [join(home(), '.agents/skills/a/SKILL.md')]: skill('a'), [join(home(), '.agents/skills/c.md')]: skill('c') })
    await say('hi')
    expect(application.ctx.skills.resourceFolders(agent.id)).toEqual([join(home(), '.agents/skills/a')])
  })
})

describe('a name', () => {
  it.each(['', 'A', 'a_b', '-a', 'a-', 'a--b', '../a', 'a/b', '/etc/passwd', 'a\nb', 'a\u0000', 'ä', 'x'.repeat(1000).toUpperCase()])('that is malformed is refused: %j', async (name) => {
    await start({ files: project('a') })
    expect(await loaded(name)).toEqual({ code: 'SKILL_INVALID_NAME', message: expect.stringContaining('is no name of a skill') })
  })
  it('that is unknown is refused, with those that may be meant', async () => {
    await start({ files: { ...project('review-code'), ...project('write-docs') } })
    expect(await loaded('code-review')).toEqual({ code: 'SKILL_NOT_FOUND', message: 'There is no skill code-review. Did you mean review-code?' })
    expect(await loaded('zzz')).toEqual({ code: 'SKILL_NOT_FOUND', message: 'There is no skill zzz. There are review-code, write-docs.' })
  })
  it('is refused where there are none', async () => {
    await start()
    expect(await loaded('a')).toEqual({ code: 'SKILL_NOT_FOUND', message: 'There is no skill a. There are none here.' })
  })
  it('that vanished between list and load is refused', async () => {
    const { say, remove } = await start({ files: { ...project('a'), ...project('b') } })
    await say('hi')
    await remove('.bosun/skills/a')
    expect(await loaded('a')).toEqual({ code: 'SKILL_NOT_FOUND', message: 'The skill a went away since it was listed. Go on without it.' })
  })
  it('that another file took over since is loaded from there', async () => {
    const { say, remove } = await start({ files: { ...project('a'), '.agents/skills/a/SKILL.md': skill('a', '', 'The other.') } })
    await say('hi')
    await remove('.bosun/skills/a')
    expect(await loaded('a')).toMatchObject({ content: 'The other.\n' })
  })
  it('that came since the list was made is found', async () => {
    const { say, write } = await start()
    await say('hi')
    await write(project('new'))
    expect(await codeOf('new')).toBe('loaded')
  })
  it('whose file says another name now is refused', async () => {
    const { say, write } = await start({ files: project('a') })
    await say('hi')
    await write({ '.bosun/skills/a/SKILL.md': skill('b') })
    expect(await codeOf('a')).toBe('SKILL_NOT_FOUND')
  })
  it('whose file broke since is refused with the reason', async () => {
    const { say, write } = await start({ files: project('a') })
    await say('hi')
    await write({ '.bosun/skills/a/SKILL.md': 'nothing' })
    expect(await loaded('a')).toEqual({ code: 'SKILL_BROKEN', message: expect.stringMatching(/cannot be loaded\. It has no front matter/) })
  })
})

describe('a skill that the model may not load', () => {
  const closed = project('deploy', 'disable-model-invocation: true\n')
  it('is not in the list, is refused to the tool, and comes by /name', async () => {
    const { say } = await start({ files: { ...closed, ...project('a') } })
    await say('Please /deploy now')
    expect(told()).toEqual([['a']])
    expect(await loaded('deploy')).toEqual({ code: 'SKILL_NOT_ALLOWED', message: 'The skill deploy is for the person to call: they type /deploy. Go on without it, or ask them to.' })
    expect(textsOf('skill-invocation')).toEqual([expect.stringContaining('Do deploy.')])
  })
  it('is refused also when that was written after the list was made', async () => {
    const { say, write } = await start({ files: project('deploy') })
    await say('hi')
    await write(closed)
    expect(await codeOf('deploy')).toBe('SKILL_NOT_ALLOWED')
  })
})

describe('the list', () => {
  it('is one durable message of its own source in the first step, after the prompt', async () => {
    const { say, agent } = await start({ files: { ...project('b'), ...project('a') } })
    await say('hi')
    expect(agent.session.messages().filter(({ role }) => role === 'user').map(({ source }) => source.kind)).toEqual(['plugin', 'user', 'skill-catalog'])
    expect(messages('skill-catalog')[0]?.source).toEqual({ kind: 'skill-catalog', digest: expect.stringMatching(/^[0-9a-f]{64}$/), count: 2, omittedCount: 0 })
    expect(textsOf('skill-catalog')[0]).toMatch(/^<skills>\nSkills: .+\n- a: About a\.\n- b: About b\.\n<\/skills>$/)
  })
  it('is not told while there are none', async () => {
    const { say } = await start()
    await say('hi')
    expect(told()).toEqual([])
  })
  it('has each description on one line, at most 500 characters, escaped', async () => {
    const { say } = await start({ files: { ...project('a', 'whenToUse: "when\\n\\n  </skills> & so"\n'), '.bosun/skills/b.md': `---\nname: b\ndescription: "${'😀'.repeat(600)}"\n---\n` } })
    await say('hi')
    const [, a = '', b = ''] = textsOf('skill-catalog')[0]?.split('\n').slice(1) ?? []
    expect(a).toBe('- a: About a. When to use: when &lt;/skills> &amp; so')
    expect(b).toBe(`- b: ${'😀'.repeat(499)}…`)
  })
  it('is told once: not in the next step, the next turn or after a restart', async () => {
    const { say, call, restart } = await start({ files: { ...project('a'), 'x.txt': 'x' } })
    await call('read', { file_path: 'x.txt' })
    await say('again')
    await restart()
    await the().say('third')
    expect(told()).toEqual([['a']])
  })
  it('is replaced by the whole new one when something changed, and only then', async () => {
    const { say, write } = await start({ files: project('a') })
    await say('hi')
    await write(project('b'))
    await say('again')
    await write(project('b', '', 'Another body, the same line.'))
    await say('third')
    await write({ '.bosun/skills/b/SKILL.md': skill('b').replace('About', 'All about') })
    await say('fourth')
    expect(told()).toEqual([['a'], ['a', 'b'], ['a', 'b']])
  })
  it('is replaced in the same turn when write or edit made a skill', async () => {
    const { call } = await start({ files: project('a') })
    await call('write', { file_path: '.bosun/skills/b/SKILL.md', content: skill('b') })
    expect(told()).toEqual([['a'], ['a', 'b']])
  })
  it('is told again after a compaction took it away', async () => {
    const { say, compact } = await start({ files: project('a') })
    await say('hi')
    compact()
    await say('again')
    await say('third')
    expect(told()).toEqual([['a'], ['a']])
  })
  it('is told again after /compact, once', async () => {
    const { say, adapter } = await start({ files: project('a'), settings: { 'compaction.retainRatio': 0.01 } })
    await say(`hi ${'many words '.repeat(4000)}`)
    await say(`and ${'more words '.repeat(4000)}`)
    adapter.play(sayText('It was about words.'))
    await expect(command('/compact')).resolves.toMatchObject({ kind: 'success' })
    await say('again')
    await say('third')
    expect(told()).toEqual([['a'], ['a']])
  })
  it('that became empty says so, once', async () => {
    const { say, remove } = await start({ files: project('a') })
    await say('hi')
    await remove('.bosun/skills/a')
    await say('again')
    await say('third')
    expect(told()).toEqual([['a'], []])
    expect(textsOf('skill-catalog')[1]).toBe('<skills>\nThere are no skills any more. What was listed before cannot be loaded.\n</skills>')
  })
  it('stays as it was while a folder or file cannot be looked at, also after a restart', async () => {
    let broken = ''
    const { say, restart } = await start({
      files: { ...project('a'), ...project('b') },
      alter: (world) => {
        const { files } = world
        return { ...world, files: unreliable(files, (path) => broken !== '' && path.endsWith(broken)) }
      },
    })
    await say('hi')
    broken = '.bosun/skills'
    await say('folder')
    await restart()
    await the().say('restarted')
    broken = 'b/SKILL.md'
    await the().say('file')
    expect(told()).toEqual([['a', 'b']])
    expect(await rows()).toContainEqual(expect.stringMatching(/^b .bosun\/skills\/b\/SKILL.md broken: .*out of reach/))
    broken = ''
    await the().say('back')
    expect(told()).toEqual([['a', 'b']])
  })
  it('keeps to its budget of bytes: short descriptions first, then the last are left out and counted', async () => {
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`.bosun/skills/s${String(at).padStart(2, '0')}.md`, `---\nname: s${String(at).padStart(2, '0')}\ndescription: ${'long '.repeat(90)}\n---\n`]))
    const { say, application } = await start({ files: many, settings: { 'skills.maxCatalogueBytes': 8000 } })
    await say('hi')
    expect(told()[0]).toHaveLength(60)
    await application.settings.set('skills.maxCatalogueBytes', 1000, 'user')
    await say('again')
    const text = textsOf('skill-catalog')[1] ?? ''
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1000)
    expect(text).toMatch(/\n- s00: .+\n[\s\S]*\n\(\d+ more are not listed for want of room; the person can name them\.\)\n<\/skills>$/)
    expect(messages('skill-catalog')[1]?.source).toMatchObject({ count: 60, omittedCount: 60 - (told()[1]?.length ?? 0) })
  })
  it('is not told with a budget of 0, nor where the preset has no tool for it; /name still works', async () => {
    const { say } = await start({ files: project('a'), settings: { 'skills.maxCatalogueBytes': 0 } })
    await say('do /a')
    expect([told(), textsOf('skill-invocation').length]).toEqual([[], 1])
    await rig?.application.dispose()
    await start({ files: project('a'), preset: 'ask' })
    await the().say('do /a')
    expect([told(), textsOf('skill-invocation').length]).toEqual([[], 1])
    const { note } = await the().ctx.skills.report({ session: the().agent.session })
    expect(note).toContain('has no tool to load skills')
  })
  it('leaves every byte before it as it was', async () => {
    const { say, write, adapter } = await start({ files: project('a') })
    await say('hi')
    await write(project('b'))
    await say('again')
    const [first, last] = [adapter.requests[0], adapter.requests.at(-1)]
    expect([last?.system, JSON.stringify(last?.tools)]).toEqual([first?.system, JSON.stringify(first?.tools)])
    expect(JSON.stringify(last?.messages.slice(0, first?.messages.length))).toBe(JSON.stringify(first?.messages))
  })
})

describe('/name of the person', () => {
  it('anywhere in a message brings the skill once, behind it', async () => {
    const { say, agent } = await start({ files: project('a') })
    await say('Use /a here,\nand /a again')
    expect(agent.session.messages().filter(({ role }) => role === 'user').map(({ source }) => source.kind)).toEqual(['plugin', 'user', 'skill-invocation', 'skill-catalog'])
    expect(messages('skill-invocation')[0]).toMatchObject({ source: { kind: 'skill-invocation', name: 'a', provider: 'project' } })
    expect(textsOf('skill-invocation')[0]).toMatch(/^<skill name="a">\n[\s\S]*Do a\.\n<\/skill>$/)
  })
  it.each(['x/a', '/a/b', '/a.', '`/a`', '/A', '/unknown', '@/a', '/ a'])('needs blanks around it and a known name: %s', async (text) => {
    const { say } = await start({ files: project('a') })
    await say(text)
    expect(textsOf('skill-invocation')).toEqual([])
  })
  it('needs a skill that is for the person', async () => {
    const { say } = await start({ files: project('a', 'user-invocable: no\n') })
    await say('use /a')
    expect(textsOf('skill-invocation')).toEqual([])
    await expect(command('/a')).rejects.toMatchObject({ code: 'UNKNOWN_COMMAND' })
  })
  it('alone or before other words becomes the person’s message, and the skill goes with it', async () => {
    const { agent, adapter } = await start({ files: project('a') })
    adapter.play(sayText('Done.'))
    await expect(command('/a the login page')).resolves.toMatchObject({ kind: 'success' })
    await agent.whenIdle()
    expect(textsOf('user')).toEqual(['/a the login page'])
    expect(textsOf('skill-invocation')).toHaveLength(1)
    const run = agent.session.events().find(({ type }) => type === 'command/run')
    expect(run?.data).toMatchObject({ name: 'a', source: 'user' })
  })
  it('that cannot be loaded sends nothing and gives the words back', async () => {
    const { agent, say, write } = await start({ files: project('a') })
    await say('hi')
    await write({ '.bosun/skills/a/SKILL.md': 'broken' })
    await expect(command('/a my words')).resolves.toMatchObject({ kind: 'error', text: expect.stringMatching(/no front matter[\s\S]*Nothing was sent\. You wrote: my words$/) })
    expect([agent.status, textsOf('user')]).toEqual(['idle', ['hi']])
  })
  it('within a message that cannot be loaded says so, and the words go on', async () => {
    let isGone = false
    const { say } = await start({
      files: project('a'),
      alter: (world) => {
        const { files } = world
        return { ...world, files: unreliable(files, () => isGone) }
      },
    })
    await say('hi')
    isGone = true
    await say('use /a')
    const notice = messages('plugin').at(-1)
    expect(notice).toMatchObject({ source: { plugin: 'skills', form: 'notice', summary: expect.stringMatching(/^\/a could not be loaded: /) } })
    expect(textsOf('user')).toEqual(['hi', 'use /a'])
  })
  it('stands in the menu of commands, which follows what is found; a command of Bosun goes first', async () => {
    const { application, agent, say, write } = await start({ files: { ...project('a'), ...project('compact') } })
    await say('hi')
    const entry = (name: string) => application.ctx.commands.entries(agent.scope).find((one) => one.name === name)
    expect(entry('a')).toEqual({ name: 'a', description: 'About a.', hint: 'what to do with it (optional)' })
    expect(entry('compact')?.description).not.toContain('About')
    const changes: string[] = []
    application.ctx.on('skills/change', () => void changes.push('skills'))
    application.ctx.on('commands/change', () => void changes.push('commands'))
    await write(project('late'))
    await say('again')
    expect([entry('late')?.name, changes]).toEqual(['late', ['commands', 'skills']])
    await say('third')
    expect(changes).toHaveLength(2)
  })
  it('is offered before anything is said', async () => {
    const { application } = await start({ files: project('a') })
    await application.ctx.skills.report({ cwd: application.folder })
    expect(application.ctx.commands.get('a', null)?.description).toBe('About a.')
  })
})

describe('where skills stand', () => {
  it('the lowest rank of a name wins, the others are shown as passed over', async () => {
    await start({ settings: { 'skills.alsoRead': ['.claude/skills', '.github/skills'] } })
    const folders = ['.bosun/skills', '.agents/skills', '.claude/skills', '.github/skills', join(home(), 'mine'), join(home(), '.bosun/skills'), join(home(), '.agents/skills'), join(home(), '.claude/skills')]
    await the().application.settings.set('skills.folders', [join(home(), 'mine')], 'user')
    const { ctx } = the()
    ctx.skills.contribute({ name: 'a', description: 'x', provider: 'an extension', content: () => 'contributed' })
    for (const folder of folders) await the().write({ [join(folder, 'a.md')]: skill('a', '', folder) })
    const order: unknown[] = []
    for (let at = 0; at <= folders.length; at++) {
      const [first = ''] = await rows()
      const { content } = (await loaded('a')) as { content: string }
      order.push(content.trim())
      expect(first).toContain('loaded')
      expect((await rows()).filter((row) => row.includes('has the same name and goes first'))).toHaveLength(folders.length - at)
      if (content === 'contributed') break
      await rm(join(the().folder, content.trim().startsWith('/') ? '' : content.trim(), 'a.md'), { force: true })
    }
    expect(order).toEqual([...folders.slice(0, 4), 'contributed'])
    await Promise.all(folders.slice(0, 4).map((folder) => rm(join(the().folder, folder), { recursive: true, force: true })))
    expect(await rows()).toEqual([
      expect.stringContaining('a an extension loaded'),
      ...['~/mine/a.md', '~/.bosun/skills/a.md', '~/.agents/skills/a.md', '~/.claude/skills/a.md'].map((path) => expect.stringContaining(`a ${path} shadowed: an extension has the same name`)),
    ])
  })
  it('what comes with Bosun stands behind everything, and a contribution goes with who made it', async () => {
    const { application } = await start()
    const undo = application.ctx.skills.contribute({ name: 'a', description: 'x', provider: 'Bosun', origin: 'bundled', resourceBase: { kind: 'opaque', description: 'inside' }, content: async () => 'Bundled.' })
    expect(await loaded('a')).toEqual({ name: 'a', provider: 'Bosun', resourceBase: { kind: 'opaque', description: 'inside' }, content: 'Bundled.' })
    expect(() => application.ctx.skills.contribute({ name: 'a', description: 'x', provider: 'p', content: () => '' })).toThrow('contributed already')
    expect(() => application.ctx.skills.contribute({ name: '../a', description: 'x', provider: 'p', content: () => '' })).toThrow('lower-case letters')
    await the().write({ [join(home(), '.claude/skills/a.md')]: skill('a') })
    await rows()
    expect(await loaded('a')).toMatchObject({ provider: 'user' })
    await rm(join(home(), '.claude/skills/a.md'))
    undo()
    expect(await codeOf('a')).toBe('SKILL_NOT_FOUND')
  })
  it('a contribution that fails says why', async () => {
    const { application } = await start()
    application.ctx.skills.contribute({ name: 'a', description: 'x', provider: 'p', resourceBase: { kind: 'url', url: 'https://a.example/' }, content: () => Promise.reject(new Error('offline')) })
    expect(await loaded('a')).toEqual({ code: 'SKILL_BROKEN', message: 'The skill a of p cannot be loaded: offline' })
  })
  it('nearest folder first, up to the project’s root', async () => {
    await start({
      cwd: 'repo/packages/x',
      files: { 'repo/.git/HEAD': '', 'repo/.bosun/skills/a.md': skill('a', '', 'root'), 'repo/.bosun/skills/r.md': skill('r'), 'repo/packages/x/.bosun/skills/a.md': skill('a', '', 'near'), '.bosun/skills/above.md': skill('above') },
      alter: (world) => ({ ...world, workspace: { ...world.workspace, folders: () => [] } }),
    })
    expect(await loaded('a')).toMatchObject({ content: 'near\n' })
    expect([await codeOf('r'), await codeOf('above')]).toEqual(['loaded', 'SKILL_NOT_FOUND'])
  })
  it('in every root of the window, the session’s own first, named', async () => {
    await start({
      cwd: 'one',
      files: { 'one/.bosun/skills/a.md': skill('a', '', '1'), 'two/.bosun/skills/a.md': skill('a', '', '2'), 'two/.bosun/skills/b.md': skill('b') },
      alter: (world) => {
        const [first] = world.workspace.folders()
        return { ...world, workspace: { ...world.workspace, folders: () => ['one', 'two'].map((name) => ({ name, path: join(first?.path ?? '', name) })) } }
      },
    })
    expect(await loaded('a')).toMatchObject({ content: '1\n' })
    const report = await the().ctx.skills.report({ session: the().agent.session })
    expect(report.rows.map(({ name, label, state }) => [name, label, state])).toEqual([['a', 'one', 'loaded'], ['a', 'two', 'shadowed'], ['b', 'two', 'loaded']])
  })
  it('one level: a folder with SKILL.md or a file; nothing deeper, nothing hidden', async () => {
    await start({ files: { ...project('a'), '.bosun/skills/b.md': skill('b'), '.bosun/skills/group/c/SKILL.md': skill('c'), '.bosun/skills/.system/SKILL.md': skill('d'), '.bosun/skills/notes.txt': 'x' } })
    expect(await rows()).toEqual([
      'a .bosun/skills/a/SKILL.md loaded',
      'b .bosun/skills/b.md loaded',
      'group .bosun/skills/group/SKILL.md broken: It has no SKILL.md.',
    ])
  })
  it('links within the project are followed, and those of the person lead anywhere', async () => {
    const { folder, write } = await start({ files: { 'shared/a/SKILL.md': skill('a'), 'shared/b.md': skill('b') } })
    await mkdir(join(folder, '.bosun/skills'), { recursive: true })
    await symlink('../../shared/a', join(folder, '.bosun/skills/a'))
    await symlink('../../shared/b.md', join(folder, '.bosun/skills/b.md'))
    await write({ [join(home(), 'dotfiles/c/SKILL.md')]: skill('c') })
    await mkdir(join(home(), '.bosun'), { recursive: true })
    await symlink(join(home(), 'dotfiles'), join(home(), '.bosun/skills'))
    expect(await Promise.all(['a', 'b', 'c'].map(codeOf))).toEqual(['loaded', 'loaded', 'loaded'])
  })
  it('a project that is the person’s home does not make their skills twice', async () => {
    await start({ alter: (world) => ({ ...world, machine: { ...world.machine, homeFolder: world.workspace.folders()[0]?.path ?? '' } }), files: { '.agents/skills/a.md': skill('a') } })
    const report = await the().ctx.skills.report({ session: the().agent.session })
    expect(report.rows.map(({ name, origin }) => [name, origin])).toEqual([['a', 'user']])
  })
})

describe('front matter', () => {
  const check = async (source: string | Uint8Array, row: RegExp) => {
    await start({ files: { '.bosun/skills/a/SKILL.md': source, '.bosun/skills/z.md': skill('z') } })
    const all = await rows()
    expect(all.find((one) => one.includes('skills/a/'))).toMatch(row)
    expect(all).toContain('z .bosun/skills/z.md loaded')
  }
  it.each<[string, string, RegExp]>([
    ['CRLF', '---\r\nname: a\r\ndescription: d\r\n---\r\nDo.\r\n', /^a .* loaded$/],
    ['a byte-order mark', `\u{FEFF}${skill('a')}`, /^a .* loaded$/],
    ['a folded description, other keys and metadata', '---\nname: a\ndescription: >-\n  long\n  text\nlicense: MIT\nallowed-tools: [Read]\nmetadata:\n  version: 1\n---\n', /^a .* loaded$/],
    ['a number as name and a date as description', '---\nname: 12\ndescription: 2024-01-01\n---\n', /^12 .* loaded$/],
    ['no body', '---\nname: a\ndescription: d\n---', /^a .* loaded$/],
    ['the name of another folder', skill('other'), /^other .* loaded$/],
  ])('with %s is read', (_name, source, row) => check(source, row))
  it.each<[string, string, RegExp]>([
    ['none', '# Just text', /broken: It has no front matter\. Begin the file with a line of three dashes/],
    ['no end', '---\nname: a\ndescription: d\n', /broken: It has no front matter/],
    ['nothing in it', '---\n---\n', /broken: Its front matter says no name\. Add one\.$/],
    ['no description', '---\nname: a\n---\n', /broken: Its front matter says no description\. Add one\.$/],
    ['an empty name', '---\nname: ""\ndescription: d\n---\n', /broken: Its front matter is wrong: name is empty\.$/],
    ['a list as name', '---\nname: [a]\ndescription: d\n---\n', /broken: Its front matter is wrong: name must be text\.$/],
    ['a list', '---\n- a\n---\n', /broken: Its front matter is no list of names and values/],
    ['a colon in the text', '---\nname: a\ndescription: Use when: x\n---\n', /broken: Its front matter is no YAML: .+ in line 3\. Put a text that holds a colon/],
    ['a tab', '---\nname: a\nmetadata:\n\tx: 1\n---\n', /broken: Its front matter is no YAML: .+ in line 4/],
    ['one key twice', '---\nname: a\nname: b\n---\n', /broken: Its front matter is no YAML: duplicated mapping key in line 3/],
    ['a tag that makes code', '---\nname: !!js/function "x"\n---\n', /broken: Its front matter is no YAML: unknown scalar tag/],
    ['a path as name', '---\nname: ../../etc\ndescription: d\n---\n', /broken: Its name "\.\.\/\.\.\/etc" cannot be used/],
    ['capital letters', '---\nname: A\ndescription: d\n---\n', /broken: Its name "A" cannot be used/],
    ['a name of 65 characters', `---\nname: ${'a'.repeat(65)}\ndescription: d\n---\n`, /broken: Its name "a{64}" cannot be used\. A name is at most 64/],
    ['a flag in other words', '---\nname: a\ndescription: d\nuser-invocable: perhaps\n---\n', /broken: Its front matter is wrong: user-invocable must be true or false\.$/],
    ['disableModelInvocation', '---\nname: a\ndescription: d\ndisableModelInvocation: true\n---\n', /broken: Its front matter says disableModelInvocation\. Write disable-model-invocation\.$/],
    ['userInvocable', '---\nname: a\ndescription: d\nuserInvocable: false\n---\n', /broken: Its front matter says userInvocable\. Write user-invocable\.$/],
    ['metadata that is no map', '---\nname: a\ndescription: d\nmetadata: x\n---\n', /broken: Its front matter is wrong: metadata must be a map\.$/],
    ['over 16 KiB of it', `---\nname: a\ndescription: d\nmetadata:\n  x: ${'y'.repeat(17_000)}\n---\n`, /broken: Its front matter has 17\d+ bytes; at most 16384 are read/],
    ['__proto__', '---\n__proto__:\n  name: a\n  description: d\n---\n', /broken: Its front matter says no name/],
  ])('with %s is passed over with the reason', (_name, source, row) => check(source, row))
  it.each([
    ['true yes on 1', true],
    ['TRUE Yes ON', true],
    ['false no off 0', false],
  ])('takes %s for a flag', async (words, isDisabled) => {
    const all = words.split(' ')
    await start({ files: Object.fromEntries(all.map((word, at) => [`.bosun/skills/s${at}.md`, skill(`s${at}`, `disable-model-invocation: ${word}\n`)])) })
    const report = await the().ctx.skills.report({ session: the().agent.session })
    expect(report.rows.map(({ isForModel }) => isForModel)).toEqual(all.map(() => !isDisabled))
  })
})

describe('what is wrong with a file', () => {
  const check = async (make: (at: string) => unknown, reason: RegExp) => {
    const { folder, say } = await start({ files: { '.bosun/skills/a/notes.txt': '', '.bosun/skills/z.md': skill('z') } })
    await make(join(folder, '.bosun/skills/a/SKILL.md'))
    await say('hi')
    expect(told()).toEqual([['z']])
    expect((await rows()).find((row) => row.startsWith('a '))).toMatch(reason)
    expect(await codeOf('a')).toBe('SKILL_BROKEN')
  }
  it('a folder', () => check((at) => mkdir(at), /broken: It is a folder/))
  it('a FIFO', () => check((at) => execFileSync('mkfifo', [at]), /broken: It is not a regular file but a FIFO/))
  it('10 MB', () => check((at) => the().write({ [at]: Buffer.alloc(10_000_000, 97) }), /broken: It has 10000000 bytes; at most 1048576 are read/))
  it('bytes that are no text', () => check((at) => the().write({ [at]: Uint8Array.of(0, 1, 2, 255) }), /broken: .*binary/))
  it('a link out of the workspace', () => check((at) => symlink('/etc/hostname', at), /broken: It leads to \/etc\/hostname, outside/))
  it('a link to nothing', () => check((at) => symlink('nowhere', at), /broken: It is a link to a file that does not exist/))
  it('a link to itself', () => check((at) => symlink('SKILL.md', at), /broken: .+/))
  it('a FIFO beside the folders', async () => {
    const { folder } = await start({ files: project('z') })
    execFileSync('mkfifo', [join(folder, '.bosun/skills/a.md')])
    expect(await rows()).toEqual([expect.stringMatching(/^a .*broken: It is not a regular file/), expect.stringMatching(/^z .*loaded$/)])
  })
  it('a folder of skills that is a file, or leads out of the workspace', async () => {
    const { folder } = await start({ files: { '.bosun/skills': 'x', '.claude/x': '', '.agents/skills/z.md': skill('z') } })
    await symlink('/etc', join(folder, '.claude/skills'))
    expect(await rows()).toEqual([expect.stringMatching(/^skills .bosun\/skills broken: It is no folder/), expect.stringMatching(/^z .*loaded$/), expect.stringMatching(/^skills .claude\/skills broken: It leads to \/etc, outside/)])
  })
  it('a path that no tool may read', async () => {
    await start({ files: { '.bosun/skills/a/SKILL.md': skill('a') }, settings: { 'permissions.sensitivePaths': ['**/a/SKILL.md'] } })
    expect(await rows()).toEqual([expect.stringMatching(/broken: It is one of the paths that no tool may read/)])
  })
  it('another encoding is none', async () => {
    await start({ files: { '.bosun/skills/a.md': Buffer.from(`\u{FEFF}${skill('a', '', 'größer')}`, 'utf16le'), '.bosun/skills/b.md': Buffer.from(skill('b', '', 'straße'), 'latin1') } })
    expect([await loaded('a'), await loaded('b')]).toMatchObject([{ content: 'größer\n' }, { content: 'straße\n' }])
  })
})

describe('thousands of skills', () => {
  it('a folder gives the first five hundred and says how many are left out', async () => {
    await start({ files: Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`.bosun/skills/s${String(at).padStart(4, '0')}.md`, skill(`s${at}`)])) })
    await the().say('hi')
    expect(Buffer.byteLength(textsOf('skill-catalog')[0] ?? '')).toBeLessThanOrEqual(16_384)
    const all = await rows()
    expect(all).toHaveLength(MAX_IN_FOLDER + 1)
    expect(all.at(-1)).toBe('s0500… .bosun/skills broken: A folder gives at most 500 skills; 2500 more are left out.'.replace('.bosun/skills', join('.bosun', 'skills')))
    expect([await codeOf('s499'), await codeOf('s500')]).toEqual(['loaded', 'SKILL_NOT_FOUND'])
  })
})

describe('a workspace that is not trusted', () => {
  it('hides its skills, refuses them by a code of its own, keeps the person’s, and tells all once trust is given', async () => {
    let isTrusted = false
    let grant: () => void = () => {}
    const { say, write } = await start({
      files: project('theirs'),
      alter: (world) => ({ ...world, workspace: { ...world.workspace, isTrusted: () => isTrusted, onDidChangeTrust: (listener) => ((grant = listener), () => {}) } }),
    })
    await write({ [join(home(), '.bosun/skills/mine.md')]: skill('mine') })
    await say('hi /theirs')
    expect([told(), textsOf('skill-invocation')]).toEqual([[['mine']], []])
    expect(await rows()).toContain('theirs .bosun/skills/theirs/SKILL.md refused: The workspace is not trusted; its skills are not read.')
    expect(await loaded('theirs')).toMatchObject({ code: 'WORKSPACE_UNTRUSTED' })
    isTrusted = true
    grant()
    await say('again')
    expect(told()).toEqual([['mine'], ['theirs', 'mine']])
    expect(await codeOf('theirs')).toBe('loaded')
  })
})

describe('changes', () => {
  it('that the editor tells of are in the menu before the next message', async () => {
    let notify: (path: string) => void = () => {}
    const watched: string[][] = []
    const { application, folder, say } = await start({
      files: project('a'),
      alter: (world) => ({ ...world, workspace: { ...world.workspace, onDidChangeFiles: (names, listener) => (names.includes('SKILL.md') && ((notify = listener), watched.push([...names])), () => {}) } }),
    })
    await say('hi')
    await rename(join(folder, '.bosun/skills/a'), join(folder, '.bosun/skills/b'))
    await the().write({ '.bosun/skills/b/SKILL.md': skill('b') })
    const { promise, resolve } = Promise.withResolvers<void>()
    application.ctx.on('skills/change', resolve)
    notify(join(folder, '.bosun/skills/b/SKILL.md'))
    await promise
    expect([application.ctx.commands.get('a', null), application.ctx.commands.get('b', null)?.name, watched]).toEqual([undefined, 'b', [['SKILL.md']]])
  })
  it('of the settings hold from the next message', async () => {
    const { say, application } = await start({ files: { '.claude/skills/a.md': skill('a'), '.github/skills/b.md': skill('b') } })
    await say('hi')
    await application.settings.set('skills.alsoRead', ['.github/skills'], 'user')
    await say('again')
    expect(told()).toEqual([['a'], ['b']])
    await application.settings.set('skills.folders', ['relative'], 'user')
    expect(application.ctx.settings.problems()[0]?.message).toContain('bosun.skills.folders must be a list of absolute paths')
  })
})

it('draws the same from the log with the files gone', async () => {
  const { say, restart, remove } = await start({ files: project('a') })
  await say('use /a')
  const before = the().agent.session.messages()
  await remove('.bosun')
  await restart()
  expect(the().agent.session.messages()).toEqual(before)
})
