import { expect, it } from 'vitest'
import type { FileSystem } from '../../../extension/capabilities/file-system.ts'
import type { ProcessRunner } from '../../../extension/capabilities/process.ts'
import type { Search } from '../../../extension/capabilities/search.ts'
import type { Jobs } from '../../../extension/features/jobs/service.ts'
import type { Observations } from '../../../extension/features/observation/service.ts'
import type { Questions } from '../../../extension/features/questions/service.ts'
import type { Skills } from '../../../extension/features/skills/service.ts'
import { fileTools } from '../../../extension/tools/files/plugin.ts'
import { jobTools } from '../../../extension/tools/jobs/plugin.ts'
import { questionTools } from '../../../extension/tools/questions/plugin.ts'
import { searchTools } from '../../../extension/tools/search/plugin.ts'
import { shellTools } from '../../../extension/tools/shell/plugin.ts'
import { skillTools } from '../../../extension/tools/skills/plugin.ts'
import { todoTools } from '../../../extension/tools/todo/plugin.ts'
import type { Permissions } from '../../../extension/core/policy/permissions.ts'
import type { Web } from '../../../extension/features/web/service.ts'
import { webTools } from '../../../extension/tools/web/plugin.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { noEditor } from '../../support/no-editor.ts'
import { createToolBench } from '../../support/tool-bench.ts'
import { plainEnvironment } from '../../support/plain-environment.ts'

const bench = async () => {
  const made = createToolBench()
  const [files, blobs, clock] = [{} as FileSystem, createMemoryBlobStore(), createManualClock()]
  made.ctx.provide('observations', {} as Observations)
  made.ctx.provide('jobs', {} as Jobs)
  made.ctx.provide('questions', {} as Questions)
  made.ctx.provide('skills', {} as Skills)
  await made.mount(fileTools({ ...noEditor, files, blobs }))
  await made.mount(searchTools({ files, blobs, search: {} as Search, workspace: { folders: () => [] }, logger: made.logger }))
  await made.mount(shellTools({ files, blobs, clock, processes: {} as ProcessRunner, machine: createFakeMachine(), shellPath: () => null, timeoutMs: () => 1, offered: () => 'auto', environment: plainEnvironment }))
  await made.mount(jobTools)
  await made.mount(todoTools({ allowParallelInProgress: true }))
  await made.mount(questionTools)
  const web: Partial<Web> = { searchers: () => [{ name: 'brave', host: 'b' }], isFetchOn: () => true, timeoutMs: () => 60_000, onDidChange: () => () => undefined }
  made.ctx.provide('web', web as Web)
  made.ctx.provide('permissions', { declare: () => () => undefined } as Partial<Permissions> as Permissions)
  await made.mount(webTools)
  await made.mount(skillTools)
  return made
}

it('declares every tool with exactly the arguments of the catalogue, and our optional ones', async () => {
  const { ctx } = await bench()
  const shape = Object.fromEntries(
    ctx.tools.schemas().map(({ name, parameters }) => {
      const { properties, required = [] } = parameters as { properties: object; required?: readonly string[] }
      return [name, Object.keys(properties).map((key) => (required.includes(key) ? key : `${key}?`))]
    }),
  )
  expect(shape).toEqual({
    ask_user_question: ['questions'],
    bash: ['command', 'description', 'timeoutMs?', 'workdir?', 'run_in_background?', 'wake_on?', 'interactive?'],
    edit: ['file_path', 'old_string', 'new_string', 'replace_all?', 'near_line?'],
    glob: ['pattern', 'path?', 'include_ignored?'],
    grep: ['pattern', 'path?', 'include?', 'ignore_case?', 'context?', 'multiline?', 'type?', 'include_ignored?', 'output_mode?', 'head_limit?'],
    job_kill: ['job_id', 'reason?'],
    job_list: [],
    job_output: ['job_id', 'wait?', 'input?', 'timeout_ms?'],
    read: ['file_path', 'offset?', 'limit?', 'ranges?', 'symbol?'],
    read_image: ['file_path'],
    str_replace_editor: ['command', 'path', 'file_text?', 'old_str?', 'new_str?', 'insert_line?', 'view_range?'],
    skill: ['name'],
    todo_write: ['todos'],
    web_fetch: ['url', 'offset?', 'limit?', 'whole_page?'],
    web_search: ['queries'],
    write: ['file_path', 'content'],
  })
})

it('declares them in at most 7 700 bytes, and adds at most 1 200 bytes to the prompt', async () => {
  const { ctx, promptSections } = await bench()
  const [declarations, prompt] = [JSON.stringify(ctx.tools.schemas()).length, promptSections.map(({ text }) => text).join('\n').length]
  expect(declarations).toBeLessThanOrEqual(7_700)
  expect(prompt).toBeLessThanOrEqual(1_200)
})
