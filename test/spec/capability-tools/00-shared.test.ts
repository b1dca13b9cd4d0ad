import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import { SearchError } from '../../../extension/capabilities/search.ts'
import type { Capabilities } from '../../../extension/compose.ts'
import type { ApprovalAnswer, ApprovalRequest } from '../../../extension/core/policy/approval.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import type { ToolResult } from '../../../extension/core/tools/definition.ts'
import { presentCall, presentResult } from '../../../extension/host/present-tool.ts'
import { createFileRig, failed, type FileRig } from '../../support/file-rig.ts'
import type { SettingValues } from '../../support/memory-settings.ts'
import { callTools, createScriptedAdapter, sayText } from '../../support/scripted-adapter.ts'
import { outcomeOf, textOf } from '../../support/tool-bench.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 0: what all capability tools have in common, through the application as it is shipped. */

const isThere = (path: string) => readFile(path).then(() => true, () => false)

describe('a step of calls', () => {
  it('parallel read calls overlap while edit waits its turn', async () => {
    const whole = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'permissions.defaultPreset': 'danger-full-access' } })
    const adapter = createScriptedAdapter()
    whole.ctx.models.register(adapter)
    await writeFile(join(whole.folder, 'a.txt'), 'one\n')
    const agent = await whole.ctx.agents.create({ cwd: whole.folder, preset: 'standard' })
    const going: string[] = []
    const bothBegan = Promise.withResolvers<void>()
    whole.ctx.on('tools/execute', async (exec, next) => {
      going.push(`${exec.callId} begins`)
      // Only reads that overlap get past this.
      if (exec.name === 'read' && exec.callId !== 'first') {
        if (going.filter((line) => /^r\d begins/.test(line)).length === 2) bothBegan.resolve()
        await bothBegan.promise
      }
      const result = await next()
      going.push(`${exec.callId} ends`)
      return result
    })
    adapter.play(
      callTools({ id: 'first', name: 'read', args: { file_path: 'a.txt' } }),
      callTools(
        { id: 'r1', name: 'read', args: { file_path: 'a.txt' } },
        { id: 'r2', name: 'read', args: { file_path: 'a.txt' } },
        { id: 'e', name: 'edit', args: { file_path: 'a.txt', old_string: 'one', new_string: 'two' } },
        { id: 'last', name: 'read', args: { file_path: 'a.txt' } },
      ),
      sayText('Done.'),
    )
    agent.followup({ id: 'p', role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await agent.whenIdle()
    expect(going.slice(2, 4)).toEqual(['r1 begins', 'r2 begins'])
    expect(going.slice(4, 6).toSorted()).toEqual(['r1 ends', 'r2 ends'])
    expect(going.slice(6)).toEqual(['e begins', 'e ends', 'last begins', 'last ends'])
    const results = agent.session.events().flatMap((event) => (event.type === 'tool/result' ? [JSON.stringify(event.data.message.content)] : []))
    expect(results.at(-1)).toContain('1: two')
    await whole.dispose()
  })
})

describe('a call', () => {
  let rig: FileRig
  beforeAll(async () => {
    rig = await createFileRig()
  })
  afterAll(() => rig.application.dispose())
  beforeEach(() => rig.next())

  it('with an extra argument at the root ignores it', async () => {
    await rig.put('a', 'x\n')
    expect(textOf(await rig.read('a', { colour: 'red' }))).toContain('1: x')
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('with the argument %s is refused before its body runs', async (limit) => {
    await rig.put('a', 'x\n')
    const bodies: string[] = []
    const undo = rig.application.ctx.on('tools/execute', (exec, next) => {
      bodies.push(exec.name)
      return next()
    })
    expect(outcomeOf(await rig.read('a', { limit }))).toEqual(failed('INVALID_ARGS'))
    expect(bodies).toEqual([])
    undo()
  })

  it('that is aborted before dispatch runs nothing, one that is aborted after it says so, each by its own code', async () => {
    const command = (text: string, signal: AbortSignal, onProgress?: (text: string) => void) =>
      rig.application.ctx.tools.execute({ callId: 'c', name: 'bash', arguments: { command: text, description: 'x' }, agent: rig.agent, signal, ...(onProgress && { onProgress }) })
    expect(outcomeOf(await command('touch ran', AbortSignal.abort()))).toEqual(failed('ABORTED_BEFORE_DISPATCH'))
    expect(await isThere(rig.at('ran'))).toBe(false)
    const stop = new AbortController()
    expect(outcomeOf(await command('touch ran; echo begun; sleep 1000', stop.signal, () => stop.abort()))).toEqual(failed('ABORTED', /begun/))
    expect(await isThere(rig.at('ran'))).toBe(true)
  })
})

describe('a deadline', () => {
  /** A search that never ends by itself, in a world in which 30 s are over at once, or never. */
  const searching = async (isOver: boolean) => {
    const begun = Promise.withResolvers<void>()
    const never = ({ signal }: { readonly signal: AbortSignal }) =>
      new Promise<never>((_resolve, reject) => {
        const stop = () => reject(new SearchError('SEARCH_ABORTED', 'The search was stopped.'))
        if (signal.aborted) stop()
        signal.addEventListener('abort', stop)
        begun.resolve()
      })
    const rig = await createFileRig({
      alter: (world) => ({ ...world, search: { ...world.search, text: never, files: never }, clock: { ...world.clock, schedule: (delayMs, fire) => (delayMs === 30_000 ? world.clock.schedule(isOver ? 0 : 3_600_000, fire) : world.clock.schedule(delayMs, fire)) } }),
    })
    await rig.next()
    return { rig, begun: begun.promise }
  }

  it.each(['glob', 'grep'])('of 30 s ends %s by TOOL_TIMEOUT with its milliseconds, the stop of the caller by another code', async (name) => {
    const own = await searching(true)
    expect(outcomeOf(await own.rig.run(name, { pattern: 'x' }))).toEqual(failed('TOOL_TIMEOUT', /30000 ms/))
    await own.rig.application.dispose()
    const theirs = await searching(false)
    const stop = new AbortController()
    const call = theirs.rig.run(name, { pattern: 'x' }, { signal: stop.signal })
    await theirs.begun
    stop.abort()
    expect(outcomeOf(await call)).toEqual(failed('SEARCH_ABORTED'))
    await theirs.rig.application.dispose()
  })
})

describe('a card', () => {
  let application: WholeApplication
  beforeAll(async () => {
    application = await wholeApplication()
  })
  afterAll(() => application.dispose())

  const malformed: readonly Json[] = [null, true, 7, 'x', [], [null], {}, { hunks: 'x' }, { hunks: [null] }, { files: [{ path: 3 }] }, { paths: 7 }, { lines: [7] }, { exitCode: 'no', output: [] }, { __proto__: null, path: {} }, { sources: [null], url: 1 }]
  const args: readonly Json[] = [{}, null, [], 'x', { file_path: 7, command: [], queries: 'x', job_id: null, pattern: {} }]

  it('of malformed meta is the generic one, whatever the tool, and nothing throws', () => {
    const { tools } = application.ctx
    const find = (name: string) => tools.get(name)
    const content = [{ type: 'text' as const, text: 'what the model read' }]
    const cards = tools.list(null).flatMap(({ name, presentCall: call, presentResult: result }) =>
      args.flatMap((each) => [
        // The presenters themselves, then as the view asks for them.
        call?.(each),
        presentCall(find, name, each),
        ...malformed.flatMap((meta) =>
          [true, false].flatMap((isError) => {
            const presented = { content, isError, meta }
            return [result?.(each, presented), presentResult(find, { name, args: each }, presented, { t: (text) => text })]
          }),
        ),
      ]),
    )
    const drawn = new Set(cards.flatMap((card) => (card === undefined || card === null ? [] : [card.card])))
    // Malformed records never come out as what they are not.
    expect([...drawn].filter((card) => ['search', 'read', 'web', 'image', 'question'].includes(card))).toEqual([])
  })
})

describe('an oversize result', () => {
  let rig: FileRig
  const spills: string[] = []
  let put: Capabilities['blobs']['putSpill'] | null = null
  beforeAll(async () => {
    rig = await createFileRig({
      alter(world) {
        const putSpill = world.blobs.putSpill.bind(world.blobs)
        const blobs = Object.assign(world.blobs, {
          putSpill: async (...args: Parameters<typeof putSpill>) => {
            spills.push(args[2])
            return await (put ?? putSpill)(...args)
          },
        })
        return { ...world, blobs }
      },
    })
  })
  afterAll(() => rig.application.dispose())
  beforeEach(async () => {
    await rig.next()
    spills.length = 0
    put = null
  })

  const bytes = (text: string) => Buffer.byteLength(text)
  /** What a command prints, as the model reads it and as a program gets it. */
  const printed = async (text: string, parent?: { readonly id: string }) => {
    await rig.put('out', text)
    const result: ToolResult = await rig.application.ctx.tools.execute({ callId: 'c', name: 'bash', arguments: { command: 'cat out', description: 'x' }, agent: rig.agent, signal: new AbortController().signal, ...(parent && { parent }) })
    return { read: textOf(result), value: outcomeOf(result) as { readonly stdout?: { readonly text: string } } }
  }

  it('of exactly 50 000 bytes stays inline', async () => {
    const text = 'x'.repeat(50_000)
    expect([(await printed(text)).read, spills]).toEqual([text, []])
  })

  it('of 50 001 bytes is saved whole, and what takes its place is at most the cap, notice included', async () => {
    const text = `${'h'.repeat(25_000)}${'t'.repeat(25_001)}`
    const { read } = await printed(text)
    expect(spills).toEqual([text])
    expect(bytes(read)).toBeLessThanOrEqual(50_000)
    const [, omitted = '', path = ''] = /\n\n\[(\d+) bytes in the middle are left out\. All of this result is in (\S+): /.exec(read) ?? []
    expect(await readFile(path, 'utf8')).toBe(text)
    expect(read.split('\n\n')[0]?.replace('\n[…]\n', '').length).toBe(50_001 - Number(omitted))
    expect(textOf(await rig.read(path))).toContain('hhh')
  })

  it('is cut at whole characters', async () => {
    for (const shift of ['', 'x', 'xx', 'xxx']) {
      const { read } = await printed(`${shift}${'😀'.repeat(13_000)}`)
      expect(read).not.toContain('\u{FFFD}')
      expect(read).toMatch(/^x*(😀)+\n\[…\]\n(😀)+\n\n/u)
      expect(bytes(read)).toBeLessThanOrEqual(50_000)
    }
  })

  it('stays whole where the store fails', async () => {
    put = () => Promise.reject(new Error('the disk is full'))
    const text = 'x'.repeat(60_000)
    expect([(await printed(text)).read, spills.length]).toEqual([text, 1])
  })

  it('stays whole where the notice alone is larger than the cap', async () => {
    put = () => Promise.resolve({ path: `/${'p'.repeat(50_000)}`, bytes: 1 })
    const text = 'x'.repeat(60_000)
    expect((await printed(text)).read).toBe(text)
  })

  it('of read, which pages itself, and of a program’s call stays whole', async () => {
    await rig.put('many', `${'x'.repeat(99)}\n`.repeat(511))
    const read = textOf(await rig.read('many'))
    expect(bytes(read)).toBeGreaterThan(50_000)
    expect([read.includes('511: x'), spills]).toEqual([true, []])
    const text = 'x'.repeat(60_000)
    expect([(await printed(text, { id: 'program' })).read, spills]).toEqual([text, []])
  })

  it('leaves the canonical value as it was', async () => {
    const text = 'x'.repeat(60_000)
    const { read, value } = await printed(text)
    expect([bytes(read) <= 50_000, value.stdout?.text]).toEqual([true, text])
  })
})

/** The application with a person who answers, or nobody, and a model that makes one call a turn. */
async function withPerson(give: ((request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>) | null, settings: SettingValues = {}, alter: (world: Capabilities) => Capabilities = (world) => world) {
  const whole = await wholeApplication({ settings: { 'model.provider': 'scripted', 'model.name': 'm1', ...settings }, alter })
  const adapter = createScriptedAdapter()
  whole.ctx.models.register(adapter)
  const agent = await whole.ctx.agents.create({ cwd: whole.folder, preset: 'standard' })
  const asked: ApprovalRequest[] = []
  whole.ctx.on('approval/request', (request, next) => {
    asked.push(request)
    return give === null ? next() : Promise.resolve(give(request))
  })
  let calls = 0
  /** What the model was told of the call. */
  const call = async (name: string, args: object, one: Agent = agent) => {
    const before = one.session.length
    adapter.play(callTools({ id: `c${(calls += 1)}`, name, args }), sayText('Done.'))
    one.followup({ id: `p${calls}`, role: 'user', content: [{ type: 'text', text: 'go' }], source: { kind: 'user' } })
    await one.whenIdle()
    const result = one.session.events(before).find((event) => event.type === 'tool/result')
    if (result?.type !== 'tool/result') throw new Error('there is no result')
    const [block] = result.data.message.content
    return { isError: block.isError, code: result.data.error?.code ?? null, text: block.content.map((part) => (part.type === 'text' ? part.text : '')).join('') }
  }
  return { whole, agent, asked, call, folder: whole.folder }
}

let open: WholeApplication | undefined
afterEach(async () => {
  await open?.dispose()
  open = undefined
})
const start = async (...of: Parameters<typeof withPerson>) => {
  const made = await withPerson(...of)
  open = made.whole
  return made
}

describe('asking for wider rights, which no tool offers as long as nothing confines it', () => {
  const calls: readonly (readonly [tool: string, args: object])[] = [
    ['bash', { command: 'touch made', description: 'x' }],
    ['write', { file_path: 'made', content: 'x' }],
    ['edit', { file_path: 'there', old_string: 'a', new_string: 'b' }],
  ]
  const fields: readonly (readonly [name: string, fields: object])[] = [
    ['one of the two fields', { justification: 'I want to' }],
    ['the other one alone', { sandbox_permissions: 'danger-full-access' }],
    ['a mode that is not wider', { sandbox_permissions: 'workspace-write', justification: 'I want to' }],
    ['a wider mode', { sandbox_permissions: 'danger-full-access', justification: 'I want to' }],
    ['fields of another kind', { sandbox_permissions: 7, justification: null }],
  ]
  it.each(fields)('by %s is refused without a question, and nothing runs', async (_name, more) => {
    const { call, asked, folder } = await start(() => ({ outcome: 'allowed-once' }))
    await writeFile(join(folder, 'there'), 'a')
    await call('read', { file_path: 'there' })
    for (const [tool, args] of calls) expect(await call(tool, { ...args, ...more })).toMatchObject({ isError: true, code: 'INVALID_ARGS', text: expect.stringMatching(new RegExp(`${tool} does not offer [^.]*\\. Correct them`)) as string })
    expect([asked, await isThere(join(folder, 'made')), await readFile(join(folder, 'there'), 'utf8')]).toEqual([[], false, 'a'])
  })
})

describe('a question', () => {
  const touch = ['bash', { command: 'touch made', description: 'x' }] as const
  it.each<[string, ApprovalAnswer]>([['rejected', { outcome: 'rejected' }], ['cancelled', { outcome: 'cancelled' }]])('that is %s runs nothing', async (_name, answer) => {
    const { call, asked, folder } = await start(() => answer)
    expect((await call(...touch)).isError).toBe(true)
    expect([asked.length, await isThere(join(folder, 'made'))]).toEqual([1, false])
  })
  it('that is allowed once lets this call alone run: the next one asks again', async () => {
    const answers: ApprovalAnswer[] = [{ outcome: 'allowed-once' }]
    const { call, asked, folder } = await start(() => answers.shift() ?? { outcome: 'rejected' })
    expect((await call(...touch)).isError).toBe(false)
    await rm(join(folder, 'made'))
    expect((await call(...touch)).isError).toBe(true)
    expect([asked.length, await isThere(join(folder, 'made'))]).toEqual([2, false])
  })
})

describe('the fence of the workspace', () => {
  const allowEdits = { 'permissions.rules': [{ tool: 'write', path: '**', decision: 'allow' }, { tool: 'edit', path: '**', decision: 'allow' }] } as unknown as SettingValues
  /** Beside the workspace, outside of it. */
  const outside = async (folder: string, name: string) => {
    const path = join(folder, '..', name)
    await mkdir(path, { recursive: true })
    return path
  }

  it('lets a rule of the workspace write inside', async () => {
    const { call, asked, folder } = await start(null, allowEdits)
    expect((await call('write', { file_path: 'in/side', content: 'x' })).isError).toBe(false)
    expect([asked, await isThere(join(folder, 'in/side'))]).toEqual([[], true])
  })

  it.each([['a path with ..', '../beyond/new'], ['a link that leads out', 'link/new'], ['a new file below a linked folder', 'link/deep/er/new']])('denies %s when nobody allows it, and nothing is made', async (_name, file_path) => {
    const { call, folder } = await start(null, allowEdits)
    const beyond = await outside(folder, 'beyond')
    await symlink(beyond, join(folder, 'link'))
    expect(await call('write', { file_path, content: 'x' })).toMatchObject({ isError: true, code: 'DENIED' })
    expect([await isThere(join(beyond, 'new')), await isThere(join(beyond, 'deep/er/new'))]).toEqual([false, false])
  })

  it('denies an edit through a link to a file outside when nobody allows it', async () => {
    const { call, folder } = await start((request) => ({ outcome: request.toolName === 'read' ? 'allowed-once' : 'rejected' }), allowEdits)
    const beyond = await outside(folder, 'beyond')
    await writeFile(join(beyond, 'file'), 'a')
    await symlink(join(beyond, 'file'), join(folder, 'alias'))
    await call('read', { file_path: 'alias' })
    expect(await call('edit', { file_path: 'alias', old_string: 'a', new_string: 'b' })).toMatchObject({ isError: true, code: 'DENIED' })
    expect(await readFile(join(beyond, 'file'), 'utf8')).toBe('a')
  })

  it('holds a second folder of the workspace as well', async () => {
    let second = ''
    const { call, asked, folder } = await start(null, allowEdits, (world) => {
      second = join(world.workspace.folders()[0]?.path ?? '', '..', 'second')
      const folders = [...world.workspace.folders(), { name: 'second', path: second }]
      return { ...world, workspace: { ...world.workspace, folders: () => folders } }
    })
    await mkdir(second)
    expect(await call('write', { file_path: join(second, 'new'), content: 'x' })).toMatchObject({ isError: false })
    expect([asked, await readFile(join(folder, '../second/new'), 'utf8')]).toEqual([[], 'x'])
  })
})

describe('a folder that is not trusted', () => {
  it('has no shell and takes no change; with trust the tools are back', async () => {
    let isTrusted = false
    const listeners = new Set<() => void>()
    const { call, whole, agent, asked, folder } = await start(() => ({ outcome: 'allowed-once' }), {}, (world) => ({
      ...world,
      workspace: {
        ...world.workspace,
        isTrusted: () => isTrusted,
        onDidChangeTrust(listener) {
          listeners.add(listener)
          return () => void listeners.delete(listener)
        },
      },
    }))
    const names = () => whole.ctx.tools.schemas(agent.scope).map(({ name }) => name)
    expect(names().filter((name) => ['bash', 'write', 'read'].includes(name))).toEqual(['read'])
    // What cannot work is not declared; what is declared says why it may not do this.
    expect(await call('write', { file_path: 'made', content: 'x' })).toMatchObject({ isError: true, code: 'UNKNOWN_TOOL' })
    expect(await call('bash', { command: 'touch made', description: 'x' })).toMatchObject({ isError: true, code: 'UNKNOWN_TOOL' })
    expect(await call('read', { file_path: '/etc/hosts' })).toMatchObject({ isError: true, code: 'WORKSPACE_UNTRUSTED' })
    expect(await call('job_output', { job_id: 'bash-1', input: 'x' })).toMatchObject({ isError: true, code: 'WORKSPACE_UNTRUSTED' })
    expect([asked, await isThere(join(folder, 'made'))]).toEqual([[], false])
    isTrusted = true
    for (const listener of [...listeners]) listener()
    expect(names().filter((name) => ['bash', 'write', 'read'].includes(name)).toSorted()).toEqual(['bash', 'read', 'write'])
    expect(await call('bash', { command: 'touch made', description: 'x' })).toMatchObject({ isError: false })
    expect(await isThere(join(folder, 'made'))).toBe(true)
  })
})
