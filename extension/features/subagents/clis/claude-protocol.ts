import { isJsonObject, type Json, type JsonObject } from '../../../base/json.ts'
import { MAX_ANSWER, type CliProtocol, type CliStage, type CliStep, type CliVerdict } from './cli.ts'
import { at, textAt } from './fields.ts'

type Step = 'query-start' | 'query-run' | 'ended'
type Word = 'begun' | 'result'

/** What may be heard when, and where it leads. A query that fails at once has a result and nothing before it. */
const claudeMoves: Readonly<Record<Step, Partial<Record<Word, Step>>>> = {
  'query-start': { begun: 'query-run', result: 'ended' },
  'query-run': { begun: 'query-run', result: 'ended' },
  ended: {},
}

const INTERRUPT_ID = 'bosun-interrupt'

/**
 * One task for `claude -p` with streams of JSON on both sides.
 *
 * Only a result that is a success, no error and not blank is an answer.
 * Source: Claude Code, "Run Claude Code programmatically" and the Agent SDK's message types; control requests as its SDKs answer them.
 */
export class ClaudeProtocol implements CliProtocol {
  readonly #prompt: string
  #step: Step = 'query-start'
  #streaming = ''
  #lastText = ''

  constructor(prompt: string) {
    this.#prompt = prompt
  }

  get stage(): CliStage {
    return this.#step === 'ended' ? 'teardown' : this.#step
  }

  get isWorking(): boolean {
    return this.#step === 'query-run'
  }

  get partial(): string {
    return this.#streaming !== '' ? this.#streaming : this.#lastText
  }

  begin(): readonly JsonObject[] {
    return [{ type: 'user', message: { role: 'user', content: [{ type: 'text', text: this.#prompt }] }, parent_tool_use_id: null, session_id: '' }]
  }

  interrupt(): readonly JsonObject[] {
    return this.#step === 'query-run' ? [{ type: 'control_request', request_id: INTERRUPT_ID, request: { subtype: 'interrupt' } }] : []
  }

  receive(message: JsonObject): CliStep {
    if (this.#step === 'ended') return {}
    const { type } = message
    if (type === 'control_request') return this.#asked(message)
    if (type === 'result') return this.#result(message)
    // Answers to our own requests, and signs of life.
    if (type === 'control_response' || type === 'keep_alive') return {}
    this.#step = claudeMoves[this.#step].begun ?? this.#step
    // What agents say that it starts itself is told to it alone.
    if ((message['parent_tool_use_id'] ?? null) !== null) return {}
    if (type === 'stream_event') this.#stream(message)
    if (type === 'assistant') this.#said(message)
    return {}
  }

  #asked(message: JsonObject): CliStep {
    const id = message['request_id'] ?? null
    if (textAt(message, 'request', 'subtype') === 'can_use_tool') {
      const response = { behavior: 'deny', message: 'Nobody is there to be asked. Go on without it, and say in your answer what you could not do.' }
      return { send: [{ type: 'control_response', response: { subtype: 'success', request_id: id, response } }] }
    }
    return {
      send: [{ type: 'control_response', response: { subtype: 'error', request_id: id, error: 'Not supported.' } }],
      ...this.#over({ stopReason: 'error', problem: 'It asked for something that Bosun does not know how to answer. A newer Bosun, or an older Claude Code, may go together.' }),
    }
  }

  #stream(message: JsonObject): void {
    const kind = textAt(message, 'event', 'type')
    if (kind === 'message_start') this.#streaming = ''
    if (kind !== 'content_block_delta' || textAt(message, 'event', 'delta', 'type') !== 'text_delta') return
    if (this.#streaming.length < MAX_ANSWER) this.#streaming += textAt(message, 'event', 'delta', 'text') ?? ''
  }

  #said(message: JsonObject): void {
    const text = textsIn(at(message, 'message', 'content')).join('\n')
    this.#streaming = ''
    if (text.trim() !== '') this.#lastText = text.slice(0, MAX_ANSWER)
  }

  #result(message: JsonObject): CliStep {
    const answer = textAt(message, 'result') ?? ''
    if (message['subtype'] !== 'success' || message['is_error'] === true) return this.#over({ stopReason: 'error', problem: 'Its query failed.', said: failureIn(message) })
    if (answer.trim() === '') return this.#over({ stopReason: 'error', problem: 'It ended without an answer.' })
    return this.#over({ stopReason: 'completed', output: answer.slice(0, MAX_ANSWER) })
  }

  /** With what it said so far, unless there is an answer. */
  #over(verdict: Omit<CliVerdict, 'output' | 'stage'> & { readonly output?: string }): CliStep {
    const end = { output: this.partial, ...verdict, stage: this.stage }
    this.#step = 'ended'
    return { end }
  }
}

function textsIn(content: Json | undefined): readonly string[] {
  if (!Array.isArray(content)) return []
  return (content as readonly Json[]).flatMap((block) => (isJsonObject(block) && block['type'] === 'text' && typeof block['text'] === 'string' ? [block['text']] : []))
}

/** The words of a failed result: what it gives as result, else its errors, else its kind. */
function failureIn(message: JsonObject): string {
  const { result, errors, subtype } = message
  if (typeof result === 'string' && result.trim() !== '') return result
  if (Array.isArray(errors) && errors.length > 0) return (errors as readonly Json[]).filter((error) => typeof error === 'string').join('; ')
  return typeof subtype === 'string' ? subtype : 'error'
}
