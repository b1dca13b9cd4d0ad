import { expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { UserSource } from '../../../extension/core/log/message.ts'
import type { ToldFile } from '../../../extension/features/instructions/service.ts'
import type {} from '../../../extension/features/skills/service.ts'
import { contextTitle } from '../../../extension/host/describe-context.ts'

const told = (outcome: ToldFile['outcome'], ...paths: readonly string[]) => paths.map((path): ToldFile => ({ path, digest: 'd', outcome }))

it.each<[string, readonly ToldFile[], string]>([
  ['names the files', told('whole', '/w/AGENTS.md', '/w/a/CLAUDE.md'), 'Instructions from AGENTS.md, CLAUDE.md'],
  ['names one name once', told('whole', '/w/AGENTS.md', 'C:\\w\\a\\AGENTS.md'), 'Instructions from AGENTS.md'],
  ['names at most four', told('whole', '/1', '/2', '/3', '/4', '/5'), 'Instructions from 1, 2, 3, 4…'],
  ['says that something is cut', [...told('dropped', '/w/AGENTS.md'), ...told('cut', '/w/CLAUDE.md')], 'Instructions from CLAUDE.md (not all fits)'],
  ['says what is gone', told('removed', '/w/AGENTS.md'), 'Instructions that hold no longer: AGENTS.md'],
])('the row of instructions %s', (_name, files, title) => expect(contextTitle({ kind: 'agent-instructions', files }, { t: fillIn })).toBe(title))

it.each<[string, UserSource, string]>([
  ['a task of the agent above', { kind: 'coordinator', form: 'relay', senderSessionId: 's' }, 'Task from the agent that started this one'],
  ['a report', { kind: 'subagent-report', form: 'relay', senderSessionId: 's' }, 'Report of an agent'],
  ['an agent at rest', { kind: 'subagent-settled', form: 'notice', summary: '“mend the tests” has finished', senderSessionId: 's' }, '“mend the tests” has finished'],
  ['a skill that was called', { kind: 'skill-invocation', name: 'review', provider: 'user' }, 'Skill review'],
  ['a list of one skill', { kind: 'skill-catalog', digest: 'd', count: 1, omittedCount: 0 }, 'Told the model about 1 skill'],
  ['the list of skills', { kind: 'skill-catalog', digest: 'd', count: 3, omittedCount: 0 }, 'Told the model about 3 skills'],
  ['an empty list of skills', { kind: 'skill-catalog', digest: 'd', count: 0, omittedCount: 0 }, 'Told the model that there are no skills any more'],
])('the row of %s', (_name, source, title) => expect(contextTitle(source, { t: fillIn })).toBe(title))
