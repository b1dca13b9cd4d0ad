import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import type { EventDraft, SessionEvent } from '../../../extension/core/log/event.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { Session } from '../../../extension/core/session/session.ts'
import { NodeBlobStore } from '../../../extension/platform/node/blob-store.ts'
import { forkAfter, forkBefore, seqOfRow, turnChoices } from '../../../extension/host/fork-points.ts'
import { SessionActions } from '../../../extension/host/session-actions.ts'
import type {} from '../../../extension/features/plan/service.ts'
import { createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import { prompt, turnEnd, turnStart, wholeTurn } from '../../support/session-talk.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

let application: WholeApplication | undefined
afterEach(async () => application?.dispose())

/** A session of two whole turns, live in the composed application. */
async function twoTurns() {
  application = await wholeApplication()
  const { ctx, folder } = application
  const source = await ctx.sessions.create({ cwd: folder, id: 'source', agentPreset: 'ask' })
  append(source, [...wholeTurn(1), ...wholeTurn(2)])
  const ends = source.events().flatMap(({ type, seq }) => (type === 'turn/end' ? [seq] : []))
  return { app: application, sessions: ctx.sessions, source, firstEnd: ends[0]!, lastEnd: ends[1]! }
}

function append(session: Session, drafts: readonly EventDraft[]): void {
  for (const draft of drafts) session.append(draft)
}
const typesOf = (events: readonly SessionEvent[]) => events.map(({ type }) => type)

describe('a fork', () => {
  it('copies everything up to its boundary, marks the end of the copy, and inherits folder and preset', async () => {
    const { app, sessions, source, firstEnd } = await twoTurns()
    const child = await sessions.fork('source', { boundary: firstEnd, childId: 'child' })
    expect(child.header).toMatchObject({ id: 'child', cwd: app.folder, parentSession: 'source', seedLength: firstEnd + 1, agentPreset: 'ask' })
    expect(child.events(0, firstEnd + 1)).toEqual(source.events(0, firstEnd + 1))
    expect(typesOf(child.events(firstEnd + 1))).toEqual(['session/end-seed'])
    expect(child.messages()).toEqual(source.messages().slice(0, child.messages().length))
  })

  it('takes everything when no boundary is named', async () => {
    const { sessions, source } = await twoTurns()
    const child = await sessions.fork('source')
    expect(child.events().slice(0, source.length)).toEqual(source.events())
  })

  it('goes its own way, and both are there after a reload', async () => {
    const { app, sessions, firstEnd } = await twoTurns()
    const child = await sessions.fork('source', { boundary: firstEnd, childId: 'child' })
    append(child, wholeTurn(2))
    await child.flush()
    const { ctx } = await app.restart()
    expect((await ctx.sessions.list()).find(({ id }) => id === 'child')).toMatchObject({ forkedFrom: 'source' })
    const [childAgain, sourceAgain] = [await ctx.sessions.open('child'), await ctx.sessions.open('source')]
    expect([childAgain.events(0, firstEnd + 1), childAgain.header.parentSession]).toEqual([sourceAgain.events(0, firstEnd + 1), 'source'])
  })

  it('does not repeat the mark that is last already', async () => {
    const { sessions } = await twoTurns()
    await sessions.fork('source', { childId: 'child' })
    const grandchild = await sessions.fork('child')
    expect(typesOf(grandchild.events()).filter((type) => type === 'session/end-seed')).toHaveLength(1)
  })

  it('leaves what waits in the source to the source', async () => {
    const { app, sessions, source } = await twoTurns()
    source.append({ type: 'agent/inbox/spliced', data: { target: 'next-turn', start: 0, inserted: [prompt('later').data] } })
    const child = await sessions.fork('source', { childId: 'child' })
    expect(child.events().slice(-2)).toMatchObject([
      { type: 'agent/inbox/spliced', data: { target: 'next-turn', start: 0, removedCount: 1, inserted: [], outcome: 'canceled' } },
      { type: 'session/end-seed' },
    ])
    expect((await app.ctx.agents.resume('child')).inbox.nextTurn).toEqual([])
  })

  it('has the images and before-images of its source, also when that is deleted', async () => {
    const { sessions, source } = await twoTurns()
    const root = (await sourceFolder(source)).replace(/source$/, '')
    const digest = '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824'
    for (const kind of ['attachments', 'before']) {
      await mkdir(join(root, 'source', kind), { recursive: true })
      await writeFile(join(root, 'source', kind, digest), 'hello')
    }
    await sessions.fork('source', { childId: 'child' })
    await sessions.remove('source')
    const blobs = new NodeBlobStore({ root })
    expect([Buffer.from(await blobs.getAttachment('child', `sha256:${digest}`)).toString(), Buffer.from(await blobs.getBeforeImage('child', digest)).toString()]).toEqual(['hello', 'hello'])
  })

  it('may read output that was spilled before it was forked, over generations and reloads', async () => {
    const { app, sessions } = await twoTurns()
    await sessions.fork('source', { childId: 'child' })
    await sessions.fork('child', { childId: 'grandchild' })
    expect([sessions.ancestors('source'), sessions.ancestors('grandchild')]).toEqual([[], ['child', 'source']])
    const { ctx } = await app.restart()
    await ctx.sessions.open('grandchild')
    expect(ctx.sessions.ancestors('grandchild')).toEqual(['child', 'source'])
  })
})

/** The folder of a session that was written. */
async function sourceFolder(session: Session): Promise<string> {
  await session.flush()
  const home = join(application!.folder, '..')
  const found = (await readdir(home, { recursive: true })).find((name) => name.endsWith('events.jsonl'))
  return join(home, found!.replace(/.events\.jsonl$/, ''))
}

describe('a fork is refused', () => {
  const check = async (options: { readonly boundary?: number; readonly childId?: string }, code: string, id = 'source') => {
    const { sessions, source } = await twoTurns()
    const before = source.events()
    await expect(sessions.fork(id, options)).rejects.toMatchObject({ code })
    expect(source.events()).toEqual(before)
  }

  it('when there is no such session', () => check({}, 'SESSION_NOT_FOUND', 'gone'))
  it('when the session is not live', async () => {
    const { app } = await twoTurns()
    const { ctx } = await app.restart()
    await expect(ctx.sessions.fork('source')).rejects.toMatchObject({ code: 'SESSION_NOT_LIVE' })
  })
  it('under an id that is taken', () => check({ childId: 'source' }, 'SESSION_ALREADY_EXISTS'))
  it.each([-1, 0.5, 1_000_000, Number.NaN])('at %s, where no event is', (boundary) => check({ boundary }, 'INVALID_BOUNDARY'))
  it('inside a turn that is open', async () => {
    const { sessions, source, lastEnd } = await twoTurns()
    await expect(sessions.fork('source', { boundary: lastEnd - 1 })).rejects.toMatchObject({ code: 'OPEN_TURN' })
    source.append(turnStart(3))
    await expect(sessions.fork('source')).rejects.toMatchObject({ code: 'OPEN_TURN' })
    source.append(turnEnd(3))
  })
})

describe('/fork', () => {
  /** One turn of an agent, and then whatever is done; what a copy of it by that command has. */
  const copyAfter = async (act: (app: WholeApplication, agent: Agent) => unknown) => {
    application = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1' } })
    const { ctx, folder } = application
    const adapter = createScriptedAdapter()
    ctx.models.register(adapter)
    const agent = await ctx.agents.create({ cwd: folder })
    adapter.play(sayText('Done.'))
    agent.followup({ id: 'p', role: 'user', content: [{ type: 'text', text: 'one word and another' }], source: { kind: 'user' } })
    await agent.whenIdle()
    await act(application, agent)
    let copy: Agent | undefined
    const actions = new SessionActions({
      // What forking does not ask for is left out.
      capabilities: { l10n: { t: fillIn } } as never,
      services: { sessions: ctx.sessions } as never,
      chat: { open: async (id: string) => void (copy = await ctx.agents.resume(id)), refreshList: async () => undefined, titleOf: (session: Session) => session.projections().values['title'] } as never,
    })
    for (const command of actions.commands()) ctx.commands.register(command)
    const row = await ctx.commands.run(agent, '/fork')
    return { ctx, agent, copy: copy!, text: row.text }
  }

  it('takes along a new title, and says in its row which session was copied', async () => {
    const { ctx, copy, text } = await copyAfter(async ({ ctx: { sessions } }, agent) => await sessions.rename(agent.id, 'Dates'))
    expect([(await ctx.sessions.list()).find(({ id }) => id === copy.id)?.title, text]).toEqual(['Dates', 'Went on in a copy of “Dates”.'])
  })
  it('takes along the model that was chosen, with how hard it thinks', async () => {
    const { ctx, copy } = await copyAfter(({ ctx: { agents } }, { id }) => agents.configure(id, { provider: 'scripted', model: 'm2', reasoningEffort: 'low' }))
    expect(ctx.agents.optionsOf(copy.id)).toEqual({ provider: 'scripted', model: 'm2', reasoningEffort: 'low' })
  })
  it('takes along what the session may do by now, and that it plans', async () => {
    const { ctx, copy } = await copyAfter(async ({ ctx: { commands } }, agent) => {
      await commands.run(agent, '/permission read-only')
      await commands.run(agent, '/plan')
    })
    expect([ctx.permissions.presetOf(copy.id), ctx.plan.isActive(copy.session)]).toEqual(['read-only', true])
  })
  it('takes along what was chosen while a turn runs, and leaves that turn', async () => {
    const { ctx, agent, copy } = await copyAfter(async ({ ctx: { sessions, permissions, agents } }, { id, session }) => {
      session.append(turnStart(2))
      await sessions.rename(id, 'Dates')
      permissions.select(id, 'read-only')
      agents.configure(id, { provider: 'scripted', model: 'm2' })
    })
    expect(copy.session.events().filter(({ type }) => type === 'turn/start')).toHaveLength(1)
    expect([(await ctx.sessions.list()).find(({ id }) => id === copy.id)?.title, ctx.permissions.presetOf(copy.id), ctx.agents.optionsOf(copy.id).model]).toEqual(['Dates', 'read-only', 'm2'])
    agent.session.append(turnEnd(2))
  })
  it('leaves its own row to the session it was typed in', async () => {
    const { copy } = await copyAfter(() => undefined)
    expect(typesOf(copy.session.events())).not.toContain('command/run')
  })
})

describe('where the view forks', () => {
  it.each([['e7', 7], ['e7.2', 7], ['e', null], ['x7', null], ['e7x', null], ['', null]])('row %j is event %s', (row, seq) => expect(seqOfRow(row)).toBe(seq))

  it('a clicked event means the earliest end of a turn that does not precede it', async () => {
    const { source, firstEnd, lastEnd } = await twoTurns()
    expect([0, firstEnd, firstEnd + 1, lastEnd].map((seq) => forkAfter(source, seq))).toEqual([firstEnd, firstEnd, lastEnd, lastEnd])
    source.append(turnStart(3))
    expect(forkAfter(source, lastEnd + 1)).toBeNull()
    source.append(turnEnd(3))
  })

  it('words that are said anew mean the point before their turn', async () => {
    const { sessions, source, firstEnd } = await twoTurns()
    const second = source.events(firstEnd).find(({ type }) => type === 'user/message')!
    const point = forkBefore(source, second.seq)
    expect(point).toEqual({ boundary: firstEnd, text: 'question 2', images: [] })
    const child = await sessions.fork('source', { boundary: point!.boundary! })
    expect(child.messages().filter(({ role }) => role === 'user')).toHaveLength(1)
  })

  it('nothing but a message of a person can be said anew', async () => {
    const { source, firstEnd } = await twoTurns()
    expect([forkBefore(source, firstEnd), forkBefore(source, 10_000)]).toEqual([null, null])
  })

  it('each turn can be gone back to by the words that began it, newest first', async () => {
    const { source } = await twoTurns()
    expect(turnChoices(source).map(({ turn, text }) => [turn, text])).toEqual([[2, 'question 2'], [1, 'question 1']])
  })
})
