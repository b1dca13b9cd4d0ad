import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { ApprovalAnswer } from '../../extension/core/policy/approval.ts'
import type { UserMessage } from '../../extension/core/log/message.ts'
import { wholeApplication, type WholeApplication } from '../support/whole-application.ts'

let application: WholeApplication | undefined
afterEach(() => application?.dispose())

const start: UserMessage = { id: 'u1', role: 'user', content: [{ type: 'text', text: 'start' }], source: { kind: 'user' } }

/** Run the tour through the whole application; `answer` is the person. */
async function tour(answer: ApprovalAnswer, files: Readonly<Record<string, string>> = { 'README.md': '# Harbour\n\nA ship.\n', 'src/ship.ts': 'export const Harbour = 1\n' }) {
  application = await wholeApplication({ settings: { 'model.provider': 'scripted-tour', 'model.name': 'guided-tour' } })
  const { ctx, folder } = application
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const { agents, approvals } = ctx
  const effects: string[] = []
  approvals.attach()
  approvals.onDidChange(() => {
    for (const { id, details } of approvals.pending()) {
      effects.push(details?.effect ?? '')
      approvals.answer(id, answer)
    }
  })
  const agent = await agents.create({ cwd: folder })
  agent.followup(start)
  await agent.whenIdle()
  const events = agent.session.events()
  const results = events.flatMap((event) => (event.type === 'tool/result' ? [event.data.message.content[0]] : []))
  const end = events.findLast((event) => event.type === 'turn/end')
  return { folder, effects, end: end?.data, results, calls: events.flatMap((event) => (event.type === 'tool/call' ? [event.data.name] : [])), events }
}

describe('the guided tour', () => {
  it('runs to its end through the real pipeline with one approval, a file and a change of it', async () => {
    const { folder, effects, end, results, calls } = await tour({ outcome: 'allowed-once' })
    expect(results.filter(({ isError }) => isError)).toEqual([])
    expect(calls).toEqual(['todo_write', 'glob', 'glob', 'read', 'grep', 'write', 'todo_write', 'edit', 'bash', 'todo_write'])
    expect(effects).toEqual(['Write `bosun-tour.md`'])
    expect(end).toMatchObject({ reason: { kind: 'completed' } })
    expect(await readFile(join(folder, 'bosun-tour.md'), 'utf8')).toContain('Next: this line has changed.')
    expect((await readdir(folder)).toSorted()).toEqual(['README.md', 'bosun-tour.md', 'src'])
  })

  it('leaves no event in the log that this build would call unknown', async () => {
    const { events } = await tour({ outcome: 'allowed-once' })
    const types = application?.ctx.eventTypes
    expect(events.filter(({ type }) => types?.get(type) === undefined)).toEqual([])
  })

  it('changes nothing when it is denied, and still comes to its end', async () => {
    const { folder, effects, end, results, events } = await tour({ outcome: 'rejected', note: 'not here' })
    expect(effects).toEqual(['Write `bosun-tour.md`'])
    expect(results.filter(({ isError }) => isError).map(({ content }) => content)).toEqual([[{ type: 'text', text: expect.stringContaining('not here') }]])
    expect(end).toMatchObject({ reason: { kind: 'completed' } })
    expect((await readdir(folder)).toSorted()).toEqual(['README.md', 'src'])
    expect(JSON.stringify(events.findLast(({ type }) => type === 'assistant/message')?.data)).toContain('Wrote nothing')
  })

  it('leaves files of its name alone', async () => {
    const { folder } = await tour({ outcome: 'allowed-once' }, { 'bosun-tour.md': 'mine\n' })
    expect([await readFile(join(folder, 'bosun-tour.md'), 'utf8'), (await readdir(folder)).toSorted()]).toEqual(['mine\n', ['bosun-tour-2.md', 'bosun-tour.md']])
  })

  it('works in an empty folder', async () => {
    const { folder, end } = await tour({ outcome: 'allowed-once' }, {})
    expect([end, await readdir(folder)]).toEqual([expect.objectContaining({ reason: { kind: 'completed' } }), ['bosun-tour.md']])
  })
})
