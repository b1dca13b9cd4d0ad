import { afterEach, describe, expect, it } from 'vitest'
import type { CommandDefinition, CommandOutcome } from '../../../extension/core/commands/command.ts'
import { isErrorOf } from '../../../extension/base/harness-error.ts'
import { CommandError } from '../../../extension/core/commands/command.ts'
import type { ImageBlock } from '../../../extension/core/log/message.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { createLoopRig, prompt, settled, type LoopRig } from '../../support/loop-rig.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const applications: WholeApplication[] = []
afterEach(async () => {
  for (const application of applications.splice(0)) await application.dispose()
})

async function application() {
  const app = await wholeApplication()
  applications.push(app)
  const agent = await app.ctx.agents.create({ cwd: app.folder })
  return { app, agent, commands: app.ctx.commands }
}

const command = (name: string, run: CommandDefinition['run'] = () => ({}), more: Partial<CommandDefinition> = {}): CommandDefinition => ({ name, description: `Does ${name}.`, run, ...more })
const withInput = { input: { hint: 'anything' } } as const
const image: ImageBlock = { type: 'image', attachment: { attachmentId: 'sha256:0', mediaType: 'image/png', bytes: 1 } }

/** Both ends of every command in the log, without ids. */
const logged = ({ session }: Agent): readonly (readonly [string, object])[] =>
  session.events().flatMap((event): readonly (readonly [string, object])[] => {
    if (event.type !== 'command/run' && event.type !== 'command/done') return []
    const { commandId: _, ...data } = event.data
    return [[event.type === 'command/run' ? 'run' : 'done', data]]
  })

describe('names', () => {
  it.each(['a', 'look-out', 'a-b_2', '0'])('takes %s', async (name) => {
    const { commands, agent } = await application()
    commands.register(command(name))
    expect(await commands.run(agent, `/${name}`)).toMatchObject({ kind: 'success' })
  })

  it.each(['', 'Compact', 'a b', '/a', 'ä', 'a.b'])('refuses to register %j', async (name) => {
    const { commands } = await application()
    expect(() => commands.register(command(name))).toThrow(RangeError)
  })
})

describe('each run', () => {
  it('writes command/run before and command/done after, with one id', async () => {
    const { commands, agent } = await application()
    let seen: unknown
    commands.register(command('look', ({ agent: { session } }) => {
      seen = session.events().at(-1)?.type
      return { text: 'Seen.' }
    }))
    const { commandId } = await commands.run(agent, '/look')
    expect(seen).toBe('command/run')
    expect(agent.session.events().slice(-2)).toMatchObject([
      { type: 'command/run', data: { commandId, name: 'look', source: 'user' } },
      { type: 'command/done', data: { commandId, kind: 'success', text: 'Seen.' } },
    ])
  })

  it('lets nothing reach the model', async () => {
    const { commands, agent } = await application()
    commands.register(command('say', () => ({ text: 'Nothing for a model.' }), withInput))
    await commands.run(agent, '/say this')
    expect(agent.session.messages()).toEqual([])
    expect([agent.inbox.nextStep, agent.inbox.nextTurn]).toEqual([[], []])
  })

  it('gets its arguments trimmed and logs them', async () => {
    const { commands, agent } = await application()
    const got: string[] = []
    commands.register(command('say', ({ args }) => (got.push(args), {}), withInput))
    await commands.run(agent, '/say  two  words \n')
    expect([got, logged(agent)[0]]).toEqual([['two  words'], ['run', { name: 'say', args: 'two  words', source: 'user' }]])
  })

  it('leaves arguments out of the log where an event of its domain holds them', async () => {
    const { commands, agent } = await application()
    commands.register(command('say', () => ({}), { ...withInput, hidesArguments: true }))
    await commands.run(agent, '/say secret')
    expect(logged(agent)).toEqual([['run', { name: 'say', source: 'user' }], ['done', { kind: 'success' }]])
  })

  it('may point at the event that says it better', async () => {
    const { commands, agent } = await application()
    commands.register(command('name', ({ agent: { session } }) => ({ sourceEventSeq: session.append({ type: 'session/title', data: { title: 'T', messageSeqs: [], source: { kind: 'user' } } }).seq })))
    const { sourceEventSeq } = await commands.run(agent, '/name')
    expect(agent.session.events()[sourceEventSeq!]?.type).toBe('session/title')
    expect(logged(agent).at(-1)).toEqual(['done', { kind: 'success', sourceEventSeq }])
  })

  it.each<[string, CommandDefinition['run']]>([
    ['throws', () => { throw new Error('It is raining.') }],
    ['rejects', () => Promise.reject(new Error('It is raining.'))],
  ])('settles as an error with the message when it %s', async (_how, run) => {
    const { commands, agent } = await application()
    commands.register(command('sail', run))
    expect(await commands.run(agent, '/sail')).toMatchObject({ kind: 'error', text: 'It is raining.' })
    expect(logged(agent).at(-1)).toEqual(['done', { kind: 'error', text: 'It is raining.' }])
  })

  it('settles as an error when it is aborted, though its body never ends', async () => {
    const { commands, agent } = await application()
    commands.register(command('wait', () => new Promise<CommandOutcome>(() => {})))
    const controller = new AbortController()
    const running = commands.run(agent, '/wait', { signal: controller.signal })
    controller.abort(new Error('Stopped.'))
    expect(await running).toMatchObject({ kind: 'error', text: 'Stopped.' })
    expect(logged(agent).at(-1)).toEqual(['done', { kind: 'error', text: 'Stopped.' }])
  })

  it('ends with its session, and the log says so', async () => {
    const { commands, agent } = await application()
    commands.register(command('wait', () => new Promise<CommandOutcome>(() => {})))
    const running = commands.run(agent, '/wait')
    await agent.dispose()
    expect(await running).toMatchObject({ kind: 'error', text: 'The session was closed while this command ran.' })
    expect(logged(agent).at(-1)).toMatchObject(['done', { kind: 'error' }])
  })
})

describe('what is refused logs nothing', () => {
  const check = async (line: string, code: CommandError['code'], images: readonly ImageBlock[] = []) => {
    const { commands, agent } = await application()
    commands.register(command('plain'))
    commands.register(command('drawn', () => ({}), { input: { hint: 'an image', allowsImages: true } }))
    commands.register(command('worded', () => ({}), withInput))
    const refusal = await commands.run(agent, line, { images }).then(() => null, (error: unknown) => error)
    expect(isErrorOf(CommandError, refusal) && refusal.code).toBe(code)
    expect(logged(agent)).toEqual([])
  }

  it('bad syntax', () => check('/Plain', 'BAD_SYNTAX'))
  it('no slash', () => check('plain', 'BAD_SYNTAX'))
  it('arguments that the command does not take', () => check('/plain words', 'BAD_SYNTAX'))
  it('an unknown name', () => check('/plane', 'UNKNOWN_COMMAND'))
  it('images without a word about them', () => check('/worded hello', 'IMAGES_REFUSED', [image]))

  it('takes images where they are declared', async () => {
    const { commands, agent } = await application()
    let got: readonly ImageBlock[] = []
    commands.register(command('drawn', ({ images }) => ((got = images), {}), { input: { hint: 'an image', allowsImages: true } }))
    await commands.run(agent, '/drawn', { images: [image] })
    expect(got).toEqual([image])
  })

  it('what is about a talk, before there is one', async () => {
    const { commands } = await application()
    commands.register(command('about', () => ({}), { needsSession: true }))
    const code = (isBeforeSession: boolean) => commands.refusal('/about', { scope: null, isIdle: true, isBeforeSession })?.code
    expect([code(true), code(false)]).toEqual(['NO_SESSION', undefined])
  })

  it('says what an unknown name may have meant', async () => {
    const { commands } = await application()
    commands.register(command('compost'))
    const refused = (line: string) => commands.refusal(line, { scope: null, isIdle: true })?.message
    expect(refused('/compots')).toContain('Did you mean /compost?')
    expect(refused('/compos')).toContain('/compost')
  })
})

describe('while the agent is busy', () => {
  async function busy(): Promise<{ readonly rig: LoopRig; readonly agent: Agent; readonly end: () => Promise<void> }> {
    const rig = createLoopRig({ answers: [[{ type: 'hang' }]] })
    const agent = await rig.newAgent()
    agent.followup(prompt('work'))
    await settled()
    const end = async () => {
      agent.cancel({ kind: 'user' })
      await agent.whenIdle()
    }
    return { rig, agent, end }
  }

  it('runs a command all the same', async () => {
    const { rig, agent, end } = await busy()
    rig.ctx.commands.register(command('look'))
    expect(agent.status).toBe('running')
    expect(await rig.ctx.commands.run(agent, '/look')).toMatchObject({ kind: 'success' })
    await end()
  })

  it('refuses one that needs it idle, and logs nothing', async () => {
    const { rig, agent, end } = await busy()
    rig.ctx.commands.register(command('fold', () => ({}), { needsIdle: true }))
    await expect(rig.ctx.commands.run(agent, '/fold')).rejects.toMatchObject({ code: 'BUSY' })
    expect(logged(agent)).toEqual([])
    await end()
    expect(await rig.ctx.commands.run(agent, '/fold')).toMatchObject({ kind: 'success' })
  })
})

describe('layers', () => {
  it('fails on a duplicate in one layer and keeps the first', async () => {
    const { commands, agent } = await application()
    commands.register(command('look', () => ({ text: 'first' })))
    expect(() => commands.register(command('look'))).toThrow('/look is registered already')
    expect(await commands.run(agent, '/look')).toMatchObject({ text: 'first' })
  })

  it('lets a nearer layer shadow, for its agents only', async () => {
    const { app, commands, agent } = await application()
    const other = await app.ctx.agents.create({ cwd: app.folder })
    commands.register(command('look', () => ({ text: 'far' })))
    const undo = app.ctx.scoped(agent.scope).commands.register(command('look', () => ({ text: 'near' })))
    const say = async (at: Agent) => (await commands.run(at, '/look')).text
    expect([await say(agent), await say(other)]).toEqual(['near', 'far'])
    undo()
    expect(await say(agent)).toBe('far')
  })

  it('takes a command away with its plugin and tells listeners of every layer', async () => {
    const { app, commands, agent } = await application()
    let changes = 0
    app.ctx.scoped(agent.scope).on('commands/change', () => void (changes += 1))
    const fiber = app.ctx.plugin({ name: 'one', inject: ['commands'], apply: (ctx) => void ctx.commands.register(command('one')) })
    await fiber.ready
    expect([commands.get('one', null)?.name, changes]).toEqual(['one', 1])
    await fiber.dispose()
    expect([commands.get('one', null), changes]).toEqual([undefined, 2])
  })

  it('contains a throw of a listener of commands/change', async () => {
    const { app, commands } = await application()
    app.ctx.on('commands/change', () => { throw new Error('broken listener') })
    expect(() => commands.register(command('one'))).not.toThrow()
    expect(commands.get('one', null)).toBeDefined()
  })

  it('lists skills and other changing lists with the rest, behind commands of the same name', async () => {
    const { commands, agent } = await application()
    let skills = [command('deploy', () => ({ text: 'skill' })), command('look', () => ({ text: 'skill' }))]
    const listeners = new Set<() => void>()
    const undo = commands.contribute({ list: () => skills, onDidChange: (listener) => (listeners.add(listener), () => void listeners.delete(listener)) })
    commands.register(command('look', () => ({ text: 'command' }), withInput))
    const own = () => commands.entries(agent.scope).filter(({ name }) => ['deploy', 'look', 'test'].includes(name))
    expect(own()).toEqual([{ name: 'deploy', description: 'Does deploy.', hint: null }, { name: 'look', description: 'Does look.', hint: 'anything' }])
    expect([(await commands.run(agent, '/deploy')).text, (await commands.run(agent, '/look')).text]).toEqual(['skill', 'command'])
    skills = [command('test')]
    expect(own().map(({ name }) => name)).toEqual(['look', 'test'])
    undo()
    expect([own().map(({ name }) => name), listeners.size]).toEqual([['look'], 0])
  })
})

describe('a name that nobody knows', () => {
  const source = () => {
    let skills: readonly CommandDefinition[] = []
    let looks = 0
    return {
      looks: () => looks,
      list: () => skills,
      onDidChange: () => () => {},
      async refresh() {
        looks++
        skills = [command('late')]
      },
    }
  }
  it('is looked for anew in the lists that change by themselves, before it is run and before it is refused', async () => {
    const { commands, agent } = await application()
    const [first, second] = [source(), source()]
    const undo = commands.contribute(first)
    await expect(commands.run(agent, '/late')).resolves.toMatchObject({ kind: 'success' })
    undo()
    commands.contribute(second)
    expect(await commands.lookUp('/late', { scope: agent.scope, isIdle: true })).toBeNull()
    expect([first.looks(), second.looks()]).toEqual([1, 1])
  })
  it('is refused when it is in none of them, whatever a list throws', async () => {
    const { commands, agent, app } = await application()
    commands.contribute({ ...source(), refresh: () => Promise.reject(new Error('no disk')) })
    expect((await commands.lookUp('/never', { scope: agent.scope, isIdle: true }))?.code).toBe('UNKNOWN_COMMAND')
    expect(JSON.stringify(app.logger.lines)).toContain('no disk')
  })
  it('alone does that: what is known and what is badly written is answered at once', async () => {
    const { commands, agent } = await application()
    const list = source()
    commands.contribute(list)
    expect([await commands.lookUp('/help', { scope: agent.scope, isIdle: true }), (await commands.lookUp('/Help', { scope: agent.scope, isIdle: true }))?.code, list.looks()]).toEqual([null, 'BAD_SYNTAX', 0])
  })
})

describe('what ships', () => {
  it('is there in the composed application', async () => {
    const { commands, agent } = await application()
    expect(commands.entries(agent.scope).map(({ name }) => name)).toEqual(expect.arrayContaining(['compact', 'cost', 'effort', 'feedback', 'help', 'init', 'model', 'permission', 'plan', 'rename']))
  })

  it('a session that takes the place of a cleared one starts so', async () => {
    const { app } = await application()
    const sources: string[] = []
    app.ctx.on('agent/session-start', (_agent, source) => void sources.push(source))
    await app.ctx.agents.create({ cwd: app.folder })
    await app.ctx.agents.create({ cwd: app.folder, isCleared: true })
    expect(sources).toEqual(['startup', 'clear'])
  })
})

describe('a crash between the two ends', () => {
  it('is closed as an error when the session is opened again, once', async () => {
    const { app, agent } = await application()
    agent.session.append({ type: 'command/run', data: { commandId: 'c1', name: 'compact', source: 'user' } })
    await agent.session.flush()
    await agent.session.close()
    const { ctx } = await app.restart()
    const reopened = await ctx.agents.resume(agent.id)
    const end = ['done', { kind: 'error', text: 'This command was cut off before it ended. Run it again if it is still wanted.' }]
    expect(logged(reopened)).toEqual([['run', { name: 'compact', source: 'user' }], end])
    await reopened.dispose()
    expect(logged(await ctx.agents.resume(agent.id))).toHaveLength(2)
  })

  it('is closed in a fork that was taken meanwhile', async () => {
    const { app, agent } = await application()
    agent.session.append({ type: 'command/run', data: { commandId: 'c1', name: 'fork', source: 'user' } })
    const child = await app.ctx.sessions.fork(agent.id)
    expect(child.events().map(({ type }) => type).slice(-3)).toEqual(['command/run', 'command/done', 'session/end-seed'])
    agent.session.append({ type: 'command/done', data: { commandId: 'c1', kind: 'success' } })
  })
})
