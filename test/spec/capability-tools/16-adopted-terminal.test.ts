import { afterEach, describe, expect, it } from 'vitest'
import type { ApprovalAnswer, ApprovalRequest } from '../../../extension/core/policy/approval.ts'
import type {} from '../../../extension/features/terminals/service.ts'
import { fakePersonTerminals } from '../../support/fake-person-terminals.ts'
import { until } from '../../contract/process-runner.suite.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

describe('a terminal of the person’s', () => {
  let application: WholeApplication | undefined
  afterEach(() => application?.dispose())

  interface Options {
    readonly settings?: object
    readonly answer?: ApprovalAnswer
    readonly isReadable?: boolean
    readonly shell?: string
    readonly folder?: string | null
  }
  const setUp = async ({ settings = {}, answer = { outcome: 'allowed-once' }, isReadable = true, shell = 'bash', folder = '/home/person/web' }: Options = {}) => {
    const theirs = fakePersonTerminals([{ id: 'person-1', name: 'dev', shell, folder, isReadable }])
    application = await wholeApplication({
      settings: { 'terminals.adopt': true, 'permissions.defaultPreset': 'danger-full-access', ...settings },
      // No terminal of our own is opened here, so none of its programs is needed.
      alter: (world) => ({ ...world, personTerminals: theirs, terminals: { problem: null, open: () => Promise.reject(new Error('never')) } }),
    })
    const { ctx } = application
    const asked: ApprovalRequest[] = []
    ctx.on('approval/request', async (request) => {
      asked.push(request)
      return answer
    })
    const agent = await ctx.agents.create({ cwd: application.folder })
    agent.session.append({ type: 'turn/start', data: { turn: 1 } })
    let calls = 0
    const run = (name: string, args: object) => ctx.tools.execute({ callId: `c${++calls}`, name: `terminal_${name}`, arguments: args, agent, signal: new AbortController().signal })
    const adopt = () => run('open', { type: 'bash', adopt: 'person-1' })
    return { application, ctx, agent, asked, run, adopt, theirs }
  }

  it('is listed as one to ask for, with its name, shell and folder', async () => {
    const { run } = await setUp()
    const listed = await run('list', {})
    expect(outcomeOf(listed)).toEqual([{ sessionId: 'person-1', name: 'dev', type: 'bash', pid: 0, status: { kind: 'running' }, adoptable: true, cwd: '/home/person/web' }])
    expect(textOf(listed)).toBe('person-1 [bash] the person’s — dev, in /home/person/web. Ask for it with terminal_open and adopt.')
  })
  it('is not listed, and cannot be asked for, where the setting is off, which it is by default', async () => {
    const { ctx, run, adopt, theirs } = await setUp({ settings: { 'terminals.adopt': false } })
    expect(textOf(await run('list', {}))).toBe('You have no terminals.')
    expect(Object.keys(ctx.tools.get('terminal_open')?.parameters['properties'] as object)).toEqual(['type', 'name', 'cwd'])
    expect(outcomeOf(await adopt())).toEqual({ code: 'INVALID_ARGS', message: expect.stringMatching(/cannot be asked for/) as string })
    expect(theirs.typed).toEqual([])
  })
  it('is asked for by its name, even with full access, and then read from now on and typed in', async () => {
    const { asked, adopt, run, theirs } = await setUp()
    const opened = await adopt()
    expect(asked.map(({ details }) => details?.effect)).toEqual(['Read and type in your terminal “dev” (bash, in /home/person/web)'])
    expect(outcomeOf(opened)).toEqual({ sessionId: 'pty-1', type: 'bash', name: 'dev', pid: 7, status: { kind: 'running' }, isAdopted: true, motd: '' })
    expect(textOf(opened)).toMatch(/nothing from before/)
    const sent = await run('send', { sessionId: 'pty-1', text: 'npm test' })
    expect(outcomeOf(sent)).toEqual({ kind: 'foreground', viewport: '$ npm test\nran npm test', waitReason: 'stdin_read', sessionStatus: { kind: 'running' }, truncated: false })
    theirs.run('person-1', 'git status', 'clean')
    await until(async () => textOf(await run('read', { sessionId: 'pty-1' })).includes('$ git status\nclean'))
    expect(theirs.typed).toEqual(['npm test\r'])
    expect(textOf(await run('list', {}))).toBe('pty-1 [bash] running, the person’s — dev')
  })
  it('is not entered when the person says no', async () => {
    const { adopt, run } = await setUp({ answer: { outcome: 'rejected' } })
    expect(outcomeOf(await adopt())).toMatchObject({ code: 'DENIED' })
    expect(textOf(await run('list', {}))).toContain('person-1')
  })
  it('that the editor cannot read is not there to be asked for', async () => {
    const { adopt, asked } = await setUp({ isReadable: false })
    expect(outcomeOf(await adopt())).toEqual({ code: 'NO_SESSION', message: expect.stringMatching(/terminal_list/) as string })
    expect(asked).toEqual([])
  })
  it('goes to one agent at a time', async () => {
    const { adopt } = await setUp()
    await adopt()
    expect(outcomeOf(await adopt())).toMatchObject({ code: 'NO_SESSION' })
  })
  it('is given back by closing it, ends nothing, and can be asked for again', async () => {
    const { adopt, run } = await setUp()
    await adopt()
    const closed = await run('close', { sessionId: 'pty-1' })
    expect([outcomeOf(closed), textOf(closed)]).toEqual([{ sessionId: 'pty-1', outcome: 'given-back' }, 'Gave pty-1 back to the person. What runs there goes on.'])
    expect(outcomeOf(await adopt())).toMatchObject({ sessionId: 'pty-2' })
  })
  it('is taken back by the person, which the model is told', async () => {
    const { ctx, adopt, run, agent } = await setUp()
    await adopt()
    expect(await ctx.terminals.takeBack()).toBe(1)
    await until(async () => textOf(await run('list', {})).startsWith('pty-1 [bash] closed by the person, the person’s'))
    expect(agent.inbox.nextStep.map(({ content }) => content)).toEqual([[{ type: 'text', text: expect.stringMatching(/^The person took their terminal pty-1 \(dev\) back/) as string }]])
    expect(outcomeOf(await run('send', { sessionId: 'pty-1', text: 'x' }))).toEqual({ code: 'NO_SESSION', message: expect.stringMatching(/^The person has taken back pty-1/) as string })
    expect(await ctx.terminals.takeBack()).toBe(0)
  })
  it('that the person closes has ended', async () => {
    const { adopt, run, theirs } = await setUp()
    await adopt()
    theirs.close('person-1')
    await until(async () => textOf(await run('list', {})).includes('pty-1 [bash] exited with 0'))
  })
  it('is given back when the session ends', async () => {
    const { ctx, agent, adopt } = await setUp()
    await adopt()
    await agent.dispose()
    expect(ctx.terminals.adoptable().map(({ id }) => id)).toEqual(['person-1'])
  })
  it('has typed signals only', async () => {
    const { adopt, run, theirs } = await setUp()
    await adopt()
    expect(textOf(await run('signal', { sessionId: 'pty-1', signal: 'SIGINT' }))).toBe('Sent SIGINT to the foreground of pty-1.')
    expect(theirs.typed).toEqual(['\u0003'])
    expect(outcomeOf(await run('signal', { sessionId: 'pty-1', signal: 'SIGKILL' }))).toMatchObject({ code: 'UNSUPPORTED_SIGNAL' })
  })
  describe('is judged', () => {
    const effect = async (options: Options, args: object = { text: 'rm x' }) => {
      const { ctx, adopt, run } = await setUp(options)
      await adopt()
      // The prompt has been heard once the first command has come to its end.
      await run('send', { sessionId: 'pty-1', text: '' })
      return ctx.permissions.effectOf('terminal_send', { sessionId: 'pty-1', ...args })
    }
    it('at its prompt like a line of the shell', async () => expect(await effect({})).toEqual({ kind: 'shell', shell: 'bash', command: 'rm x', workdir: '/home/person/web' }))
    it('as nobody’s where the shell is one that nobody reads', async () => expect(await effect({ shell: 'fish' })).toEqual({ kind: 'unknown' }))
    it('as nobody’s where the folder is not known, as on another machine', async () => expect(await effect({ folder: null })).toEqual({ kind: 'unknown' }))
    it('as nobody’s after a part of a line', async () => {
      const { ctx, adopt, run } = await setUp()
      await adopt()
      await run('send', { sessionId: 'pty-1', text: 'rm ', submit: false })
      expect(ctx.permissions.effectOf('terminal_send', { sessionId: 'pty-1', text: 'x' })).toEqual({ kind: 'unknown' })
    })
  })
  it('is named after a reload as the person’s alone again', async () => {
    const { application: whole, agent } = await setUp()
    agent.session.append({ type: 'terminal/opened', data: { id: 'pty-7', shell: 'zsh', name: 'dev', isAdopted: true }, ignorable: true })
    await agent.session.flush()
    const { ctx } = await whole.restart()
    const resumed = await ctx.agents.resume(agent.id)
    expect(resumed.inbox.nextStep.map(({ content }) => content)).toEqual([[{ type: 'text', text: expect.stringMatching(/- pty-7 \[zsh\] dev \(the person’s own: it may go on, but is theirs alone again\)$/) as string }]])
  })
})
