import { isJsonObject, type JsonObject } from '../../extension/base/json.ts'
import type { SessionEvent } from '../../extension/core/log/event.ts'

type Facts = { readonly turn?: number; readonly step?: number; readonly callId?: string; readonly id?: string; readonly commandId?: string; readonly retryId?: string; readonly compactionId?: string }

/** The rules of runtime specification 11.8 over a whole log, told plainly and without regard to cost. */
export function brokenRules(events: readonly SessionEvent[]): readonly string[] {
  const problems: string[] = []
  const expectThat = (isTrue: boolean, problem: string) => void (isTrue || problems.push(problem))
  let turn = 0
  let step = 0
  let open: 'nothing' | 'turn' | 'step' = 'nothing'
  let called: string[] = []
  let answered: string[] = []
  let compaction: string | null = null
  const pairs = { asked: new Set<string>(), ran: new Set<string>(), scheduled: new Set<string>() }
  const opens = (pair: Set<string>, id: string, at: string) => {
    expectThat(!pair.has(id), at)
    pair.add(id)
  }
  for (const [index, { seq, type, data, surfaceOp }] of events.entries()) {
    const facts = data as Facts
    const at = `${type} at ${seq}`
    expectThat(seq === index, `number ${seq} at ${index}`)
    const isHere = open === 'step' && facts.turn === turn && facts.step === step
    switch (type) {
      case 'turn/start':
        expectThat(open === 'nothing' && facts.turn === turn + 1, at)
        ;[open, turn, step] = ['turn', turn + 1, 0]
        break
      case 'turn/end':
        expectThat(open === 'turn' && facts.turn === turn, at)
        open = 'nothing'
        break
      case 'step/start':
        expectThat(open === 'turn' && facts.turn === turn && facts.step === step + 1, at)
        ;[open, step, called, answered] = ['step', step + 1, [], []]
        break
      case 'step/end':
        expectThat(isHere, at)
        open = 'turn'
        break
      case 'assistant/chunk':
        expectThat(isHere, at)
        break
      case 'assistant/message':
        expectThat(isHere || surfaceOp !== 'append', at)
        break
      case 'tool/call':
        expectThat(isHere && !called.includes(facts.callId!), at)
        called.push(facts.callId!)
        break
      case 'tool/result': {
        if (surfaceOp !== 'append') break
        const { callId } = data.message.content[0]
        expectThat(isHere && called.includes(callId) && !answered.includes(callId), at)
        answered.push(callId)
        break
      }
      case 'request/header':
      case 'request/context':
        expectThat(open !== 'nothing', at)
        break
      case 'approval/asked':
        opens(pairs.asked, facts.id!, at)
        break
      case 'approval/decided':
        expectThat(pairs.asked.delete(facts.id!), at)
        break
      case 'command/run':
        opens(pairs.ran, facts.commandId!, at)
        break
      case 'command/done':
        expectThat(pairs.ran.delete(facts.commandId!), at)
        break
      case 'llm/retry':
        expectThat(isHere, at)
        opens(pairs.scheduled, facts.retryId!, at)
        break
      case 'llm/retry-started':
        expectThat(isHere && pairs.scheduled.delete(facts.retryId!), at)
        break
      case 'compaction/start':
        expectThat(compaction === null, at)
        compaction = facts.compactionId!
        break
      case 'compaction/summary':
        expectThat(compaction === facts.compactionId, at)
        break
      case 'compaction/end':
        expectThat(compaction === facts.compactionId, at)
        compaction = null
        break
      case 'session/end-seed':
        // What a crash cut off is over.
        compaction = null
        break
      default:
        if (/^(todo|hook)\//.test(type)) expectThat(open !== 'nothing', at)
    }
  }
  return problems
}

/** The whole lines of a stored log after its header. */
export function storedLines(text: string): readonly JsonObject[] {
  return text.split('\n').slice(1).flatMap((line) => {
    try {
      const value = JSON.parse(line) as JsonObject
      return isJsonObject(value) ? [value] : []
    } catch {
      // Half a line.
      return []
    }
  })
}

/** Events in the lines of a log; a line of packed parts holds as many as it has deltas. */
export const storedCount = (text: string): number => storedLines(text).reduce((count, { deltas }) => count + (Array.isArray(deltas) ? deltas.length : 1), 0)

/**
 * What a model was asked, made again from nothing but the text of a log: the last header, and the messages that stand on the surface.
 * Written apart from the code under test, so that both must agree.
 */
export function requestFromLog(text: string): string {
  let header: JsonObject = {}
  const nodes: JsonObject[] = []
  for (const { type, data, surfaceOp } of storedLines(text) as readonly { readonly type: string; readonly data: JsonObject; readonly surfaceOp?: 'append' | { readonly start: number; readonly end: number } }[]) {
    if (type === 'request/header') header = data['header'] as JsonObject
    const message = type === 'user/message' ? data : (data?.['message'] as JsonObject)
    if (surfaceOp === 'append') nodes.push(message)
    else if (surfaceOp !== undefined) nodes.splice(surfaceOp.start, surfaceOp.end - surfaceOp.start + 1, message)
  }
  const messages = nodes.filter(({ role, content }) => role === 'user' || (content as readonly unknown[]).length > 0)
  return JSON.stringify({ system: header['system'], tools: header['tools'] ?? [], messages, config: header['config'] })
}
