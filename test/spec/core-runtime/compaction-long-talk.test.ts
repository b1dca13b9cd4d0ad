import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { SessionEvent } from '../../../extension/core/log/event.ts'
import type { Message } from '../../../extension/core/log/message.ts'
import type { ModelAdapter, ModelRequest, StreamChunk } from '../../../extension/core/model/contract.ts'
import { estimateRequestTokens } from '../../../extension/core/model/token-estimate.ts'
import { createMemoryEventStore } from '../../support/memory-event-store.ts'
import { runCount } from '../../support/run-count.ts'
import { callParts, createScriptedAdapter, failWith, textParts } from '../../support/scripted-adapter.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const contextWindow = 64_000
const steps = runCount({ full: 2_000, desk: 500 })
const stepsPerTurn = 250
const goal = `Read every file, again and again, and tell me what has changed. ${'Keep to the rules of the house. '.repeat(20)}`
const files = 30

let application: WholeApplication | undefined
afterEach(() => application?.dispose())

interface Asked {
  readonly purpose: ModelRequest['purpose']
  readonly tokens: number
  /** System prompt and tools, as one text. */
  readonly prefix: string
  readonly hasGoal: boolean
  /** Of the last ten reads, those that are neither there with their text nor named with their range. */
  readonly lost: readonly string[]
}

/** A model that counts in its own, dearer tokens, refuses what does not fit, and reads one file after the other. */
function createReader(asked: Asked[]): ModelAdapter {
  const reads: { readonly callId: string; readonly name: string }[] = []
  let step = 0
  const tokensOf = (request: ModelRequest) => Math.ceil(1.3 * estimateRequestTokens(request))
  const answer = (request: ModelRequest): readonly StreamChunk[] => {
    const tokens = tokensOf(request)
    const { system = '', tools, messages, purpose } = request
    const seen = purpose === 'turn' ? lostOf(reads.slice(-10), messages) : []
    asked.push({ purpose, tokens, prefix: JSON.stringify([system, tools]), hasGoal: messages.some((message) => wordsOf(message).includes(goal)), lost: seen })
    if (tokens > contextWindow) return failWith({ code: 'CONTEXT_WINDOW_EXCEEDED', message: `${tokens} tokens are too many.` })
    const usage: StreamChunk = { type: 'usage', usage: { inputTokens: tokens, outputTokens: 60, cacheRead: 0, cacheWrite: 0, reasoning: 0 } }
    if (purpose === 'compaction') return [...textParts(`Eight parts about ${messages.length} messages. ${'It went well. '.repeat(60)}`), usage, { type: 'finish', reason: { kind: 'stop' } }]
    step++
    if (step % stepsPerTurn === 0) return [...textParts('That was one round.'), usage, { type: 'finish', reason: { kind: 'stop' } }]
    const offset = 1 + (step % 7)
    const file_path = `part-${step % files}.txt`
    const callId = `call-${step}`
    reads.push({ callId, name: `${file_path}, lines ${offset} to ${offset + 99}` })
    return [...textParts(`Step ${step}.`), ...callParts({ id: callId, name: 'read', args: { file_path, offset, limit: 100 } }, 1), usage, { type: 'finish', reason: { kind: 'tool-calls' } }]
  }
  return {
    ...createScriptedAdapter([], { model: { contextWindow, maxOutputTokens: 8_000 } }),
    async *stream(request) {
      yield* answer(request)
    },
  }
}

function lostOf(reads: readonly { readonly callId: string; readonly name: string }[], messages: readonly Message[]): readonly string[] {
  const shown = new Set(messages.flatMap(({ content }) => content.flatMap((block) => (block.type === 'tool-result' ? [block.callId] : []))))
  const words = messages.filter(({ source }) => source.kind === 'plugin').map(wordsOf).join('\n')
  return reads.filter(({ callId, name }) => !shown.has(callId) && !words.includes(`- ${name}`)).map(({ name }) => name)
}

const wordsOf = ({ content }: Message) => content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
// The filter leaves events of this type only.
const ofType = <T extends SessionEvent['type']>(events: readonly SessionEvent[], type: T) => events.filter((event) => event.type === type) as unknown as readonly SessionEvent<T>[]

describe('a talk of many steps with a model of 64 000 tokens', () => {
  it('always fits, keeps the goal and the last ten reads, and shrinks with each compaction', { timeout: 240_000 }, async () => {
    application = await wholeApplication({
      settings: { 'model.provider': 'scripted', 'model.name': 'm1', 'agent.maxStepsPerTurn': 0 },
      // What is tested is what the model is shown; waiting for a disk would take most of the time.
      alter: (world) => ({ ...world, events: createMemoryEventStore() }),
    })
    for (let index = 0; index < files; index++) {
      const line = `Line of part ${index}, `.padEnd(20 + 8 * (index % 12), 'x')
      await writeFile(join(application.folder, `part-${index}.txt`), `${Array.from({ length: 120 }, (_, at) => `${line}${at}`).join('\n')}\n`)
    }
    const asked: Asked[] = []
    application.ctx.models.register(createReader(asked))
    const agent = await application.ctx.agents.create({ cwd: application.folder })
    for (let turn = 0; turn < steps / stepsPerTurn; turn++) {
      agent.followup({ id: `p${turn}`, role: 'user', content: [{ type: 'text', text: turn === 0 ? goal : `Once more, round ${turn + 1}.` }], source: { kind: 'user' } })
      await agent.whenIdle()
    }

    const events = agent.session.milestones()
    const turns = asked.filter(({ purpose }) => purpose === 'turn')
    expect([turns.length, new Set(ofType(events, 'turn/end').map(({ data }) => data.reason.kind))]).toEqual([steps, new Set(['completed'])])
    expect(Math.max(...asked.map(({ tokens }) => tokens))).toBeLessThanOrEqual(contextWindow)
    expect(turns.filter(({ hasGoal }) => !hasGoal)).toEqual([])
    expect(turns.flatMap(({ lost }) => lost)).toEqual([])
    expect(new Set(asked.map(({ prefix }) => prefix)).size).toBe(1)
    const ends = ofType(events, 'compaction/end')
    expect(ends.length).toBeGreaterThan(steps / 200)
    expect(ends.filter(({ data }) => data.error !== undefined)).toEqual([])
    const compactions = asked.flatMap(({ purpose }, index) => (purpose === 'compaction' ? [{ before: asked[index - 1]!.tokens, after: asked[index + 1]!.tokens }] : []))
    expect(compactions.length).toBe(ends.length)
    for (const { before, after } of compactions) expect(after).toBeLessThan(before * 0.6)
    // The person still has all of it.
    expect(ofType(events, 'tool/call').length).toBe(ofType(events, 'tool/result').filter(({ surfaceOp }) => surfaceOp === 'append').length)
  })
})
