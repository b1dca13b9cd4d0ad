import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { fillIn } from '../../../extension/base/fill-in.ts'
import { Transcript } from '../../../extension/host/transcript.ts'
import { chatPage } from '../../../extension/protocol/page.ts'
import type { Row } from '../../../extension/protocol/view-state.ts'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 25: what a person sees, as far as it can be told without a window; `test/e2e` looks at the window itself. */

let application: WholeApplication | undefined
afterEach(async () => {
  await application?.dispose()
  application = undefined
})

const user = (id: string, text: string) => ({ id, role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } }) as const

async function start() {
  const whole = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'agent.maxStepsPerTurn': 2 } })
  application = whole
  const adapter = createScriptedAdapter()
  whole.ctx.models.register(adapter)
  const rows = new Map<string, Transcript>()
  const transcriptOf = (ctx: WholeApplication['ctx'], id: string) => {
    const transcript = rows.get(id) ?? new Transcript({ find: (name) => ctx.tools.get(name, null), l10n: { t: fillIn }, isKnownEvent: (type) => ctx.eventTypes.get(type) !== undefined })
    rows.set(id, transcript)
    return transcript
  }
  whole.ctx.on('session/event', (session, event) => void transcriptOf(whole.ctx, session.id).apply(event))
  const agent = await whole.ctx.agents.create({ cwd: whole.folder })
  return { ...whole, whole, adapter, agent, live: () => transcriptOf(whole.ctx, agent.id).rows(), transcriptOf, rows }
}

/** A talk with a read, a refused change, a command of the person, a steered word, a cut turn and a pause. */
async function talk() {
  const rig = await start()
  const { adapter, agent, ctx, folder } = rig
  await writeFile(join(folder, 'a.ts'), 'one\n')
  ctx.on('approval/request', () => Promise.resolve({ outcome: 'rejected', note: 'Not now.' }))
  adapter.play(callTools({ id: 'c1', name: 'read', args: { file_path: 'a.ts' } }), sayText('It says one.'))
  agent.followup(user('p1', 'what is in a.ts?'))
  await agent.whenIdle()
  adapter.play(callTools({ id: 'c2', name: 'write', args: { file_path: 'b.ts', content: 'x' } }), callTools({ id: 'c3', name: 'read', args: { file_path: 'a.ts' } }))
  agent.followup(user('p2', 'write b.ts'))
  await agent.whenIdle()
  await ctx.commands.run(agent, '/permission read-only')
  adapter.play([{ type: 'hang' }])
  agent.followup(user('p3', 'and now wait'))
  await expect.poll(() => adapter.requests.length).toBe(5)
  agent.cancel({ kind: 'user' })
  await agent.whenIdle()
  return rig
}

const kinds = (rows: readonly Row[]) => rows.map(({ kind }) => kind)

describe('the chat', () => {
  it('looks the same after a reload: the same rows under the same ids', async () => {
    const { whole, agent, live, transcriptOf, rows } = await talk()
    const before = live()
    const again = await whole.restart()
    rows.clear()
    const reopened = await again.ctx.agents.resume(agent.id)
    const transcript = transcriptOf(again.ctx, agent.id)
    transcript.replay(reopened.session.events())
    expect(transcript.rows().slice(0, before.length)).toEqual(before)
  })
  it('groups steps under their turn, and says of a turn that it was stopped or paused', async () => {
    const { live } = await talk()
    expect(new Set(live().map(({ turn }) => turn))).toEqual(new Set([1, 2, 3]))
    expect(kinds(live())).toEqual(expect.arrayContaining(['prompt', 'text', 'tool', 'command', 'context']))
    expect(JSON.stringify(live())).toContain('Not now.')
  })
  it('keeps what waits when the person stops a turn', async () => {
    const { adapter, agent } = await start()
    adapter.play([{ type: 'hang' }])
    agent.followup(user('p1', 'work'))
    await expect.poll(() => adapter.requests.length).toBe(1)
    for (const id of ['p2', 'p3']) agent.followup(user(id, id))
    agent.cancel({ kind: 'user' }, { keepInbox: true })
    await agent.whenIdle()
    expect(agent.inbox.nextTurn.map(({ id }) => id)).toEqual(['p2', 'p3'])
  })
})

describe('the page', () => {
  const options = { cspSource: 'https://own.test', nonce: 'n0nce', scriptUri: 'https://own.test/a.js', styleUri: 'https://own.test/a.css', iconStyleUri: 'https://own.test/i.css', language: 'en', texts: { '</script><script>alert(1)</script>': 'x' } }
  it('runs nothing but its own script, loads nothing from elsewhere, and no words of a translation end a script', () => {
    const html = chatPage(options)
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? ''
    expect(policy.split('; ').map((line) => line.split(' ')[0])).toEqual(['default-src', 'script-src', 'style-src', 'font-src', 'img-src'])
    expect([policy.includes("default-src 'none'"), policy.includes('unsafe'), policy.includes('*'), policy.includes('http:')]).toEqual([true, false, false, false])
    expect([...html.matchAll(/<script[^>]*>/g)].every(([tag]) => tag.includes('nonce="n0nce"'))).toBe(true)
    expect(html.match(/<\/script>/g)).toHaveLength(2)
  })
})
