import type { Localization } from '../capabilities/localization.ts'
import type { ReviewOutcome } from '../features/checkpoints/service.ts'

/** What was undone of files that hold nothing which stays. */
export const wholeOf = (paths: ReviewOutcome['paths'], conflicts: ReviewOutcome['conflicts']): readonly string[] => paths.filter((path) => !conflicts.includes(path))

/** What stays as it is, and why: a sentence for what the person changed too, and one for what could not be changed. `nameOf`: how a file is called. */
export function stayWords({ conflicts, problems }: Pick<ReviewOutcome, 'conflicts' | 'problems'>, { t }: Localization, nameOf: (path: string) => string): readonly string[] {
  const [hard, first] = [conflicts[0], problems[0]]
  const ofPerson = hard === undefined ? [] : [conflicts.length === 1 ? t('You changed the same lines of {file} since. They stay as they are.', { file: nameOf(hard) }) : t('You changed the same lines in {count} files since. They stay as they are.', { count: conflicts.length })]
  const ofDisk = first === undefined ? [] : [problems.length === 1 ? t('{file} stays as it is. {problem}', { file: nameOf(first.path), problem: first.problem }) : t('{count} files stay as they are. {problem}', { count: problems.length, problem: first.problem })]
  return [...ofPerson, ...ofDisk]
}
