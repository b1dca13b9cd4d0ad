import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compactionPlugin } from '../../../extension/core/compaction/plugin.ts'
import type { ModelRequest } from '../../../extension/core/model/contract.ts'
import type { Agent } from '../../../extension/core/session/agent.ts'
import { createFakeMachine } from '../../support/fake-machine.ts'
import { brokenRules, requestFromLog, storedCount, storedLines } from '../../support/log-rules.ts'
import { createLoopRig, fakeTool, prompt, settled, type LoopRig } from '../../support/loop-rig.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { createMemoryBlobStore } from '../../support/memory-blob-store.ts'
import { createMemoryEventStore, type MemoryDisk } from '../../support/memory-event-store.ts'
import { createRecordingLogger } from '../../support/quiet-logger.ts'
import { callTools, createScriptedAdapter, failWith, sayText, textParts, type ScriptedPart } from '../../support/scripted-adapter.ts'

const long = (word: string) => `${word} `.repeat(1_200)
/** What the model answers, by a number of the script. */
const answers: readonly ((id: string) => readonly ScriptedPart[])[] = [
  () => sayText('fine'),
  () => sayText(long('answer')),
  (id) => callTools({ id: `${id}a`, name: 'look', args: {} }, { id: `${id}b`, name: 'act', args: { n: 1 } }),
  (id) => callTools({ id: `${id}a`, name: 'look', args: {} }),
  () => [...textParts('half'), { type: 'hang' }],
  () => failWith({ code: 'SERVER', message: 'busy' }),
  () => failWith({ code: 'RATE_LIMIT', message: 'wait', providerRetryAfterMs: 1_000 }),
  () => failWith({ code: 'AUTH', message: 'no' }),
  () => failWith({ code: 'CONTEXT_WINDOW_EXCEEDED', message: 'Too many tokens.' }),
  () => [...textParts('cut'), { type: 'finish', reason: { kind: 'max-tokens' } }],
]
const moods = ['allow', 'deny', 'rewrite', 'reject'] as const

const deeds = fc.oneof(
  { weight: 8, arbitrary: fc.record({ verb: fc.constantFrom('followup', 'steer', 'inject'), text: fc.constantFrom('short', long('question')), isHurried: fc.boolean() }) },
  { weight: 5, arbitrary: fc.record({ verb: fc.constantFrom('stop', 'cancel', 'continue', 'compact', 'advance', 'advance', 'advance', 'wait'), isHurried: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ verb: fc.constant('hook'), mood: fc.constantFrom(...moods) }) },
  { weight: 3, arbitrary: fc.record({ verb: fc.constantFrom('reload', 'crash', 'full disk') }) },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant('cut'), part: fc.integer({ min: 0, max: 1_000 }).map((thousandths) => thousandths / 1_000) }) },
)
type Deed = { readonly verb: string; readonly text?: string; readonly isHurried?: boolean; readonly mood?: (typeof moods)[number]; readonly part?: number }

const seed = Number(process.env['BOSUN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

it(`whatever happens, and whenever the host or the disk dies, the log keeps its rules, loses nothing durable, and tells every request (seed ${seed})`, async () => {
  await history(seed, 80)
}, 60_000)

it('the moves reach what they are about', async () => {
  const types = await history(7, 50)
  for (const type of ['compaction/summary', 'compaction/prune', 'tool/rewritten', 'llm/retry-started', 'log/repaired'] as const) expect(types).toContain(type)
}, 60_000)

/** The types of all events that came up. */
async function history(of: number, numRuns: number): Promise<ReadonlySet<string>> {
  const reached = new Set<string>()
  const scripts = fc.array(fc.nat(answers.length - 1), { minLength: 80, maxLength: 80 })
  await fc.assert(
    fc.asyncProperty(fc.array(deeds, { minLength: 5, maxLength: 30 }), scripts, async (sequence, script) => {
      const world = new World(script)
      await world.start()
      for (const deed of sequence) await world.act(deed)
      await world.end()
      for (const { type } of world.events()) reached.add(type)
    }),
    { numRuns, seed: of, timeout: 10_000 },
  )
  return reached
}

/** One session over one disk, through as many hosts as die. */
class World {
  readonly #script: number[]
  #disk: MemoryDisk = createMemoryEventStore().disk
  #rig!: LoopRig
  #agent!: Agent
  #mood: (typeof moods)[number] = 'allow'
  #sent = 0
  #asked = 0
  /** What went wrong inside the model and the tools, where a throw would only be one more failed request. */
  readonly #problems: string[] = []
  /** Events that a flush has promised. */
  #durable = 0

  constructor(script: readonly number[]) {
    this.#script = [...script]
  }

  events() {
    return this.#agent.session.events()
  }

  async start(id?: string): Promise<void> {
    const store = createMemoryEventStore({ disk: this.#disk })
    const host = { isAlive: true }
    const adapter = createScriptedAdapter(Array.from({ length: 500 }, () => (request) => (host.isAlive ? this.#answer(request) : [{ type: 'hang' }])), { model: { contextWindow: 8_000, maxOutputTokens: 1_000 } })
    const rig = createLoopRig({
      store,
      adapter,
      settings: { 'agent.maxStepsPerTurn': 12, 'compaction.prune.trigger': 3_000, 'compaction.prune.head': 500, 'compaction.prune.tail': 200 },
      tools: [
        fakeTool('look', () => 'x'.repeat(4_000), { isConcurrencySafe: () => true }),
        fakeTool('act', (_args, { callId }) => {
          // Before it does anything, that it will stands on the disk.
          const isStored = storedLines(this.#text()).some(({ type, data }) => type === 'tool/call' && (data as { readonly callId?: string }).callId === callId)
          if (host.isAlive && !isStored) this.#problems.push(`The body of ${callId} ran before its call was durable.`)
          return 'did'
        }),
      ],
      prepare: (ctx, kernel) => void ctx.plugin(compactionPlugin({ clock: createManualClock(), machine: createFakeMachine(), logger: createRecordingLogger(), dispatch: kernel.dispatch, blobs: createMemoryBlobStore() })),
    })
    rig.ctx.on('agent/pre-step', (_place, next) => (this.#mood === 'reject' ? { kind: 'reject' } : next()))
    rig.ctx.on('tools/pre-execute', async ({ arguments: args }, next) => {
      if (this.#mood === 'deny') return { kind: 'deny', reason: 'not now' }
      const isRewritten = JSON.stringify(args) === '{"n":2}'
      return this.#mood === 'rewrite' && !isRewritten ? { kind: 'rewrite', arguments: { n: 2 }, by: 'a hook' } : await next()
    })
    this.#rig = rig
    this.#kill = async () => {
      host.isAlive = false
      store.crash()
      const dead = this.#agent
      dead.session.append = () => {
        throw new Error('dead')
      }
      await settled()
    }
    this.#fill = () => store.failWrites('disk full')
    this.#agent = id === undefined ? await rig.newAgent() : await rig.agents.resume(id)
    this.#watch(this.#agent, host)
  }
  #kill: () => Promise<void> = async () => {}
  #fill: () => void = () => {}

  async act({ verb, text = '', isHurried, mood, part }: Deed): Promise<void> {
    const agent = this.#agent
    if (verb === 'followup' || verb === 'steer' || verb === 'inject') agent[verb](prompt(text, `m${this.#sent++}`))
    else if (verb === 'stop') agent.cancel({ kind: 'user' }, { keepInbox: true })
    else if (verb === 'cancel') agent.cancel({ kind: 'user' })
    else if (verb === 'continue') agent.continueTurn()
    else if (verb === 'compact') void this.#rig.ctx.compaction.compact(agent).catch(() => {})
    else if (verb === 'advance') this.#rig.clock.advance(20_000)
    else if (verb === 'hook') this.#mood = mood!
    else if (verb === 'full disk') this.#fill()
    else if (verb !== 'wait') await this.#comeBack(verb, part ?? 1)
    if (isHurried !== true) await settled()
    this.#check()
  }

  /** Everything in the log once more, after all that happened. */
  async end(): Promise<void> {
    // A compaction that is stopped lets the turn begin that waited for it; that one is stopped too.
    for (let round = 0; round < 3; round++) {
      this.#agent.cancel({ kind: 'user' }, { keepInbox: true })
      await settled()
    }
    await this.#agent.whenIdle()
    this.#check()
    await this.#comeBack('reload', 1)
    const { session } = this.#agent
    const told = [session.messages(), session.projections().values, this.#agent.inbox]
    await this.#comeBack('reload', 1)
    expect([this.#agent.session.messages(), this.#agent.session.projections().values, this.#agent.inbox]).toEqual(told)
    await this.#rig.kernel.dispose()
  }

  #check(): void {
    expect([...this.#problems, ...brokenRules(this.events())]).toEqual([])
  }

  async #comeBack(how: string, part: number): Promise<void> {
    const { id } = this.#agent
    if (how === 'reload') await this.#rig.kernel.dispose().catch(() => {})
    const before = this.events()
    if (how !== 'reload') await this.#kill()
    if (!this.#disk.logs.has(id)) {
      expect(this.#durable).toBe(0)
      return this.start()
    }
    const log = this.#disk.logs.get(id)!
    expect(storedCount(log.text)).toBeGreaterThanOrEqual(this.#durable)
    if (how === 'cut') {
      const header = log.text.indexOf('\n') + 1
      log.text = log.text.slice(0, header + Math.floor((log.text.length - header) * part))
    }
    const kept = storedCount(log.text)
    await this.start(id)
    expect(this.events().slice(0, kept)).toEqual(before.slice(0, kept))
    this.#durable = kept
  }

  #answer(request: ModelRequest): readonly ScriptedPart[] {
    if (request.purpose !== 'turn') return sayText('Summary.')
    const { system, tools, messages, config } = request
    const asked = JSON.stringify({ system, tools, messages, config })
    const told = requestFromLog(this.#text())
    if (told !== asked) this.#problems.push(`A request is not what the log tells.\n${asked}\n${told}`)
    return answers[this.#script.shift() ?? 0]!(`c${this.#asked++}`)
  }

  /** What the disk holds at this moment. */
  #text(): string {
    return this.#disk.logs.get(this.#agent.id)?.text ?? ''
  }

  #watch({ session }: Agent, host: { readonly isAlive: boolean }): void {
    const flush = session.flush.bind(session)
    session.flush = async () => {
      const { length } = session
      await flush()
      if (host.isAlive && session.access === 'write') this.#durable = Math.max(this.#durable, length)
    }
  }
}
