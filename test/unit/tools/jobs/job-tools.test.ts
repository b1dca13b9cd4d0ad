import { describe, expect, it } from 'vitest'
import { jobsPlugin } from '../../../../extension/features/jobs/plugin.ts'
import type { JobEnd } from '../../../../extension/features/jobs/service.ts'
import { jobTools } from '../../../../extension/tools/jobs/plugin.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createFakeMachine } from '../../../support/fake-machine.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createToolBench, outcomeOf, textOf } from '../../../support/tool-bench.ts'

const bench = async () => {
  const made = createToolBench()
  const clock = createManualClock(1000)
  await made.mount(jobsPlugin({ clock, logger: made.logger, machine: createFakeMachine(), processes: { endLeftover: async () => 'gone' } }))
  const fiber = await made.mount(jobTools)
  const deltas: string[] = []
  const { promise: done, resolve: end } = Promise.withResolvers<JobEnd>()
  const start = () =>
    made.ctx.jobs.start({
      kind: 'bash',
      label: 'npm run dev',
      owner: made.agent,
      run: () => ({ done, cancel: () => end({ status: 'killed', detail: 'signal: SIGTERM' }), readOutput: () => deltas.splice(0).join('') }),
    })
  return { ...made, clock, fiber, deltas, end, start }
}
const running = { id: 'bash-1', kind: 'bash', label: 'npm run dev', status: 'running', startedAt: 1000 }

describe('job_list', () => {
  it('says that there are none', async () => {
    const result = await (await bench()).run('job_list', {})
    expect([outcomeOf(result), textOf(result)]).toEqual([[], 'There are no background jobs.'])
  })
  it('lists a job a line', async () => {
    const { run, start } = await bench()
    start()
    const result = await run('job_list', {})
    expect([outcomeOf(result), textOf(result)]).toEqual([[running], 'bash-1 [bash] running — npm run dev'])
  })
  it('shows of a long script its beginning, in one line', async () => {
    const { ctx, agent, run } = await bench()
    ctx.jobs.start({ kind: 'bash', label: `cat <<EOF\n${'x\n'.repeat(1_000)}EOF`, owner: agent, run: () => ({ done: new Promise(() => {}), cancel: () => {} }) })
    expect(textOf(await run('job_list', {}))).toMatch(/^bash-1 \[bash\] running — cat <<EOF (x ){90,100}x?…$/)
  })
})

describe('job_output', () => {
  it('gives new output once, with the state', async () => {
    const { run, start, deltas } = await bench()
    start()
    deltas.push('\u001b[32mready\u001b[0m\n')
    const first = await run('job_output', { job_id: 'bash-1' })
    expect(outcomeOf(first)).toEqual({ text: '\u001b[32mready\u001b[0m\n', job: running })
    expect(textOf(first)).toBe('ready\n[status: running]')
    expect(textOf(await run('job_output', { job_id: 'bash-1' }))).toBe('(no new output)\n[status: running]')
  })
  it('returns a running job when the wait is over', async () => {
    const { run, start, clock } = await bench()
    start()
    const waited = run('job_output', { job_id: 'bash-1', wait: true })
    await expect.poll(() => clock.waiting).toBe(1)
    clock.advance(30_000)
    expect(textOf(await waited)).toBe('(no new output)\n[status: running]')
  })
  it('waits at most 600 000 ms', async () => {
    const { run, start, clock } = await bench()
    start()
    const waited = run('job_output', { job_id: 'bash-1', wait: true, timeout_ms: 1e9 })
    await expect.poll(() => clock.waiting).toBe(1)
    clock.advance(600_000)
    expect((await waited).isError).toBe(false)
  })
  it('returns at the end with its detail', async () => {
    const { run, start, end, clock } = await bench()
    start()
    const waited = run('job_output', { job_id: 'bash-1', wait: true })
    await expect.poll(() => clock.waiting).toBe(1)
    end({ status: 'completed', detail: 'exit code: 2' })
    expect(textOf(await waited)).toBe('(no new output)\n[status: completed, exit code: 2]')
  })
  it('leaves the job alone when the call is stopped', async () => {
    const { run, start, clock, ctx } = await bench()
    start()
    const stop = new AbortController()
    const waited = run('job_output', { job_id: 'bash-1', wait: true }, { signal: stop.signal })
    await expect.poll(() => clock.waiting).toBe(1)
    stop.abort()
    expect(outcomeOf(await waited)).toMatchObject({ code: 'ABORTED' })
    expect(ctx.jobs.all()[0]?.status).toBe('running')
  })

  const refused: readonly [string, object, string][] = [
    ['no job', {}, 'INVALID_ARGS'],
    ['an empty id', { job_id: '' }, 'INVALID_ARGS'],
    ['an unknown job', { job_id: 'bash-7' }, 'UNKNOWN_JOB'],
    ['a wait of nothing', { job_id: 'bash-1', wait: true, timeout_ms: 0 }, 'INVALID_ARGS'],
  ]
  it.each(refused)('refuses %s', async (_name, args, code) => {
    const { run, start } = await bench()
    start()
    expect(outcomeOf(await run('job_output', args))).toMatchObject({ code })
  })
  it('does not mind a bad time when it does not wait', async () => {
    const { run, start } = await bench()
    start()
    expect((await run('job_output', { job_id: 'bash-1', timeout_ms: -1 })).isError).toBe(false)
  })
  it('refuses the job of another session', async () => {
    const { run, start } = await bench()
    start()
    expect(outcomeOf(await run('job_output', { job_id: 'bash-1' }, { agent: createFakeAgent() }))).toMatchObject({ code: 'FOREIGN_JOB' })
  })
})

describe('job_kill', () => {
  it('asks the job to stop and later finds it finished', async () => {
    const { run, start } = await bench()
    start()
    const first = await run('job_kill', { job_id: 'bash-1', reason: 'done' })
    expect([outcomeOf(first), textOf(first)]).toEqual([{ outcome: 'cancellation-requested', job: { ...running, status: 'stopping' } }, 'Job bash-1 is being stopped.'])
    await expect.poll(async () => textOf(await run('job_kill', { job_id: 'bash-1' }))).toBe('Job bash-1 had ended already (killed).')
  })
  it('refuses an unknown job', async () => expect(outcomeOf(await (await bench()).run('job_kill', { job_id: 'x' }))).toMatchObject({ code: 'UNKNOWN_JOB' }))
})

describe('the cards', () => {
  const cards: readonly [string, unknown, unknown][] = [
    ['job_list', {}, { card: 'generic', title: 'List background jobs', doneTitle: 'Listed background jobs', kind: 'read' }],
    ['job_output', { job_id: 'bash-1' }, { card: 'generic', title: 'Read output of bash-1', kind: 'read' }],
    ['job_output', { job_id: 'bash-1', wait: true }, { card: 'generic', title: 'Wait for bash-1', doneTitle: 'Waited for bash-1', kind: 'read' }],
    ['job_kill', { job_id: 'bash-1' }, { card: 'generic', title: 'Stop bash-1', doneTitle: 'Stopped bash-1', kind: 'execute' }],
    ['job_kill', { job_id: 1 }, undefined],
  ]
  it.each(cards)('%s of %j', async (name, args, view) => expect((await bench()).ctx.tools.get(name)?.presentCall?.(args as never)).toEqual(view))
})

it('all go with their plugin, prompt section too', async () => {
  const { ctx, fiber, promptSections } = await bench()
  expect(promptSections.map(({ order }) => order)).toEqual([106])
  await fiber.dispose()
  expect(['job_list', 'job_output', 'job_kill'].map((name) => ctx.tools.get(name))).toEqual([undefined, undefined, undefined])
})
