import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import { createFakeProblemFeed, problemAt, type FakeProblemFeed } from '../../support/fake-problem-feed.ts'
import { textOf } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

let application: WholeApplication
afterEach(() => application.dispose())

/** The composed application changes a file that has an old error; the services then find a new one beside it. */
async function change(options: { readonly feed?: FakeProblemFeed; readonly waitMs?: number }): Promise<ToolResult> {
  const { feed } = options
  application = await wholeApplication({
    settings: { 'permissions.defaultPreset': 'danger-full-access', ...(options.waitMs !== undefined && { 'tools.newProblems.waitMs': options.waitMs }) },
    ...(feed && { alter: (world) => ({ ...world, problemFeed: feed }) }),
  })
  const path = join(application.folder, 'a.ts')
  await writeFile(path, 'one\n')
  feed?.setOpen(path, 1)
  feed?.publish(path, [problemAt(1, 'old')], 1)
  const agent = await application.ctx.agents.create({ cwd: application.folder, preset: 'standard' })
  agent.session.append({ type: 'turn/start', data: { turn: 1 } })
  const run = (callId: string, name: string, args: object) => application.ctx.tools.execute({ callId, name, arguments: args, agent, signal: new AbortController().signal })
  await run('read', 'read', { file_path: 'a.ts' })
  const call = run('edit', 'edit', { file_path: 'a.ts', old_string: 'one', new_string: 'two' })
  if (feed && options.waitMs !== 0) {
    await vi.waitFor(() => expect(feed.opened).toHaveLength(2))
    feed.publish(path, [problemAt(1, 'old'), problemAt(1, 'new')], 2)
  }
  return await call
}

it('a change is followed by the problems it brought, never by those that were there', async () => {
  const text = textOf(await change({ feed: createFakeProblemFeed() }))
  expect([/error: new/.test(text), /error: old/.test(text)]).toEqual([true, false])
})
it('a setting of 0 turns the wait off', async () => {
  const feed = createFakeProblemFeed()
  expect([textOf(await change({ feed, waitMs: 0 })), feed.opened]).toEqual(['Edited a.ts at line 1. It now reads:\n1: two', []])
})
it('without an editor nothing is waited for', async () => expect(textOf(await change({}))).toBe('Edited a.ts at line 1. It now reads:\n1: two'))
