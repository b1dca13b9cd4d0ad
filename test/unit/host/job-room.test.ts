import { afterEach, describe, expect, it } from 'vitest'
import type { JobEnd, JobNews, JobSpec } from '../../../extension/features/jobs/service.ts'
import { createFakeAgent, type FakeAgent } from '../../support/fake-agent.ts'
import { chatRig, type RigOptions } from './chat-rig.ts'

type Rig = Awaited<ReturnType<typeof chatRig>>

/** The chat with a session on screen, and jobs whose work a test plays. */
async function setUp(options: RigOptions = {}) {
  const rig = await chatRig(options)
  rigs.push(rig)
  await rig.send('begin')
  return { rig, start: (label: string, more: Partial<Omit<JobSpec, 'kind' | 'label' | 'run'>> & { readonly isElsewhere?: boolean } = {}) => startJob(rig, label, more) }
}

function startJob(rig: Rig, label: string, { isElsewhere = false, ...spec }: Partial<Omit<JobSpec, 'kind' | 'label' | 'run'>> & { readonly isElsewhere?: boolean }) {
  const typed: string[] = []
  let news: JobNews | undefined
  let end: (how: JobEnd) => void = () => {}
  let shown = ''
  const run = (_id: string, of: JobNews) => {
    const { promise: done, resolve } = Promise.withResolvers<JobEnd>()
    news = of
    end = resolve
    return { done, cwd: '/project', cancel: () => resolve({ status: 'killed', signal: 'SIGTERM' }), sendInput: async (text: string) => void typed.push(text), transcript: () => ({ text: shown, omittedBytes: 0 }) }
  }
  const job = rig.jobs.start({ kind: 'bash', label, run, restart: run, owner: isElsewhere ? anotherAgent(rig) : rig.agent('s1'), ...spec })
  return {
    id: job.id,
    typed,
    async end(how: JobEnd) {
      end(how)
      await rig.settle()
    },
    async say(text: string) {
      shown += text
      news?.output(text)
      await rig.settle()
    },
  }
}

function anotherAgent(rig: Rig): FakeAgent {
  const { session } = rig.agent('s1')
  const other = createFakeAgent({ id: 's9' })
  return Object.assign(other, { session: { ...session, id: 's9', projections: () => ({ asOfSeq: 0, values: { title: 'Another talk' } }) } })
}

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.controller.dispose()
})

describe('the room of jobs', () => {
  it('draws jobs in the tree while they run and after, with those of other sessions under their titles', async () => {
    const { rig, start } = await setUp()
    const server = start('npm run dev')
    start('npm test', { isElsewhere: true })
    await server.say('ready\nLocal: http://localhost:5173/\n')
    rig.jobTree.setVisible(true)
    expect(rig.jobTree.lines()).toEqual(['npm run dev | just started · :5173', '  localhost:5173 | open in the browser', '  ready', '  Local: http://localhost:5173/', 'Another talk | 1 running', '  npm test | just started'])
    expect(rig.jobTree.state.badge?.count).toBe(2)
    await server.end({ status: 'completed', exitCode: 1 })
    expect(rig.jobTree.lines()).toEqual(['npm run dev | exit 1 · just now', '  ready', '  Local: http://localhost:5173/', 'Another talk | 1 running', '  npm test | just started'])
  })

  it('draws ages and new output again while somebody looks, and only then', async () => {
    const { rig, start } = await setUp()
    const server = start('npm run dev')
    const lines = () => rig.jobTree.lines()
    rig.clock.advance(120_000)
    await server.say('one\n')
    rig.clock.advance(1_000)
    expect(lines()).toEqual(['npm run dev | just started'])
    rig.jobTree.setVisible(true)
    expect(lines()).toEqual(['npm run dev | running 2 min', '  one'])
    await server.say('two\n\u001b[31mthree\u001b[0m\n')
    rig.clock.advance(500)
    expect(lines()).toEqual(['npm run dev | running 2 min', '  one', '  two', '  three'])
    rig.clock.advance(60_000)
    expect(lines()[0]).toBe('npm run dev | running 3 min')
  })

  it('shows the output in a tab of the terminal: what was, what comes, how it ended; closing it ends nothing', async () => {
    const { rig, start } = await setUp()
    const server = start('npm run dev')
    await server.say('\u001b[32mone\u001b[0m\n')
    await rig.controller.runJob('show-output', `job:${server.id}`)
    await rig.controller.runJob('show-output', `job:${server.id}/line:0`)
    const [tab] = rig.terminalViews.tabs
    expect([rig.terminalViews.tabs.length, tab!.name, tab!.revealed]).toEqual([1, 'npm run dev', 2])
    await server.say('two')
    expect(tab!.text).toBe('\u001b[32mone\u001b[0m\r\ntwo')
    tab!.close()
    expect(rig.jobs.all()[0]!.status).toBe('running')
    await rig.controller.runJob('show-output', `job:${server.id}`)
    rig.clock.advance(12_000)
    await server.end({ status: 'completed', exitCode: 3 })
    expect(rig.terminalViews.tabs[1]!.text).toBe('\u001b[32mone\u001b[0m\r\ntwo\u001b[0m\r\n\u001b[2mThe job has ended: exit 3, after 12 s.\u001b[0m\r\n')
  })

  it('kills, pins, types and starts again as its menu says', async () => {
    const { rig, start } = await setUp()
    const server = start('npm run dev')
    const node = `job:${server.id}`
    await rig.controller.runJob('pin', node)
    expect(rig.jobs.all()[0]!.isPinned).toBe(true)
    await rig.controller.runJob('unpin', node)
    expect(rig.jobs.all()[0]).not.toHaveProperty('isPinned')
    rig.editor.answers.push('yes')
    await rig.controller.runJob('send-input', node)
    expect(server.typed).toEqual(['yes\n'])
    await rig.controller.runJob('send-input', node)
    expect(server.typed).toEqual(['yes\n'])
    await rig.controller.runJob('show-output', node)
    await rig.controller.runJob('kill', node)
    await rig.settle()
    expect(rig.jobs.all()[0]).toMatchObject({ status: 'killed', signal: 'SIGTERM' })
    await rig.controller.runJob('restart', node)
    expect(rig.jobs.all().map(({ id, status }) => [id, status])).toEqual([['bash-1', 'killed'], ['bash-2', 'running']])
    expect(rig.terminalViews.tabs.map(({ state }) => state)).toEqual(['closed', 'open'])
    await rig.controller.runJob('forget-ended', null)
    expect(rig.jobs.all().map(({ id }) => id)).toEqual(['bash-2'])
  })

  it('does not show what is typed where a program asks for a secret', async () => {
    const { rig, start } = await setUp()
    const login = start('npm login')
    await login.say('npm login\nPassword: ')
    await rig.controller.runJob('send-input', `job:${login.id}`)
    expect(rig.editor.shown.at(-1)).toEqual({ kind: 'input', value: { title: 'Send input to npm login', prompt: 'Password:', isSecret: true } })
  })

  it('asks which job when the palette does not say, and says so when none fits', async () => {
    const { rig, start } = await setUp()
    await rig.controller.runJob('kill', null)
    expect(rig.state().notices).toEqual([])
    await rig.settle()
    expect(rig.state().notices.map(({ text }) => text)).toEqual(['There is no job that this can be done with.'])
    start('one')
    start('two')
    rig.editor.answers.push('bash-2')
    await rig.controller.runJob('kill', null)
    await rig.settle()
    expect(rig.jobs.all().map(({ status }) => status)).toEqual(['running', 'killed'])
  })

  it('wakes the agent at a pattern that the person types, and says what is wrong with one', async () => {
    const { rig, start } = await setUp()
    const server = start('npm run dev')
    rig.editor.answers.push('ready', '(')
    await rig.controller.runJob('wake-when', `job:${server.id}`)
    await server.say('ready in 9 ms\n')
    expect(rig.calls).toContainEqual(['wake', server.id, 'ready in 9 ms'])
    await rig.controller.runJob('wake-when', `job:${server.id}`)
    await rig.settle()
    expect(rig.state().notices.map(({ level, text }) => [level, text.slice(0, 30)])).toEqual([['error', 'The pattern /(/ cannot be used']])
  })

  it('says which commands of the palette fit', async () => {
    const { rig, start } = await setUp()
    expect([...rig.editor.conditions]).toEqual([])
    const server = start('npm run dev')
    await server.say('http://localhost:5173/\n')
    expect([...rig.editor.conditions].toSorted()).toEqual(['bosun.jobs', 'bosun.jobs.listening', 'bosun.jobs.live', 'bosun.jobs.taking'])
    await server.end({ status: 'completed', exitCode: 0 })
    expect([...rig.editor.conditions].toSorted()).toEqual(['bosun.jobs', 'bosun.jobs.ended'])
  })

  it('counts them in the menu of the status bar, which leads to the tree', async () => {
    const { rig, start } = await setUp()
    start('npm run dev')
    await rig.settle()
    expect(rig.editor.status?.tooltip).toContain('1 job runs in the background')
    rig.editor.answers.push('jobs')
    await rig.controller.run('menu')
    const menu = rig.editor.shown.at(-1)?.value as { readonly items: readonly { readonly label: string }[] }
    expect(menu.items.map(({ label }) => label)).toContain('Jobs (1 running)')
    expect(rig.jobTree.focused).toBe(1)
  })
})

describe('a port that a job listens at', () => {
  const listening = 'Local: http://localhost:5173/\n'
  it('is offered once, in a notification only while neither chat nor tree is seen', async () => {
    const { rig, start } = await setUp()
    await start('one').say(listening)
    expect(rig.attention.told).toEqual([])
    rig.editor.setVisible(false)
    const server = start('npm run dev')
    await server.say(listening)
    await server.say(listening)
    expect(rig.attention.told.map(({ text }) => text)).toEqual(['npm run dev listens at http://localhost:5173/.'])
  })

  it.each([
    ['open', ['http://localhost:5173/'], 'npm run dev | just started · :5173'],
    ['ignore', [], 'npm run dev | just started'],
  ])('is treated as the setting says: %s', async (policy, opened, row) => {
    const { rig, start } = await setUp({ settings: { 'jobs.ports': policy } })
    rig.editor.setVisible(false)
    await start('npm run dev').say(listening)
    expect(rig.editor.shown.filter(({ kind }) => kind === 'external').map(({ value }) => value)).toEqual(opened)
    expect([rig.attention.told, rig.jobTree.lines()[0]]).toEqual([[], row])
  })

  it('opens in the browser, and its address is copied as the person’s browser reaches it', async () => {
    const { rig, start } = await setUp()
    const server = start('npm run dev')
    await server.say(`${listening}API: http://localhost:8080/v1\n`)
    await rig.controller.runJob('open-port', `job:${server.id}/port:8080`)
    await rig.controller.runJob('copy-address', `job:${server.id}/port:5173`)
    await rig.say({ type: 'open-port', jobId: server.id, port: 5173 })
    rig.editor.answers.push('8080')
    await rig.controller.runJob('open-port', `job:${server.id}`)
    expect(rig.editor.shown.filter(({ kind }) => kind === 'external' || kind === 'copy')).toEqual([
      { kind: 'external', value: 'http://localhost:8080/v1' },
      { kind: 'copy', value: 'http://forwarded.example:5173/' },
      { kind: 'external', value: 'http://localhost:5173/' },
      { kind: 'external', value: 'http://localhost:8080/v1' },
    ])
  })
})

describe('problems that a job names', () => {
  const broken = "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\n"
  const cycle = '12:00:00 - File change detected. Starting incremental compilation...\n\n12:00:01 - Found 0 errors. Watching for file changes.\n'

  it('are marks of the editor, anew in each cycle, and go when the job is killed', async () => {
    const { rig, start } = await setUp()
    const watch = start('npx tsc --watch')
    await watch.say(broken)
    expect([...rig.problemMarks.marks]).toEqual([
      [watch.id, [{ path: 'src/a.ts', folder: '/project', range: { start: { line: 2, character: 6 }, end: { line: 2, character: 6 } }, severity: 'error', message: "Type 'string' is not assignable to type 'number'.", source: 'tsc', code: 'TS2322' }]],
    ])
    expect(rig.jobTree.node(`job:${watch.id}`)?.description).toBe('just started · 1 error')
    await watch.say(cycle)
    expect([...rig.problemMarks.marks.keys()]).toEqual([])
    await watch.say(broken)
    expect([...rig.problemMarks.marks.keys()]).toEqual([watch.id])
    await rig.controller.runJob('kill', `job:${watch.id}`)
    await rig.settle()
    expect([...rig.problemMarks.marks.keys()]).toEqual([])
  })

  it('stay after a run that ended by itself, until it is taken from the list', async () => {
    const { rig, start } = await setUp()
    const lint = start('npx tsc')
    await lint.say(broken)
    await lint.end({ status: 'completed', exitCode: 2 })
    expect([...rig.problemMarks.marks.keys()]).toEqual([lint.id])
    await rig.controller.runJob('forget', `job:${lint.id}`)
    expect([...rig.problemMarks.marks.keys()]).toEqual([])
  })

  it('are left out where the setting says so', async () => {
    const { rig, start } = await setUp({ settings: { 'jobs.problems': false } })
    await start('npx tsc --watch').say(broken)
    expect([...rig.problemMarks.marks.keys()]).toEqual([])
  })
})

describe('the cards of commands', () => {
  it('know of jobs of their session, and act on them', async () => {
    const { rig, start } = await setUp()
    const server = start('npm run dev', { movedFromCall: 'call-1' })
    start('elsewhere', { isElsewhere: true })
    await server.say('http://localhost:5173/\n')
    expect(rig.state().commands).toEqual([
      { callId: 'call-1', jobId: server.id, state: 'running', startedAt: expect.any(Number) as number, takesInput: true, waitsForInput: false, canMove: false, canRestart: false, ports: [{ port: 5173, url: 'http://localhost:5173/' }] },
    ])
    await rig.say({ type: 'command', of: { jobId: server.id }, action: 'open-terminal' })
    await rig.say({ type: 'command', of: { jobId: server.id }, action: 'stop' })
    expect(rig.terminalViews.tabs.map(({ name }) => name)).toEqual(['npm run dev'])
    expect(rig.state().commands).toMatchObject([{ jobId: server.id, state: 'ended', end: { words: 'killed', isBad: false }, canRestart: true, ports: [] }])
  })

  it('know of a command that a call waits for, and act on it', async () => {
    const { rig } = await setUp()
    const asked: unknown[] = []
    const tracking = rig.jobs.commands.track({
      sessionId: 's1',
      callId: 'call-1',
      label: 'npm init',
      cwd: '/project',
      stop: () => void asked.push('stop'),
      moveToBackground: () => {
        asked.push('move')
        return rig.jobs.start({ kind: 'bash', label: 'npm init', run: () => ({ done: new Promise(() => {}), cancel() {} }) })
      },
      sendInput: async (text) => void asked.push(text),
    })
    await rig.settle()
    expect(rig.state().commands).toEqual([{ callId: 'call-1', jobId: null, state: 'running', takesInput: true, waitsForInput: false, canMove: true, canRestart: false, ports: [] }])
    rig.editor.answers.push('calendar')
    await rig.say({ type: 'command', of: { callId: 'call-1' }, action: 'send-input' })
    await rig.say({ type: 'command', of: { callId: 'call-1' }, action: 'to-background' })
    await rig.say({ type: 'command', of: { callId: 'call-1' }, action: 'stop' })
    expect(asked).toEqual(['calendar\n', 'move', 'stop'])
    tracking.end()
    await rig.settle()
    expect(rig.state().commands).toEqual([])
  })
})
