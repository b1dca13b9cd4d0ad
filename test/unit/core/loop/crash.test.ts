import { describe, expect, it } from 'vitest'
import type { Message } from '../../../../extension/core/log/message.ts'
import { createLoopRig, fakeTool, linesOf, prompt, settled, textOf } from '../../../support/loop-rig.ts'
import type { ScriptedAnswer } from '../../../support/scripted-adapter.ts'
import { createMemoryDisk, createMemoryEventStore } from '../../../support/memory-event-store.ts'
import { callTools, failWith, reasoningParts, sayText, textParts } from '../../../support/scripted-adapter.ts'

const tools = () => [fakeTool('look', undefined, { isConcurrencySafe: () => true }), fakeTool('act', (_args, exec) => (exec.deferContext(note), 'did'))]
const note = { ...prompt('note'), source: { kind: 'plugin' as const, plugin: 'test' } }
const answers: readonly ScriptedAnswer[] = [
  [
    ...reasoningParts('think'),
    ...textParts('I look', 1),
    ...callTools({ id: 'a', name: 'look', args: {} }, { id: 'b', name: 'look', args: {} }, { id: 'c', name: 'act', args: {} }).map((part) =>
      'index' in part ? { ...part, index: part.index + 2 } : part,
    ),
  ],
  failWith({ code: 'SERVER', message: 'busy' }),
  sayText('done'),
]

/** The stored lines of a whole turn with overlapping tools, a retry, a steered message and a queued prompt. */
async function recorded(): Promise<{ readonly id: string; readonly lines: readonly string[] }> {
  const rig = createLoopRig({ answers, tools: tools() })
  const agent = await rig.newAgent()
  agent.followup(prompt('go'))
  agent.followup(prompt('later'))
  rig.ctx.on('tools/result', ({ callId }) => void (callId === 'a' && agent.steer(prompt('steered'))))
  await settled()
  rig.clock.advance(600)
  // The second prompt finds no answer in the script and fails, which ends the recording.
  await agent.whenIdle()
  await agent.session.flush()
  return { id: agent.id, lines: rig.store.disk.logs.get(agent.id)!.text.trimEnd().split('\n') }
}

/** Every answerable question of a provider about a talk: calls have exactly one result each, right after them. */
function imbalance(messages: readonly Message[]): readonly string[] {
  const problems: string[] = []
  let open = new Set<string>()
  for (const message of messages) {
    if (message.role === 'tool') {
      const { callId } = message.source
      if (!open.delete(callId)) problems.push(`result ${callId} answers nothing`)
      continue
    }
    problems.push(...[...open].map((id) => `call ${id} has no result`))
    open = new Set(message.role === 'assistant' ? message.content.flatMap((block) => (block.type === 'tool-call' ? [block.id] : [])) : [])
  }
  return [...problems, ...[...open].map((id) => `call ${id} has no result`)]
}

const { id, lines } = await recorded()

describe('a log cut off after any of its events', () => {
  const places = lines.map((_line, index) => [index] as const)
  it('was a rich one', () => {
    const types = new Set(lines.slice(1).map((line) => (JSON.parse(line) as { type: string }).type))
    for (const type of ['tool/call', 'tool/result', 'llm/retry', 'agent/inbox/spliced', 'request/header', 'turn/end']) expect(types).toContain(type)
    expect(lines.length).toBeGreaterThan(40)
  })

  it.each(places)('opens after line %i, closes what was open, loses no words, and the next request can be made', async (last) => {
    const disk = createMemoryDisk()
    disk.logs.set(id, { text: `${lines.slice(0, last + 1).join('\n')}\n`, cuts: new Map(), note: null, modifiedAt: 0, lease: null })
    const rig = createLoopRig({ store: createMemoryEventStore({ disk }), tools: tools(), answers: Array.from({ length: 9 }, () => sayText('ok')) })
    const agent = await rig.agents.resume(id)
    const story = linesOf(agent.session)
    expect(story.filter((line) => line.startsWith('turn ')).length).toBe(story.filter((line) => line.startsWith('end ')).length)
    expect(story.filter((line) => /^step \d/.test(line)).length).toBe(story.filter((line) => line === 'step end').length)
    expect(agent.session.messages().length === 0 ? [] : imbalance(agent.session.messages())).toEqual([])

    agent.followup(prompt('next'))
    await agent.whenIdle()
    for (const { messages } of rig.adapter.requests) expect(imbalance(messages)).toEqual([])
    const told = rig.adapter.requests.at(-1)?.messages.map(textOf) ?? []
    const words = ['go', 'later', 'steered', 'note'].filter((word) => lines.slice(0, last + 1).some((line) => line.includes(`prompt ${word}`)))
    for (const word of [...words, 'next']) expect(told.filter((text) => text === word)).toEqual([word])
    expect(linesOf(agent.session).at(-1)).toBe('end completed')
  })
})
