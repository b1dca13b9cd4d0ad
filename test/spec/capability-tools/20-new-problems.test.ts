import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import { createFakeProblemFeed, problemAt, type FakeProblemFeed } from '../../support/fake-problem-feed.ts'
import { textOf } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

let application: WholeApplication
afterEach(() => application.dispose())

/** The composed application changes a file that has an old error; the services then find a new one beside it. */
async function change(options: { readonly feed?: FakeProblemFeed; readonly waitMs?: number; readonly before?: (at: (name: string) => string) => void; readonly after?: (at: (name: string) => string) => void }): Promise<ToolResult> {
  const { feed } = options
  application = await wholeApplication({
    settings: { 'permissions.defaultPreset': 'danger-full-access', ...(options.waitMs !== undefined && { 'tools.newProblems.waitMs': options.waitMs }) },
    ...(feed && { alter: (world) => ({ ...world, problemFeed: feed }) }),
  })
  const path = join(application.folder, 'a.ts')
  await writeFile(path, 'one\n')
  feed?.setOpen(path, 1)
  feed?.publish(path, [problemAt(1, 'old')], 1)
  options.before?.((name) => join(application.folder, name))
  const agent = await application.ctx.agents.create({ cwd: application.folder, preset: 'standard' })
  agent.session.append({ type: 'turn/start', data: { turn: 1 } })
  const run = (callId: string, name: string, args: object) => application.ctx.tools.execute({ callId, name, arguments: args, agent, signal: new AbortController().signal })
  await run('read', 'read', { file_path: 'a.ts' })
  const call = run('edit', 'edit', { file_path: 'a.ts', old_string: 'one', new_string: 'two' })
  if (feed && options.waitMs !== 0) {
    await vi.waitFor(() => expect(feed.opened).toHaveLength(2), 50_000)
    feed.publish(path, [problemAt(1, 'old'), problemAt(1, 'new')], 2)
    options.after?.((name) => join(application.folder, name))
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

describe('files that use what was changed', () => {
  it('are told of too, with what is new in them, where what was wrong before is known', async () => {
    const feed = createFakeProblemFeed()
    const text = textOf(
      await change({
        feed,
        before(at) {
          feed.publish(at('clean.ts'), [], 1)
          feed.publish(at('worse.ts'), [problemAt(3, 'was there')], 1)
        },
        after(at) {
          feed.publish(at('clean.ts'), [problemAt(2, 'no such export')], 1)
          feed.publish(at('worse.ts'), [problemAt(3, 'was there'), problemAt(4, 'wrong type')], 1)
          feed.publish(at('opened-just-now.ts'), [problemAt(5, 'older than the change')], 1)
        },
      }),
    )
    expect(text.split('\n').slice(2)).toEqual([
      'The editor now finds 3 errors in the files, which the text before this change did not have:',
      '  a.ts line 1: error: new',
      '  clean.ts line 2: error: no such export',
      '  worse.ts line 4: error: wrong type',
    ])
  })
  it('are capped', async () => {
    const feed = createFakeProblemFeed()
    const names = Array.from({ length: 30 }, (_, index) => `user-${index}.ts`)
    const result = await change({
      feed,
      before: (at) => names.forEach((name) => feed.publish(at(name), [], 1)),
      after: (at) => names.forEach((name) => feed.publish(at(name), [problemAt(1, 'broken')], 1)),
    })
    // Those of 20 files and of the changed one; 10 are shown.
    expect([/finds 21 errors/.test(textOf(result)), textOf(result).split('\n').at(-1)]).toEqual([true, '  and 11 more'])
  })
})
