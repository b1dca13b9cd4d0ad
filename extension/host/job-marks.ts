import type { MarkedProblem, ProblemMarks } from '../capabilities/problem-marks.ts'
import type { Job, JobProblem, Jobs } from '../features/jobs/service.ts'

interface Parts {
  readonly jobs: Pick<Jobs, 'all' | 'problems'>
  readonly problemMarks: ProblemMarks
  /** Whether the person wants them in the editor. */
  readonly isOn: () => boolean
}

/** To the end of a line, whatever its length; the editor cuts it there. */
const LINE_END = 10_000

/** The problems that jobs name in their output, as marks of the editor: those of a job that was killed or is gone go with it. */
export class JobMarks {
  readonly #parts: Parts
  readonly #marked = new Set<string>()

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** The problems of this job are others now, or the person changed their mind. */
  refresh(id: string): void {
    const { jobs, problemMarks, isOn } = this.#parts
    const job = jobs.all().find((each) => each.id === id)
    const problems = job === undefined || job.cwd === undefined || job.status === 'killed' || !isOn() ? [] : jobs.problems(id).map((problem) => markOf(problem, job.cwd ?? ''))
    if (problems.length > 0) {
      this.#marked.add(id)
      problemMarks.set(id, problems)
    } else if (this.#marked.delete(id)) problemMarks.remove(id)
  }

  /** After jobs came, went or ended. */
  note(jobs: readonly Job[]): void {
    const kept = new Set(jobs.filter(({ status }) => status !== 'killed').map(({ id }) => id))
    for (const id of [...this.#marked]) if (!kept.has(id)) this.refresh(id)
  }

  dispose(): void {
    for (const id of this.#marked) this.#parts.problemMarks.remove(id)
    this.#marked.clear()
  }
}

/** A column alone marks the word there, no column the line. */
function markOf({ path, line, column, severity, message, code, source }: JobProblem, folder: string): MarkedProblem {
  const start = { line: line - 1, character: (column ?? 1) - 1 }
  return {
    path,
    folder,
    range: { start, end: column === undefined ? { line: line - 1, character: LINE_END } : start },
    severity: severity === 'info' ? 'information' : severity,
    message,
    source,
    ...(code !== undefined && { code }),
  }
}
