import { describe, expect, it } from 'vitest'
import { createJobs, MAX_MATCHES_TOLD } from '../../../../extension/features/jobs/jobs.ts'
import type { JobEnd, JobNews } from '../../../../extension/features/jobs/service.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

/** A job whose output a test writes, and what its owner is told. */
function setUp(wakeOn?: string) {
  const told: string[] = []
  const { promise: done, resolve: end } = Promise.withResolvers<JobEnd>()
  let news: JobNews | undefined
  const jobs = createJobs({
    clock: createManualClock(),
    logger: createRecordingLogger(),
    onStart() {},
    onProgram() {},
    onEnd() {},
    onRestart() {},
    onWaits() {},
    onMatch: (_owner, job, line, isLast) => void told.push(`${job.id}: ${line}${isLast ? ' (last)' : ''}`),
  })
  const run = (_id: string, of: JobNews) => {
    news = of
    return { done, cancel() {} }
  }
  const { id } = jobs.start({ kind: 'bash', label: 'x', run, ...(wakeOn !== undefined && { wakeOn }) })
  const say = (...lines: readonly string[]) => news?.output(lines.map((line) => `${line}\n`).join(''))
  return { jobs, id, say, told, end }
}

describe('what wakes the agent', () => {
  it('can be said of a job that runs, takes the place of what was said before, and can be taken back', () => {
    const { jobs, id, say, told } = setUp('early')
    say('early', 'ready')
    expect(jobs.wakeWhen('person', id, 'ready in \\d+').wakesAt).toBe('ready in \\d+')
    say('early', 'ready in 312 ms')
    expect(jobs.wakeWhen('person', id, null)).not.toHaveProperty('wakesAt')
    say('early', 'ready in 9 ms')
    expect(told).toEqual([`${id}: early`, `${id}: ready in 312 ms`])
  })

  it('counts anew with a new pattern', () => {
    const { jobs, id, say, told } = setUp('one')
    say(...Array.from({ length: MAX_MATCHES_TOLD + 3 }, () => 'one'))
    expect(told).toHaveLength(MAX_MATCHES_TOLD)
    jobs.wakeWhen('person', id, 'two')
    say('two')
    expect(told.at(-1)).toBe(`${id}: two`)
  })

  it.each([
    ['of a job that is not there', 'bash-9', 'x', 'UNKNOWN_JOB'],
    ['with a pattern that is none', 'bash-1', '(', 'BAD_PATTERN'],
  ])('is refused %s', (_name, id, pattern, code) => expect(() => setUp().jobs.wakeWhen('person', id, pattern)).toThrow(expect.objectContaining({ code }) as Error))

  it('tells nothing of a job that has ended; its exit code is a fact of its own', async () => {
    const { jobs, id, end } = setUp('x')
    end({ status: 'completed', detail: 'exit code: 3', exitCode: 3 })
    await new Promise((resolve) => setImmediate(resolve))
    expect(jobs.all()).toEqual([expect.objectContaining({ id, status: 'completed', detail: 'exit code: 3', exitCode: 3 })])
    expect(jobs.all()[0]).not.toHaveProperty('wakesAt')
  })
})
