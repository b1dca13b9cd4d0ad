import { describe, expect, it } from 'vitest'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import type { EventDraft } from '../../../../extension/core/log/event.ts'
import { createJobs } from '../../../../extension/features/jobs/jobs.ts'
import { jobsPlugin, type JobsPluginNeeds } from '../../../../extension/features/jobs/plugin.ts'
import { endNotice, orphanNotice } from '../../../../extension/features/jobs/notices.ts'
import type { JobEnd, JobSpec, JobWork } from '../../../../extension/features/jobs/service.ts'
import { createFakeAgent, type FakeAgent } from '../../../support/fake-agent.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'
import type {} from '../../../../extension/core/loop/points.ts'

const setUp = async (over: Partial<JobsPluginNeeds> = {}) => {
  const logger = createRecordingLogger()
  const kernel = createKernel({ logger })
  const clock = createManualClock(1000)
  const fiber = kernel.root.plugin(jobsPlugin({ clock, logger, machine: createFakeMachine(), processes: { endLeftover: async () => 'gone' }, ...over }))
  await fiber.ready
  return { kernel, clock, fiber, jobs: kernel.root.jobs, logger }
}
/** Work that a test ends. */
const work = (over: Partial<JobWork> = {}) => {
  const { promise: done, resolve: end } = Promise.withResolvers<JobEnd>()
  const cancels: (string | undefined)[] = []
  const made: JobWork = { done, cancel: (reason) => (cancels.push(reason), end({ status: 'killed', detail: 'signal: SIGTERM' })), ...over }
  return { work: made, end, cancels }
}
const spec = (made: { work: JobWork }, owner?: FakeAgent, over: Partial<JobSpec> = {}): JobSpec => ({
  kind: 'bash',
  label: 'npm run dev',
  ...(owner && { owner }),
  run: () => made.work,
  ...over,
})
const settle = () => new Promise((resolve) => setImmediate(resolve))
const signal = new AbortController().signal
const noticeTexts = (agent: FakeAgent) => agent.received.map(({ verb, message }) => `${verb}: ${message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')}`)

describe('a job', () => {
  it('does not end before it began when the clock is set back meanwhile', async () => {
    const { jobs, clock } = await setUp()
    const agent = createFakeAgent()
    const one = work()
    jobs.start(spec(one, agent))
    clock.jump(-7_200_000)
    one.end({ status: 'completed' })
    await settle()
    expect(jobs.list(agent)).toMatchObject([{ startedAt: 1000, finishedAt: 1000 }])
  })
  it('has an id by kind, is logged, lists with its state, and ends with its detail', async () => {
    const { jobs, clock } = await setUp()
    const agent = createFakeAgent()
    const [one, two, other] = [work(), work(), work()]
    expect(jobs.start(spec(one, agent)).id).toBe('bash-1')
    jobs.start(spec(two, agent))
    jobs.start(spec(other, agent, { kind: 'pwsh' }))
    clock.advance(5)
    one.end({ status: 'completed', detail: 'exit code: 3' })
    await settle()
    expect(jobs.list(agent)).toEqual([
      { id: 'bash-1', kind: 'bash', label: 'npm run dev', status: 'completed', detail: 'exit code: 3', startedAt: 1000, finishedAt: 1005 },
      { id: 'bash-2', kind: 'bash', label: 'npm run dev', status: 'running', startedAt: 1000 },
      { id: 'pwsh-1', kind: 'pwsh', label: 'npm run dev', status: 'running', startedAt: 1000 },
    ])
    expect(agent.log.filter(({ data }) => 'id' in data && data.id === 'bash-1')).toEqual([
      { type: 'job/started', data: { id: 'bash-1', kind: 'bash', label: 'npm run dev' }, ignorable: true },
      { type: 'job/ended', data: { id: 'bash-1', status: 'completed', detail: 'exit code: 3' }, ignorable: true },
    ])
  })
  it('that cannot start does not exist', async () => {
    const { jobs } = await setUp()
    const run = () => {
      throw new Error('no')
    }
    expect(() => jobs.start({ kind: 'bash', label: 'x', run })).toThrow('no')
    expect(jobs.all()).toEqual([])
  })
  it('is refused beyond ten live ones of an owner, before its work starts; the unowned count together', async () => {
    const { jobs } = await setUp()
    const agent = createFakeAgent()
    const tenth = work()
    for (let count = 1; count <= 10; count += 1) jobs.start(spec(count === 10 ? tenth : work(), agent))
    let hasStarted = false
    const eleventh = (): JobSpec => spec(work(), agent, { run: () => ((hasStarted = true), work().work) })
    expect(() => jobs.start(eleventh())).toThrow(expect.objectContaining({ code: 'JOB_LIMIT' }) as Error)
    expect(hasStarted).toBe(false)
    expect(jobs.start(spec(work())).status).toBe('running')
    tenth.end({ status: 'completed' })
    await settle()
    expect(jobs.start(eleventh()).status).toBe('running')
  })
  it('counts as live while it is stopping', async () => {
    const { jobs } = await setUp()
    const agent = createFakeAgent()
    for (let count = 1; count <= 10; count += 1) jobs.start(spec(work({ cancel: () => {} }), agent))
    jobs.kill(agent, 'bash-1')
    expect(() => jobs.start(spec(work(), agent))).toThrow(expect.objectContaining({ code: 'JOB_LIMIT' }) as Error)
  })
  it('is seen by its exact owner only, unless it has none', async () => {
    const { jobs } = await setUp()
    const [agent, other] = [createFakeAgent(), createFakeAgent()]
    jobs.start(spec(work(), agent))
    jobs.start(spec(work()))
    expect(jobs.list(other).map(({ id }) => id)).toEqual(['bash-2'])
    await expect(jobs.output(other, 'bash-1', { signal })).rejects.toMatchObject({ code: 'FOREIGN_JOB' })
    expect(() => jobs.kill(other, 'bash-1')).toThrow(expect.objectContaining({ code: 'FOREIGN_JOB' }) as Error)
    expect((await jobs.output(other, 'bash-2', { signal })).job.status).toBe('running')
    await expect(jobs.output(agent, 'bash-9', { signal })).rejects.toMatchObject({ code: 'UNKNOWN_JOB' })
  })
  it('whose promise rejects all the same is failed', async () => {
    const { jobs } = await setUp()
    jobs.start(spec({ work: { cancel: () => {}, done: Promise.reject(new Error('lost')) } }))
    await settle()
    expect(jobs.all()[0]).toMatchObject({ status: 'failed', detail: 'lost' })
  })
})

it('keeps of ended jobs only as much output as memory has room for, the oldest that is not pinned goes first', async () => {
  const silent = () => undefined
  const jobs = createJobs({
    clock: createManualClock(), logger: createRecordingLogger(), maxEndedBytes: 250,
    onStart: silent, onProgram: silent, onEnd: silent, onRestart: silent, onWaits: silent, onMatch: silent,
  })
  for (let count = 1; count <= 4; count += 1) {
    jobs.start({ kind: 'bash', label: 'x', run: () => ({ cancel: silent, done: Promise.resolve({ status: 'completed', output: 'x'.repeat(100) }) }) })
    if (count === 1) jobs.pin('person', 'bash-1', true)
    await settle()
  }
  expect(jobs.all().map(({ id }) => id)).toEqual(['bash-1', 'bash-4'])
})

describe('reading output', () => {
  it('consumes what a stream gave', async () => {
    const { jobs } = await setUp()
    const deltas = ['a', 'b']
    jobs.start(spec(work({ readOutput: () => deltas.shift() ?? '' })))
    const read = async () => (await jobs.output(undefined, 'bash-1', { signal })).text
    expect([await read(), await read(), await read()]).toEqual(['a', 'b', ''])
  })
  it('gives a final output again and again, and nothing before', async () => {
    const { jobs } = await setUp()
    const made = work()
    jobs.start(spec(made))
    const read = async () => (await jobs.output(undefined, 'bash-1', { signal })).text
    const before = await read()
    made.end({ status: 'completed', output: 'answer' })
    await settle()
    expect([before, await read(), await read()]).toEqual(['', 'answer', 'answer'])
  })
  it('waits until the job ends', async () => {
    const { jobs, clock } = await setUp()
    const made = work()
    jobs.start(spec(made))
    const waited = jobs.output(undefined, 'bash-1', { waitMs: 1000, signal })
    made.end({ status: 'completed' })
    expect([(await waited).job.status, clock.waiting]).toEqual(['completed', 0])
  })
  it('waits until its time is up, which is no failure', async () => {
    const { jobs, clock } = await setUp()
    jobs.start(spec(work()))
    const waited = jobs.output(undefined, 'bash-1', { waitMs: 1000, signal })
    clock.advance(1000)
    expect((await waited).job.status).toBe('running')
  })
  it('is left by a cancelled wait while the job goes on', async () => {
    const { jobs } = await setUp()
    jobs.start(spec(work()))
    const stop = new AbortController()
    const waited = jobs.output(undefined, 'bash-1', { waitMs: 1000, signal: stop.signal })
    stop.abort()
    await expect(waited).rejects.toMatchObject({ code: 'ABORTED' })
    expect(jobs.all()[0]?.status).toBe('running')
  })
})

describe('killing', () => {
  it('asks once, returns at once with stopping, and finds it finished later', async () => {
    const { jobs } = await setUp()
    let end: (() => void) | undefined
    const { promise: done, resolve } = Promise.withResolvers<JobEnd>()
    const cancels: unknown[] = []
    jobs.start(spec({ work: { done, cancel: (reason) => (cancels.push(reason), (end = () => resolve({ status: 'killed', detail: 'signal: SIGTERM' }))) } }))
    expect(jobs.kill(undefined, 'bash-1', 'enough')).toMatchObject({ outcome: 'cancellation-requested', job: { status: 'stopping' } })
    expect(jobs.kill(undefined, 'bash-1')).toMatchObject({ outcome: 'cancellation-requested' })
    end?.()
    await settle()
    expect(jobs.kill(undefined, 'bash-1')).toMatchObject({ outcome: 'already-finished', job: { status: 'killed' } })
    expect(cancels).toEqual(['enough'])
  })
  it('reports work that cannot be stopped, which goes on', async () => {
    const { jobs } = await setUp()
    jobs.start(spec(work({ cancel: () => { throw new Error('stuck') } })))
    expect(() => jobs.kill(undefined, 'bash-1')).toThrow(expect.objectContaining({ code: 'CANCEL_FAILED', message: expect.stringContaining('stuck') as string }) as Error)
    expect(jobs.all()[0]?.status).toBe('running')
  })
})

describe('the notice of an end', () => {
  const ended = async (prepare: (made: ReturnType<typeof work>, jobs: Awaited<ReturnType<typeof setUp>>['jobs'], agent: FakeAgent) => void | Promise<void>, status: 'idle' | 'running' = 'running') => {
    const { jobs } = await setUp()
    const agent = createFakeAgent()
    agent.status = status
    const made = work()
    jobs.start(spec(made, agent))
    await prepare(made, jobs, agent)
    made.end({ status: 'completed', detail: 'exit code: 0' })
    await settle()
    return noticeTexts(agent)
  }
  const text = 'Background job bash-1 [bash] ended (completed, exit code: 0): npm run dev. Fetch its output with job_output, job_id "bash-1".'

  it('goes into the next step of a busy owner', async () => expect(await ended(() => {})).toEqual([`inject: ${text}`]))
  it('starts a turn of an idle owner', async () => expect(await ended(() => {}, 'idle')).toEqual([`followup: ${text}`]))
  it('is not sent after a kill', async () => expect(await ended((_made, jobs, agent) => void jobs.kill(agent, 'bash-1'))).toEqual([]))
  it('is not sent to who waits for the end', async () =>
    expect(await ended((_made, jobs, agent) => void jobs.output(agent, 'bash-1', { waitMs: 1000, signal }))).toEqual([]))
  it('is sent although a running job was read', async () =>
    expect(await ended(async (_made, jobs, agent) => void (await jobs.output(agent, 'bash-1', { signal })))).toEqual([`inject: ${text}`]))
  it('is not sent to an owner that is gone', async () => expect(await ended((_made, _jobs, agent) => void (agent.isDisposed = true))).toEqual([]))
  it('wakes three times and is then quiet, until the person speaks', async () => {
    const { jobs, kernel } = await setUp()
    const agent = createFakeAgent()
    agent.status = 'idle'
    const endOne = async () => {
      const made = work()
      jobs.start(spec(made, agent))
      made.end({ status: 'completed' })
      await settle()
    }
    for (let count = 0; count < 4; count += 1) await endOne()
    kernel.dispatch.emit('agent/inbox/inserted', null, [{ agent, message: { id: 'u', role: 'user', content: [], source: { kind: 'user' } } }])
    await endOne()
    expect(agent.received.map(({ verb }) => verb)).toEqual(['followup', 'followup', 'followup', 'inject', 'followup'])
  })
  it('never wakes where the person wants none of it', async () => {
    const { jobs } = await setUp({ maxConsecutiveWakes: () => 0 })
    const agent = createFakeAgent()
    agent.status = 'idle'
    const made = work()
    jobs.start(spec(made, agent))
    made.end({ status: 'completed' })
    await settle()
    expect(agent.received.map(({ verb }) => verb)).toEqual(['inject'])
  })
  it('keeps the id and the instruction under a small cap', () => {
    const job = { id: 'bash-1', kind: 'bash', label: 'x'.repeat(500), status: 'completed', startedAt: 0 } as const
    const [block] = endNotice('m', job, { limitBytes: 150 }).content
    expect(block?.type === 'text' && block.text.length).toBeLessThanOrEqual(150)
    expect(block).toMatchObject({ text: expect.stringMatching(/^Background job bash-1 .*: x+\. Fetch its output with job_output, job_id "bash-1"\.$/) as string })
    expect(endNotice('m', job, { limitBytes: 10 }).content[0]).toMatchObject({ text: 'Background job bash-1 [bash] ended (completed). Fetch its output with job_output, job_id "bash-1".' })
  })
  it('has a summary of at most 120 characters', () => {
    const { source } = endNotice('m', { id: 'bash-1', kind: 'bash', label: 'x', status: 'failed', detail: 'd'.repeat(300), startedAt: 0 })
    expect(source.kind === 'plugin' && source.summary?.length).toBe(120)
  })
})

describe('an owner that goes', () => {
  it('takes its jobs along, awaited, without a notice or an end in the log', async () => {
    const { jobs, kernel } = await setUp()
    const [agent, other] = [createFakeAgent(), createFakeAgent()]
    const mine = work()
    jobs.start(spec(mine, agent))
    jobs.start(spec(work(), other))
    await kernel.dispatch.parallel('agent/disposing', null, [agent])
    expect(mine.cancels).toEqual(['its session ended'])
    expect(jobs.all().map(({ id }) => id)).toEqual(['bash-2'])
    expect([agent.received, agent.log.map(({ type }) => type)]).toEqual([[], ['job/started']])
  })
  it('is not held up by work that cannot be stopped', async () => {
    const { jobs, kernel } = await setUp()
    const agent = createFakeAgent()
    jobs.start(spec({ work: { done: new Promise(() => {}), cancel: () => { throw new Error('stuck') } } }, agent))
    await kernel.dispatch.parallel('agent/disposing', null, [agent])
    expect(jobs.all()).toEqual([])
  })
  it('cannot start another', async () => {
    const { jobs } = await setUp()
    const agent = createFakeAgent()
    agent.isDisposed = true
    expect(() => jobs.start(spec(work(), agent))).toThrow(expect.objectContaining({ code: 'OWNER_NOT_LIVE' }) as Error)
  })
})

it('stops everything with its plugin and waits for it', async () => {
  const { jobs, fiber, kernel } = await setUp()
  const made = work()
  jobs.start(spec(made))
  await fiber.dispose()
  expect(made.cancels).toEqual(['its session ended'])
  expect(() => jobs.start(spec(work()))).toThrow(expect.objectContaining({ code: 'DISPOSING' }) as Error)
  expect(kernel.root.get('jobs')).toBeUndefined()
})

describe('a resumed session', () => {
  const started = (id: string): EventDraft => ({ type: 'job/started', data: { id, kind: 'bash', label: `run ${id}` }, ignorable: true })
  it('is told which jobs did not outlive the window, once, and their ids are not used again', async () => {
    const { jobs, kernel } = await setUp()
    const agent = createFakeAgent({ events: [started('bash-1'), { type: 'job/ended', data: { id: 'bash-1', status: 'completed' }, ignorable: true }, started('bash-4')] })
    kernel.dispatch.emit('agent/session-start', null, [agent, 'resume'])
    expect(agent.received).toEqual([{ verb: 'inject', message: orphanNotice(agent.received[0]!.message.id, [{ id: 'bash-4', label: 'run bash-4', fate: 'gone' }]) }])
    expect(noticeTexts(agent)[0]).toContain('- bash-4: run bash-4')
    expect(agent.log.at(-1)).toEqual({ type: 'job/ended', data: { id: 'bash-4', status: 'killed', detail: 'the window closed' }, ignorable: true })
    kernel.dispatch.emit('agent/session-start', null, [agent, 'resume'])
    expect(agent.received).toHaveLength(1)
    expect(jobs.start(spec(work(), agent)).id).toBe('bash-5')
  })
  it('with nothing left over hears nothing', async () => {
    const { kernel } = await setUp()
    const agent = createFakeAgent()
    kernel.dispatch.emit('agent/session-start', null, [agent, 'resume'])
    expect([agent.received, agent.log]).toEqual([[], []])
  })
})
