import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { Capabilities } from '../../../extension/compose.ts'
import type { SessionEvent } from '../../../extension/core/log/event.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../../extension/core/policy/approval.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type {} from '../../../extension/features/plan/service.ts'
import type {} from '../../../extension/features/questions/service.ts'
import type { SettingValues } from '../../support/memory-settings.ts'
import { echoTool } from '../../support/pipeline-bench.ts'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 18: permissions, approval, plan mode, questions, through the application as it is shipped. */

let application: WholeApplication | undefined
afterEach(async () => {
  await application?.dispose()
  application = undefined
})

/** An agent whose model makes the calls it is told to, and a person who answers. */
async function start(settings: SettingValues = {}, alter: (world: Capabilities) => Capabilities = (world) => world) {
  const whole = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1', ...settings }, alter })
  application = whole
  const adapter = createScriptedAdapter()
  whole.ctx.models.register(adapter)
  const agent = await whole.ctx.agents.create({ cwd: whole.folder })
  const asked: ApprovalRequest[] = []
  let prompts = 0
  /** Without an answer nobody is there. */
  const answer = (give: (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>) =>
    whole.ctx.on('approval/request', (request) => {
      asked.push(request)
      return Promise.resolve(give(request))
    })
  const turn = async (name: string, args: object, one: Agent = agent) => {
    const before = one.session.length
    prompts += 1
    adapter.play(callTools({ id: `c${prompts}`, name, args }), sayText('Done.'))
    one.followup({ id: `p${prompts}`, role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await one.whenIdle()
    return one.session.events(before)
  }
  return {
    ...whole,
    whole,
    adapter,
    agent,
    asked,
    answer,
    turn,
    /** What the model was told of one call. */
    result: async (name: string, args: object) => resultIn(await turn(name, args)),
    command: (line: string) => whole.ctx.commands.run(agent, line),
    facts: (one: Agent = agent) => one.session.events().flatMap((event) => (/^(permission|sandbox|approval)\//.test(event.type) ? [`${event.type} ${Object.values(event.data).join(' ')}`] : [])),
  }
}

const resultIn = (events: readonly SessionEvent[]) => {
  const result = events.find((event) => event.type === 'tool/result')
  if (result?.type !== 'tool/result') throw new Error('there is no result')
  const [block] = result.data.message.content
  return { isError: block.isError, text: block.content.map((part) => (part.type === 'text' ? part.text : '')).join(''), policy: result.data.policy }
}
const types = (events: readonly SessionEvent[]) => events.map(({ type }) => type)
const write = (path: string) => ['write', { file_path: path, content: 'x' }] as const

describe('modes', () => {
  it('a new session starts in workspace-write, as the product’s default', async () => {
    const { agent, ctx } = await start()
    expect(ctx.permissions.modeOf(agent.id)).toBe('workspace-write')
  })
  it('read-only refuses what changes files, and says what the person can do', async () => {
    const { result, folder } = await start({ 'permissions.defaultPreset': 'read-only' })
    const refused = await result(...write('a.txt'))
    expect([refused.isError, refused.text, refused.policy?.by]).toEqual([true, expect.stringContaining('The person can choose another mode'), 'mode'])
    await expect(readFile(join(folder, 'a.txt'))).rejects.toThrow('ENOENT')
    expect((await result('bash', { command: 'ls', description: 'x' })).isError).toBe(false)
    expect((await result('bash', { command: 'touch a', description: 'x' })).isError).toBe(true)
  })
  it('full access confines nothing but secrets and what throws work away', async () => {
    const { result } = await start({ 'permissions.defaultPreset': 'danger-full-access' })
    expect((await result('bash', { command: 'touch a && echo ok', description: 'x' })).isError).toBe(false)
    expect((await result('read', { file_path: '.env' })).policy?.by).toBe('secret')
  })
  it('of a session is what its last event says', async () => {
    const { agent, ctx, result } = await start()
    for (const mode of ['danger-full-access', 'read-only'] as const) agent.session.append({ type: 'sandbox/mode', data: { mode } })
    expect([ctx.permissions.modeOf(agent.id), (await result(...write('a.txt'))).policy?.by]).toEqual(['read-only', 'mode'])
  })
  it('a folder that is not trusted forces reading, and nobody is asked, whatever the session had', async () => {
    let isTrusted = true
    const { agent, ctx, result, answer, asked, command, folder } = await start({ 'permissions.defaultPreset': 'danger-full-access' }, (world) => ({ ...world, workspace: { ...world.workspace, isTrusted: () => isTrusted } }))
    answer(() => ({ outcome: 'allowed-once' }))
    isTrusted = false
    expect([ctx.permissions.modeOf(agent.id), (await result(...write('a.txt'))).isError, (await result('bash', { command: 'ls', description: 'x' })).isError, asked]).toEqual(['read-only', true, true, []])
    expect((await result('read', { file_path: '/etc/hostname' })).isError).toBe(true)
    expect((await command('/permission workspace-write')).text).toContain('not trusted')
    await expect(readFile(join(folder, 'a.txt'))).rejects.toThrow('ENOENT')
    isTrusted = true
    expect(ctx.permissions.modeOf(agent.id)).toBe('danger-full-access')
  })
  it('without confinement there are no fields to ask for more, and a call that sends them is refused', async () => {
    const { result, ctx } = await start({ 'permissions.defaultPreset': 'danger-full-access' })
    expect(JSON.stringify(ctx.tools.get('bash', null)?.parameters)).not.toContain('sandbox_permissions')
    expect((await result('bash', { command: 'ls', description: 'x', sandbox_permissions: 'danger-full-access', justification: 'y' })).isError).toBe(true)
  })
})

describe('approval', () => {
  const outcomes: readonly [answer: ApprovalAnswer | 'throws' | 'unknown' | 'none', logged: string, isError: boolean][] = [
    [{ outcome: 'allowed-once' }, 'allowed-once', false],
    [{ outcome: 'rejected', note: 'not now' }, 'rejected', true],
    [{ outcome: 'cancelled' }, 'cancelled', true],
    ['throws', 'unavailable', true],
    ['unknown', 'unavailable', true],
    ['none', 'unavailable', true],
  ]
  it.each(outcomes)('an answerer that gives %j counts as %s', async (given, logged, isError) => {
    const { answer, turn, folder } = await start()
    if (given !== 'none') {
      answer(() => {
        if (given === 'throws') throw new Error('broken')
        // Answerers are others' code.
        return given === 'unknown' ? ({ outcome: 'maybe' } as never) : given
      })
    }
    const events = await turn(...write('a.txt'))
    const decided = events.find((event) => event.type === 'approval/decided')
    expect([decided?.data, resultIn(events).isError, resultIn(events).policy?.by]).toEqual([expect.objectContaining({ outcome: logged }), isError, 'person'])
    expect(await readFile(join(folder, 'a.txt'), 'utf8').catch(() => null)).toBe(isError ? null : 'x')
  })
  it('writes the pair of asked and decided, around the answer and before the call runs', async () => {
    const { answer, turn } = await start()
    answer(() => ({ outcome: 'allowed-once' }))
    const order = types(await turn(...write('a.txt'))).filter((type) => /^(approval|tool)\//.test(type))
    expect(order).toEqual(['tool/call', 'approval/asked', 'approval/decided', 'tool/result'])
  })
  it('the words of a refusal reach the model', async () => {
    const { answer, result } = await start()
    answer(() => ({ outcome: 'rejected', note: 'Use b.txt' }))
    expect((await result(...write('a.txt'))).text).toContain('Use b.txt')
  })
  it('a cancel of the turn cancels the question', async () => {
    const { answer, turn, agent } = await start()
    answer(() => {
      agent.cancel({ kind: 'user' })
      return new Promise(() => undefined)
    })
    const events = await turn(...write('a.txt'))
    expect(events.find((event) => event.type === 'approval/decided')?.data).toMatchObject({ outcome: 'cancelled' })
  })
  it('under the policy never everybody is spared the question and the answer is no', async () => {
    const { answer, asked, turn, agent } = await start()
    answer(() => ({ outcome: 'allowed-once' }))
    agent.session.append({ type: 'approval/policy', data: { policy: 'never' } })
    const events = await turn(...write('a.txt'))
    expect([asked.length, events.find((event) => event.type === 'approval/decided')?.data, resultIn(events).isError]).toEqual([0, expect.objectContaining({ outcome: 'rejected' }), true])
  })
  it('outside of a turn nobody is asked and nothing is logged', async () => {
    const { ctx, agent, facts } = await start()
    const before = facts()
    await expect(ctx.approvals.request({ agent, toolName: 'write', signal: new AbortController().signal })).rejects.toThrow('outside of a turn')
    expect(facts()).toEqual(before)
  })
  it.each(['approval/asked', 'approval/decided'])('when %s cannot be logged the call does not run, whatever the person says', async (type) => {
    const { answer, result, agent, folder } = await start()
    answer(() => ({ outcome: 'allowed-once' }))
    const append = agent.session.append.bind(agent.session)
    const failing = (draft: Parameters<typeof append>[0]) => {
      if (draft.type === type) throw new Error('the disk is full')
      return append(draft)
    }
    Object.assign(agent.session, { append: failing })
    expect([(await result(...write('a.txt'))).isError, await readFile(join(folder, 'a.txt'), 'utf8').catch(() => null)]).toEqual([true, null])
  })
  it('with arguments that the person changed runs those, held to the schema, logged and judged again', async () => {
    const { answer, turn, folder } = await start()
    const as = (path: string): ApprovalAnswer => ({ outcome: 'allowed-once', arguments: { file_path: path, content: 'theirs' } })
    const given = [as('b.txt'), as('.env'), { outcome: 'allowed-once', arguments: { file_path: 7 } } as ApprovalAnswer]
    answer(() => given.shift() ?? { outcome: 'rejected' })
    const events = await turn(...write('a.txt'))
    expect([events.some(({ type }) => type === 'tool/rewritten'), await readFile(join(folder, 'b.txt'), 'utf8')]).toEqual([true, 'theirs'])
    expect([resultIn(await turn(...write('a.txt'))).policy?.by, resultIn(await turn(...write('a.txt'))).text]).toEqual(['secret', expect.stringContaining('not valid')])
  })
  it('with changed arguments runs nothing when the turn is stopped in the same moment', async () => {
    const { answer, turn, agent, folder } = await start()
    answer(() => {
      queueMicrotask(() => agent.cancel({ kind: 'user' }))
      return { outcome: 'allowed-once', arguments: { file_path: 'b.txt', content: 'theirs' } }
    })
    const events = await turn(...write('a.txt'))
    expect(resultIn(events).isError).toBe(true)
    for (const name of ['a.txt', 'b.txt']) await expect(readFile(join(folder, name))).rejects.toThrow('ENOENT')
  })
  it('that is given twice runs the call once, as the first answer says', async () => {
    const { ctx, turn, folder } = await start()
    ctx.approvals.attach()
    const outcomes: boolean[] = []
    ctx.approvals.onDidChange(() => {
      const [request] = ctx.approvals.pending()
      if (request === undefined) return
      const { id } = request
      queueMicrotask(() => {
        outcomes.push(ctx.approvals.answer(id, { outcome: 'allowed-once', arguments: { file_path: 'b.txt', content: 'first' } }), ctx.approvals.answer(id, { outcome: 'allowed-once', arguments: { file_path: 'c.txt', content: 'second' } }), ctx.approvals.answer(id, { outcome: 'rejected' }))
      })
    })
    const events = await turn(...write('a.txt'))
    expect([outcomes, types(events).filter((type) => type.startsWith('approval/'))]).toEqual([[true, false, false], ['approval/asked', 'approval/decided']])
    expect(await Promise.all(['a.txt', 'b.txt', 'c.txt'].map((name) => readFile(join(folder, name), 'utf8').catch(() => null)))).toEqual([null, 'first', null])
  })
  it('says with the result why it was asked and what was answered', async () => {
    const { answer, result } = await start()
    answer(() => ({ outcome: 'allowed-once' }))
    expect((await result(...write('a.txt'))).policy).toEqual({ by: 'person', why: 'No rule of yours allows changing this file. You allowed it once.' })
    expect((await result('read', { file_path: 'a.txt' })).policy).toBeUndefined()
  })
})

describe('rules', () => {
  const touch = { tool: 'bash', match: 'touch *', decision: 'allow' } as const
  const run = (command: string) => ['bash', { command, description: 'x' }] as const

  it('that allow are named with the result and counted, over a restart too', async () => {
    const { result, ctx, agent, whole } = await start({ 'permissions.rules': [touch] })
    expect((await result(...run('touch a && ls'))).policy).toEqual({ by: 'rule', why: 'By your rule `allow bash touch …` (always).', rules: [JSON.stringify({ decision: 'allow', match: 'touch *', tool: 'bash' })] })
    await result(...run('touch b'))
    expect([...ctx.permissions.uses(agent.id).values()]).toEqual([2])
    const again = await whole.restart()
    again.ctx.models.register(createScriptedAdapter())
    await again.ctx.agents.resume(agent.id)
    expect([...again.ctx.permissions.uses(agent.id).values()]).toEqual([2])
  })
  it('kept by an answer hold for the same call from then on, until they are taken back', async () => {
    const { answer, asked, result, ctx, agent } = await start()
    answer((request) => {
      const always = request.details?.always?.find(({ label }) => label.includes('until the session ends'))
      return { outcome: 'allowed-once', ...(always && { rule: always.rule }) }
    })
    await result(...run('make pack'))
    await result(...run('make pack'))
    expect(asked.length).toBe(1)
    const [rule] = ctx.permissions.rules(agent.id)
    if (rule === undefined) throw new Error('the rule is missing')
    await ctx.permissions.revoke(rule)
    await result(...run('make pack'))
    expect(asked.length).toBe(2)
  })
  it('that deny a path hold for a search above it', async () => {
    const { result, folder } = await start({ 'permissions.rules': [{ tool: '*', path: 'vault/**', decision: 'deny' }] })
    await mkdir(join(folder, 'vault'))
    await writeFile(join(folder, 'vault', 'a.txt'), 'needle')
    await writeFile(join(folder, 'b.txt'), 'needle')
    const [lines, names] = [await result('grep', { pattern: 'needle' }), await result('glob', { pattern: '**/*.txt' })]
    expect([lines.text.includes('b.txt'), lines.text.includes('vault'), names.text.includes('b.txt'), names.text.includes('vault')]).toEqual([true, false, true, false])
  })
  it('of the settings of a workspace may forbid and never allow', async () => {
    const { result, settings } = await start({ 'permissions.rules': [touch] })
    await settings.set('permissions.rules', [{ ...touch, decision: 'deny' }, { tool: 'bash', match: 'mkdir *', decision: 'allow' }], 'workspace')
    expect([(await result(...run('touch a'))).isError, (await result(...run('mkdir a'))).isError]).toEqual([true, true])
  })
})

describe('presets', () => {
  const start3 = (name: string, policy: string) => [`permission/preset ${name}`, `sandbox/mode ${name}`, `approval/policy ${policy}`]
  it('a new session pins all three facts', async () => {
    const { facts } = await start()
    expect(facts()).toEqual(start3('workspace-write', 'ask'))
  })
  it('a change logs the preset, then only the knobs that differ', async () => {
    const { facts, command } = await start()
    await command('/permission read-only')
    await command('/permission danger-full-access yes')
    expect(facts().slice(3)).toEqual(['permission/preset read-only', 'sandbox/mode read-only', 'permission/preset danger-full-access', 'sandbox/mode danger-full-access', 'approval/policy never'])
  })
  it('a combination of no preset reads as custom, which cannot be chosen', async () => {
    const { agent, command } = await start()
    agent.session.append({ type: 'approval/policy', data: { policy: 'never' } })
    expect([(await command('/permission')).text, (await command('/permission custom')).kind]).toEqual([expect.stringContaining('Permissions: custom.'), 'error'])
  })
  it('a session that is opened again keeps its own, whatever the settings say by then', async () => {
    const { agent, whole, command, settings } = await start()
    await command('/permission read-only')
    const { id } = agent
    await settings.set('permissions.defaultPreset', 'danger-full-access', 'user')
    const again = await whole.restart()
    again.ctx.models.register(createScriptedAdapter())
    const reopened = await again.ctx.agents.resume(id)
    expect([again.ctx.permissions.modeOf(id), reopened.session.events().filter(({ type }) => type === 'permission/preset').length]).toEqual(['read-only', 2])
  })
  it('a session that says only a part of it gets the missing facts when it is opened, and keeps what it says', async () => {
    const { ctx, folder, facts } = await start()
    const session = await ctx.sessions.create({ cwd: folder, id: 'old' })
    session.append({ type: 'turn/start', data: { turn: 1 } })
    session.append({ type: 'turn/end', data: { turn: 1, reason: { kind: 'completed' } } })
    session.append({ type: 'sandbox/mode', data: { mode: 'read-only' } })
    await session.close()
    const opened = await ctx.agents.resume('old')
    expect(facts(opened)).toEqual(['sandbox/mode read-only', 'permission/preset read-only', 'approval/policy ask'])
  })
  it('/permission reports, and asks for a word of consent before full access', async () => {
    const { command, ctx, agent } = await start()
    expect((await command('/permission')).text).toBe('Permissions: workspace-write. Bosun asks before it changes files or does what may harm.')
    expect([await command('/permission danger-full-access'), ctx.permissions.modeOf(agent.id)]).toEqual([expect.objectContaining({ kind: 'error', text: expect.stringContaining('danger-full-access yes') }), 'workspace-write'])
    expect([(await command('/permission nonsense')).kind, (await command('/permission danger-full-access yes')).kind, ctx.permissions.modeOf(agent.id)]).toEqual(['error', 'success', 'danger-full-access'])
  })
  it('a live change tells the model by a notice and by the runtime context, and leaves the prefix alone', async () => {
    const { command, turn, adapter } = await start()
    await turn('read', { file_path: 'none' })
    await command('/permission read-only')
    await turn('read', { file_path: 'none' })
    const [first, last] = [adapter.requests.at(0), adapter.requests.at(-1)]
    const told = JSON.stringify(last?.messages)
    expect([told.includes('changed your permissions to read-only'), told.includes('Permission mode: read-only.'), last?.system === first?.system, JSON.stringify(last?.messages.slice(0, first?.messages.length)) === JSON.stringify(first?.messages)]).toEqual([true, true, true, true])
  })
  it('a child takes over what its owner may do, by events that say so', async () => {
    const { ctx, agent, command, folder, facts } = await start()
    await command('/permission danger-full-access yes')
    const child = await ctx.agents.create({ cwd: folder, owner: agent })
    expect(facts(child)).toEqual(['sandbox/mode danger-full-access delegation', 'approval/policy never delegation'])
  })
})

describe('plan mode', () => {
  const full = { 'permissions.defaultPreset': 'danger-full-access' }
  const rows: readonly [name: string, args: object, isRefused: boolean][] = [
    ['write', { file_path: 'new.txt', content: 'x' }, true],
    ['edit', { file_path: 'old.txt', old_string: 'old', new_string: 'new' }, true],
    ['bash', { command: 'touch new.txt', description: 'x' }, true],
    ['bash', { command: 'git commit --amend -m x', description: 'x' }, true],
    ['bash', { command: 'cat old.txt > new.txt', description: 'x' }, true],
    ['bash', { command: 'cat old.txt | head -1', description: 'x' }, false],
    ['read', { file_path: 'old.txt' }, false],
    ['grep', { pattern: 'old' }, false],
    ['todo_write', { todos: [] }, false],
  ]
  it.each(rows)('in full access, %s %j: refused is %s', async (name, args, isRefused) => {
    const { result, command, folder } = await start(full)
    await writeFile(join(folder, 'old.txt'), 'old')
    await command('/plan')
    const told = await result(name, args)
    expect([told.isError, told.text.includes('plan mode')]).toEqual([isRefused, isRefused])
    await expect(readFile(join(folder, 'new.txt'))).rejects.toThrow('ENOENT')
  })
  it('rules that allow do not lift it', async () => {
    const { result, command } = await start({ 'permissions.rules': [{ tool: '*', decision: 'allow' }, { tool: 'write', path: '**', decision: 'allow' }] })
    await command('/plan')
    expect((await result(...write('new.txt'))).isError).toBe(true)
  })
  it('is an event of its own, and a projection', async () => {
    const { command, agent } = await start()
    await command('/plan')
    await command('/plan')
    await command('/plan off')
    expect([agent.session.events().flatMap((event) => (event.type === 'plan/mode' ? [event.data.active] : [])), agent.session.projections().values['plan']]).toEqual([[true, false], { active: false, pending: null }])
  })
  it('is told late, and the catalogue and the prefix stay as they are', async () => {
    const { command, turn, adapter } = await start()
    await turn('read', { file_path: 'none' })
    const before = adapter.requests.at(-1)
    await command('/plan')
    await turn('read', { file_path: 'none' })
    const on = adapter.requests.at(-1)
    await command('/plan off')
    await turn('read', { file_path: 'none' })
    const off = adapter.requests.at(-1)
    expect([on?.system, JSON.stringify(on?.tools)]).toEqual([before?.system, JSON.stringify(before?.tools)])
    expect(JSON.stringify(on?.messages.slice(0, before?.messages.length))).toBe(JSON.stringify(before?.messages))
    expect([JSON.stringify(before?.messages).includes('Plan mode'), JSON.stringify(on?.messages).includes('Plan mode is on'), JSON.stringify(off?.messages).includes('Plan mode is off')]).toEqual([false, true, true])
  })
  it('ends with the next step when it is left in a turn, so that the calls of this one are still held to it', async () => {
    const { agent, adapter, command, ctx, folder } = await start(full)
    await command('/plan')
    const call = (id: string) => callTools({ id, name: 'write', args: { file_path: `${id}.txt`, content: 'x' } })
    const leave = { type: 'do', act: () => void ctx.plan.set(agent, false) } as const
    adapter.play([leave, ...(call('one') as readonly never[])], call('two'), sayText('Done.'))
    agent.followup({ id: 'p', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await agent.whenIdle()
    expect(await Promise.all(['one', 'two'].map((name) => readFile(join(folder, `${name}.txt`), 'utf8').catch(() => null)))).toEqual([null, 'x'])
  })
  it('holds over a restart', async () => {
    const { agent, command, whole } = await start()
    await command('/plan')
    const again = await whole.restart()
    again.ctx.models.register(createScriptedAdapter())
    const reopened = await again.ctx.agents.resume(agent.id)
    expect(again.ctx.plan.isActive(reopened.session)).toBe(true)
  })
  it('holds those that its agent starts', async () => {
    const { agent, command, ctx, folder, turn } = await start(full)
    await command('/plan')
    const child = await ctx.agents.create({ cwd: folder, owner: agent })
    expect(resultIn(await turn('write', { file_path: 'c.txt', content: 'x' }, child)).text).toContain('plan mode')
  })
  it('/plan with words goes on and sends them', async () => {
    const { command, adapter, agent } = await start()
    adapter.play(sayText('A plan.'))
    await command('/plan how to test')
    await agent.whenIdle()
    expect([JSON.stringify(adapter.requests.at(-1)?.messages).includes('how to test'), agent.session.projections().values['plan']]).toEqual([true, { active: true, pending: null }])
  })
  it('/plan off takes no images and then changes nothing', async () => {
    const { agent, ctx, command } = await start()
    await command('/plan')
    const image = { type: 'image', mediaType: 'image/png', attachmentId: 'a', byteLength: 1 } as never
    const settled = await ctx.commands.run(agent, '/plan off', { images: [image] })
    expect([settled.kind, ctx.plan.isActive(agent.session)]).toEqual(['error', true])
  })
})

describe('questions', () => {
  const question = { id: 'q', question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }
  const ask = ['ask_user_question', { questions: [question] }] as const

  it('wait for the person, and the answer is the result of the call', async () => {
    const { ctx, result } = await start()
    ctx.questions.attach()
    ctx.questions.onDidChange(() => {
      const [set] = ctx.questions.pending()
      if (set !== undefined) ctx.questions.answer(set.id, [{ id: 'q', selected: [], custom: 'C' }])
    })
    const told = await result(...ask)
    expect([told.isError, told.text]).toEqual([false, expect.stringContaining('"custom":"C"')])
  })
  it('have one provider', async () => {
    const { ctx } = await start()
    ctx.questions.attach()
    expect(() => ctx.questions.attach()).toThrow(expect.objectContaining({ code: 'DUPLICATE_PROVIDER' }))
  })
  it('are asked by root agents only', async () => {
    const { ctx, agent, folder, turn } = await start()
    ctx.questions.attach()
    const child = await ctx.agents.create({ cwd: folder, owner: agent })
    expect((await turn(...ask, child)).find((event) => event.type === 'tool/result')?.data).toMatchObject({ error: { code: 'DELEGATED_CALLER' } })
  })
  it('a text of the person stands in the place of a choice; both are refused and the question stays', async () => {
    const { ctx, result, agent } = await start()
    ctx.questions.attach()
    const outcomes: boolean[] = []
    ctx.questions.onDidChange(() => {
      const [set] = ctx.questions.pending()
      if (set === undefined) return
      outcomes.push(ctx.questions.answer(set.id, [{ id: 'q', selected: ['A'], custom: 'C' }]).ok, ctx.questions.pending().length === 1)
      agent.cancel({ kind: 'user' })
    })
    await result(...ask)
    expect(outcomes).toEqual([false, true])
  })
  it('go with the turn', async () => {
    const { ctx, result, agent } = await start()
    ctx.questions.attach()
    ctx.questions.onDidChange(() => {
      if (ctx.questions.pending().length > 0) agent.cancel({ kind: 'user' })
    })
    expect([(await result(...ask)).isError, ctx.questions.pending()]).toEqual([true, []])
  })
})

describe('a tool of another owner', () => {
  const foreign = (name: string) => ({ ...echoTool({ name }), validateArguments: () => [], parameters: { type: 'object' }, execute: () => ({ word: 'ran' }) })

  it.each(['read', 'todo_write', 'job_list', 'grep'])('under the known name %s in a nearer layer is not taken for it: it asks', async (name) => {
    const { ctx, agent, asked, answer, result } = await start()
    ctx.scoped(agent.scope).tools.register(foreign(name))
    answer(() => ({ outcome: 'rejected' }))
    expect((await result(name, {})).isError).toBe(true)
    expect(asked.map(({ details }) => details?.why)).toEqual(['Bosun does not know what it does.'])
  })
  it('may say what it does, for itself alone', async () => {
    const { ctx, agent, result } = await start()
    ctx.scoped(agent.scope).tools.register(foreign('read'))
    const undo = ctx.permissions.declare('read', () => ({ kind: 'none' }), agent.scope)
    expect(await result('read', {})).toMatchObject({ isError: false, text: 'ran' })
    undo()
    expect((await result('read', {})).isError).toBe(true)
    expect(() => ctx.permissions.declare('teleport', () => ({ kind: 'none' }), agent.scope)).toThrow('no tool teleport')
  })
  it('leaves the known one to other agents', async () => {
    const { ctx, agent, folder, turn } = await start()
    ctx.scoped(agent.scope).tools.register(foreign('read'))
    await writeFile(join(folder, 'a.txt'), 'text')
    const other = await ctx.agents.create({ cwd: folder })
    expect(resultIn(await turn('read', { file_path: 'a.txt' }, other)).isError).toBe(false)
  })
})
