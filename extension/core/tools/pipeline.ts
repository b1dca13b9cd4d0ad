import { assertNever } from '../../base/assert-never.ts'
import { readCallArguments } from '../../base/call-arguments.ts'
import { deepFreeze, halfCharacterIn, isJsonObject, jsonEquals, snapshotJson, stringifyJson } from '../../base/json.ts'
import type { Json } from '../../base/json.ts'
import { isHarnessError } from '../../base/harness-error.ts'
import { thrownText } from '../../base/thrown-text.ts'
import type { ToolContent, UserMessage } from '../log/message.ts'
import { noticeMessage, summaryProblem } from '../log/notice.ts'
import type { ApprovalAnswer } from '../policy/approval.ts'
import type { Agent } from '../session/agent.ts'
import { validate } from '../schema/validate.ts'
import { invalidArguments } from './define-tool.ts'
import { PresentedError, RESERVED_TOOL_NAME, ToolError } from './definition.ts'
import type {
  DenialCode,
  PolicyGrounds,
  BodyExecution,
  Execution,
  ExecutionRequest,
  ExecutionToken,
  MutableExecution,
  PostExecuteDecision,
  PreExecuteAnswer,
  PreExecuteDecision,
  ToolDefinition,
  ToolFailure,
  ToolResult,
  ToolSuccess,
} from './definition.ts'
import type { ToolRegistry } from './registry.ts'
import type { StagedExecution } from './service.ts'

/** How often listeners may put other arguments in the place of those that were judged. */
const MAX_REWRITES = 3
/** Who changed a call while answering for it. */
const THE_PERSON = 'the person'

/**
 * One call on its way: validate, pre-execute, guards | execute | post-execute, finalize, observe.
 *
 * The three stages are separate so that the scheduler can keep policy and commits in model order while bodies overlap.
 * No stage rejects: whatever goes wrong becomes the call's failed result.
 * Source: runtime specification 5.
 */
export class StagedCall implements StagedExecution {
  readonly #registry: ToolRegistry
  readonly #request: ExecutionRequest
  readonly #definition: ToolDefinition | undefined
  readonly #finalize: ToolDefinition['finalizeContent']
  /** It may only be called from a program here. */
  readonly #isCollapsed: boolean
  #exec: Execution
  readonly #deferred: UserMessage[] = []
  /** Results this call's own body made, which need no second look. */
  readonly #canonical: ToolResult[] = []
  #result: ToolResult | null = null
  /** Final: policy, wrappers or the pipeline itself failed, so post-execute is skipped. */
  #isFinal = false
  #isTurnConcluded = false
  /** The body from its start to its end, which never rejects; null before. */
  #body: Promise<ToolResult> | null = null
  /** Who put other arguments in the place of the model's, in order. */
  readonly #rewriters: string[] = []

  constructor(registry: ToolRegistry, request: ExecutionRequest) {
    this.#registry = registry
    this.#request = request
    const token: ExecutionToken = Object.freeze({ id: registry.randomId() })
    const scope = request.agent?.scope ?? null
    const definition = registry.get(request.name, scope)
    this.#isCollapsed = request.parent === undefined && request.name !== RESERVED_TOOL_NAME && registry.mode(scope) === 'code'
    this.#definition = this.#isCollapsed ? undefined : definition
    this.#finalize = definition?.finalizeContent?.bind(definition)
    let args: Json = null
    try {
      args = argumentsOf(request.name, request.arguments)
    } catch (error) {
      this.#end(failureOf(error))
    }
    this.#exec = Object.freeze({
      callId: request.callId,
      rootCallId: request.rootCallId ?? request.callId,
      name: request.name,
      arguments: args,
      ...(request.agent && { agent: request.agent }),
      token,
      ...(request.parent && { parent: request.parent }),
      signal: request.signal,
    })
    if (this.#isCollapsed && !this.#result) this.#result = failureOf(collapsed(request.name))
  }

  get #scope() {
    return this.#request.agent?.scope ?? null
  }

  async prepare(): Promise<void> {
    const { agent, callId, wasAsked = false } = this.#request
    this.#mustAsk = wasAsked
    await this.#prepare()
    // Refused, stopped or denied before anybody was asked again: what was asked before the window closed ends with it.
    if (wasAsked && agent !== undefined) this.#registry.approvals()?.withdraw(agent, callId)
  }

  #mustAsk = false

  async #prepare(): Promise<void> {
    if (this.#isFinal) return
    if (this.#isAborted()) return this.#end(failureOf(abortedBeforeDispatch()))
    if (this.#result) return
    const definition = this.#definition
    try {
      if (!definition) return this.#settle(failureOf(this.#unknown()))
      const violations = definition.validateArguments?.(this.#exec.arguments) ?? []
      if (violations.length > 0) return this.#settle(failureOf(refusedArguments(this.#exec, violations)))
      const denial = await this.#policy()
      if (denial) return this.#settle(denial)
    } catch (error) {
      return this.#end(failureOf(error))
    }
    if (this.#isAborted()) this.#end(failureOf(abortedBeforeDispatch()))
  }

  async run(): Promise<void> {
    if (this.#result) return
    const { dispatch } = this.#registry
    const mutable = viewForWrappers(this.#exec)
    try {
      const result = await dispatch.waterfall('tools/execute', this.#scope, [mutable], () => this.#called(mutable))
      // A wrapper may answer in its place or fail, but the body that was started is never left alone.
      await this.#body
      this.#settle(this.#canonical.includes(result) ? result : this.#renormalize(result))
    } catch (error) {
      await this.#body
      this.#end(failureOf(error))
    }
    if (this.#isAborted() && !this.#body) this.#failLateSuccess(abortedBeforeDispatch())
    else if (this.#isAborted()) this.#failLateSuccess(aborted())
  }

  async commit(): Promise<ToolResult> {
    const { dispatch } = this.#registry
    if (!this.#isFinal) {
      try {
        const decision = await dispatch.waterfall('tools/post-execute', this.#scope, [this.#exec, this.#outcome()], () =>
          Promise.resolve<PostExecuteDecision>({ kind: 'accept' }),
        )
        this.#result = this.#decide(decision)
        if (this.#isAborted()) this.#failLateSuccess(aborted())
      } catch (error) {
        this.#result = failureOf(error)
      }
    }
    const final = this.#finalized(this.#outcome())
    const grounds = snapshotOrNothing(this.#grounds) as PolicyGrounds | undefined
    const result = deepFreeze(this.#withNotice(grounds === undefined ? final : { ...final, policy: grounds }))
    dispatch.emit('tools/result', this.#scope, [this.#exec, result])
    return result
  }

  /** The arguments are as the person wrote them when they allowed the call. */
  #isPersons = false
  #grounds: PolicyGrounds | undefined

  /** The decision of listeners, then of the person, then of the guards. A result is a denial. */
  async #policy(): Promise<ToolFailure | null> {
    const allow = (): Promise<PreExecuteAnswer> => Promise.resolve({ kind: 'allow' })
    const { dispatch } = this.#registry
    let isAllowed = false
    let rewrites = 0
    while (!isAllowed) {
      const decision = this.#asAsked(await dispatch.waterfall('tools/pre-execute', this.#scope, [this.#exec], allow))
      switch (decision.kind) {
        case 'allow':
          isAllowed = true
          if (!this.#isPersons) this.#grounds = decision.grounds
          break
        case 'deny':
          this.#grounds = decision.grounds
          return denial(decision.reason, decision.code)
        case 'rewrite': {
          if (rewrites === MAX_REWRITES) return denial(`The arguments of ${this.#exec.name} were rewritten ${MAX_REWRITES} times and are still not settled, so it did not run.`)
          rewrites += 1
          this.#isPersons = false
          const refused = this.#rewrite(decision.arguments, decision.by)
          if (refused) return refused
          break
        }
        case 'ask': {
          // A call that was cancelled while policy thought is not put before the person.
          if (this.#isAborted()) return null
          // What the person wrote themselves a moment ago is not put before them again; only a denial can still stop it.
          if (this.#isPersons) {
            isAllowed = true
            break
          }
          const answer = await this.#ask(decision)
          if (answer === null) return null
          if ('isError' in answer) return answer
          if (answer.arguments === undefined || jsonEquals(answer.arguments, this.#exec.arguments)) {
            isAllowed = true
            break
          }
          const refused = this.#rewrite(answer.arguments, THE_PERSON)
          if (refused) return refused
          this.#isPersons = true
          break
        }
        default:
          // Listeners are others' code: what is no decision allows nothing.
          assertNever(decision, 'decision of a tools/pre-execute listener')
      }
    }
    if (this.#isAborted()) return null
    for (const guard of this.#registry.guards(this.#scope)) {
      const reason: unknown = guard(this.#exec)
      if (reason === undefined || reason === null) continue
      // A guard that is async by mistake has not said yes.
      if (typeof reason !== 'string') throw forgotten(reason, new TypeError('A guard answers at once, with a reason or with nothing.'))
      this.#grounds = { by: 'guard', why: reason }
      return denial(reason)
    }
    return null
  }

  /** Nothing runs by itself because a window was opened: what waited for the person is asked about also where it would be allowed now. */
  #asAsked(decision: PreExecuteAnswer): PreExecuteAnswer {
    if (!this.#mustAsk || decision.kind !== 'allow') return decision
    return { kind: 'ask', reason: decision.grounds?.why ?? 'You were asked before the window closed.' }
  }

  /** The call goes on with other arguments; the log and the model hear of it. A result is a refusal of them. */
  #rewrite(args: Json, by: string): ToolFailure | null {
    const { agent, name, callId } = this.#exec
    let next: Json
    try {
      next = argumentsOf(name, args)
    } catch (error) {
      return failureOf(error)
    }
    const violations = this.#definition?.validateArguments?.(next) ?? []
    if (violations.length > 0) return failureOf(new ToolError('INVALID_ARGS', `The arguments of ${name} as ${by} changed them are not valid: ${violations.join('; ')}`))
    this.#exec = Object.freeze({ ...this.#exec, arguments: next })
    const place = agent && openStepOf(agent)
    if (agent && place && this.#exec.parent === undefined)
      agent.session.append({ type: 'tool/rewritten', ignorable: true, data: { ...place, callId, arguments: stringifyJson(next), by } })
    this.#rewriters.push(by)
    return null
  }

  /** The model hears of other arguments than its own, however the call ended. */
  #withNotice(result: ToolResult): ToolResult {
    if (this.#rewriters.length === 0) return result
    const { name, callId, arguments: args } = this.#exec
    const by = [...new Set(this.#rewriters)].join(', then by ')
    const end = this.#body ? 'before it ran. It ran with' : 'and it did not run. They were'
    const notice = noticeMessage({
      id: this.#registry.randomId(),
      plugin: 'tools',
      text: `The arguments of the call ${callId} (${name}) were changed by ${by} ${end}: ${stringifyJson(args)}`,
      // What the person reads, while the text is for the model.
      summary: by === THE_PERSON ? `You changed the arguments of ${name}` : `Arguments of ${name} changed by ${by}`,
    })
    return { ...result, additionalContexts: [notice, ...(result.additionalContexts ?? [])] }
  }

  async #ask(decision: PreExecuteDecision & { readonly kind: 'ask' }): Promise<ToolFailure | { readonly arguments?: Json } | null> {
    const { agent, callId, name, arguments: args, signal } = this.#exec
    const approvals = this.#registry.approvals()
    const isEscalation = decision.details?.escalatesTo !== undefined
    if (!approvals || !agent) {
      if (isEscalation) return denial(agent ? `There are no approvals here, so ${name} cannot get wider permissions.` : `${name} was called outside of a session, so nobody can give it wider permissions.`, agent ? 'ESCALATION_NO_APPROVALS' : 'ESCALATION_NO_AGENT')
      return denial(decision.reason ?? `${name} needs approval, and there is nobody here who could give it.`)
    }
    this.#mustAsk = false
    const answer = await approvals.request({
      agent,
      toolName: name,
      callId,
      arguments: args,
      signal,
      ...(decision.reason !== undefined && { reason: decision.reason }),
      ...(decision.details && { details: decision.details }),
    })
    const why = decision.details?.why ?? decision.reason ?? ''
    this.#grounds = { by: 'person', why: `${why}${why === '' ? '' : ' '}${answerWords(answer)}` }
    if (answer.outcome === 'allowed-once') return answer.arguments === undefined ? {} : { arguments: answer.arguments }
    // The cancel of the call speaks for itself.
    if (answer.outcome === 'cancelled' && this.#isAborted()) return null
    return denial(refusalText(name, answer), isEscalation ? escalationCodes[answer.outcome] : undefined)
  }

  /** The end of the chain of wrappers. */
  #called(mutable: MutableExecution): Promise<ToolResult> {
    const definition = this.#definition
    // It may have gone, or have become another, while policy waited for the person.
    if (!definition || this.#registry.get(this.#exec.name, this.#scope) !== definition) return Promise.resolve(failureOf(this.#unknown()))
    const caller = this.#exec.signal
    const signal = mutable.signal === caller ? caller : AbortSignal.any([mutable.signal, caller])
    if (signal.aborted) return Promise.resolve(failureOf(this.#isAborted() ? abortedBeforeDispatch() : abortReason(signal)))
    const exec: BodyExecution = Object.freeze({
      ...this.#exec,
      signal,
      deferContext: (message: UserMessage) => void this.#deferred.push(...snapshots([message])),
      concludeTurn: () => void (this.#isTurnConcluded = true),
      progress: (text: string) => this.#request.onProgress?.(text),
    })
    const body = this.#normalizedBody(definition, exec)
    // A wrapper that tries again has the earlier body behind it; one that does not wait leaves both to be waited for.
    const earlier = this.#body
    this.#body = earlier ? Promise.all([earlier, body]).then(() => body) : body
    return body
  }

  async #normalizedBody(definition: ToolDefinition, exec: BodyExecution): Promise<ToolResult> {
    let result: ToolResult
    try {
      result = this.#success(definition, await definition.execute(exec.arguments, exec))
    } catch (error) {
      result = failureOf(error)
    }
    // Whoever sees it on the way answers with another result or leaves it as it is.
    deepFreeze(result)
    this.#canonical.push(result)
    return result
  }

  #success(definition: ToolDefinition, raw: unknown): ToolSuccess {
    const { output, name } = definition
    const args = this.#exec.arguments
    const value = canonicalValue(definition, raw)
    const content = contentOf(name, output.render(args, value))
    // Calls inside of another have no card of their own unless whoever makes them draws one.
    const meta = this.#exec.parent === undefined || this.#request.hasCard === true ? output.presentationMeta?.(args, value) : undefined
    return {
      isError: false,
      value,
      content,
      ...(meta !== undefined && { meta: snapshotJson(forgotten(meta, meta), `meta of ${name}`) }),
    }
  }

  /** A result that a wrapper made, or took from another call, is held to the same rules. */
  #renormalize(result: ToolResult): ToolResult {
    if (result.isError) {
      const { additionalContexts } = result
      const error = errorFacts(result.error)
      const meta = snapshotOrNothing(result.meta)
      return { isError: true, error, content: errorContent(error.message), ...(meta !== undefined && { meta }), ...(additionalContexts && { additionalContexts }) }
    }
    const definition = this.#stillRegistered()
    const { additionalContexts, concludesTurn } = result
    return {
      ...this.#success(definition, result.value),
      ...(additionalContexts && { additionalContexts }),
      ...(concludesTurn && { concludesTurn }),
    }
  }

  #unknown(): ToolError {
    const { name } = this.#exec
    return new ToolError('UNKNOWN_TOOL', this.#registry.absence(name) ?? `There is no tool named ${JSON.stringify(name)}. Use one of the declared tools.`)
  }

  #stillRegistered(): ToolDefinition {
    const definition = this.#definition
    if (!definition || this.#registry.get(this.#exec.name, this.#scope) !== definition) throw this.#unknown()
    return definition
  }

  #decide(decision: PostExecuteDecision): ToolResult {
    const result = this.#outcome()
    const added = decision.additionalContexts ?? []
    if (decision.kind === 'block') {
      return withContexts(failureOf(new ToolError('DENIED', decision.feedback)), [...(result.additionalContexts ?? []), ...added])
    }
    if (decision.kind !== 'accept') assertNever(decision, 'decision of a tools/post-execute listener')
    if (decision.content && decision.value !== undefined) throw new TypeError('A post-execute listener replaces the content or the value, not both.')
    if (decision.value !== undefined && result.isError) throw new TypeError('A failed result has no value to replace.')
    const concludesTurn = !result.isError && result.concludesTurn
    const replaced =
      decision.value !== undefined
        ? { ...this.#success(this.#stillRegistered(), decision.value), ...(concludesTurn && { concludesTurn }) }
        : decision.content
          ? { ...result, content: contentOf(this.#exec.name, decision.content) }
          : result
    return withContexts(replaced, [...this.#deferred, ...(result.additionalContexts ?? []), ...added])
  }

  #finalized(result: ToolResult): ToolResult {
    const concluded = !result.isError && this.#isTurnConcluded ? { ...result, concludesTurn: true as const } : result
    // To the model there is no such tool, so there is nothing of it to say; a cancelled call is said by its own words.
    if (!this.#finalize || (this.#isCollapsed && !this.#isFinal)) return concluded
    try {
      const content: unknown = this.#finalize(this.#exec, concluded)
      return content !== undefined && content !== null ? { ...concluded, content: contentOf(this.#exec.name, content) } : concluded
    } catch (error) {
      return failureOf(error)
    }
  }

  #outcome(): ToolResult {
    return this.#result ?? failureOf(new ToolError('ABORTED_BEFORE_DISPATCH', 'The call was not started.'))
  }
  #settle(result: ToolResult): void {
    this.#result = Object.freeze(result)
  }
  #end(result: ToolResult): void {
    this.#result = result
    this.#isFinal = true
  }
  #isAborted(): boolean {
    return this.#request.signal.aborted
  }
  /** A denial or a failure that settled after the cancel keeps its own identity; a success does not. */
  #failLateSuccess(error: ToolError): void {
    if (this.#result && !this.#result.isError) this.#result = failureOf(error)
  }
}

/**
 * The failed result for anything thrown. Only Bosun's own errors show a name and a code.
 *
 * Errors: none, also for a thrown value that cannot be turned into text.
 */
export function failureOf(thrown: unknown): ToolFailure {
  const message = thrownText(thrown) ?? NO_TEXT
  const { info, meta } = factsOf(thrown)
  return {
    isError: true,
    error: { message, ...(info && { info }) },
    content: errorContent(message),
    ...(meta !== undefined && { meta }),
  }
}

const NO_TEXT = 'The tool failed with a value that has no text.'
const errorContent = (message: string): readonly ToolContent[] => [{ type: 'text', text: `Error: ${message}`.toWellFormed() }]

/** Name and code of our own errors, and what their card shows. None for a value that lets nobody look at it. */
function factsOf(thrown: unknown): { readonly info?: { readonly name: string; readonly code: string }; readonly meta?: Json } {
  try {
    const info = isHarnessError(thrown) ? { name: wordOf(thrown.name), code: wordOf(thrown.code) } : undefined
    const meta = thrown instanceof PresentedError ? snapshotOrNothing(thrown.meta) : undefined
    return { ...(info && { info }), ...(meta !== undefined && { meta }) }
  } catch {
    // A revoked proxy, say: the failure itself must reach the model.
    return {}
  }
}

const wordOf = (value: unknown): string => (typeof value === 'string' ? value : 'UNKNOWN')

/** The failure that a wrapper tells of, as data. */
function errorFacts({ message, info }: ToolFailure['error']): ToolFailure['error'] {
  const text = typeof message === 'string' ? message : NO_TEXT
  return { message: text, ...(info && { info: { name: wordOf(info.name), code: wordOf(info.code) } }) }
}

function snapshotOrNothing(meta: unknown): Json | undefined {
  // Most calls have none, and a refusal is as dear as any error that is made.
  if (meta === undefined) return undefined
  try {
    return snapshotJson(meta, 'meta')
  } catch {
    // Card facts of a failure are a courtesy; the failure itself must reach the model.
    return undefined
  }
}

function canonicalValue(definition: ToolDefinition, raw: unknown): Json {
  let value: Json
  try {
    value = snapshotJson(raw, 'value')
  } catch (error) {
    throw new ToolError('INVALID_TOOL_OUTPUT', `${definition.name} returned a value that JSON cannot carry: ${thrownText(error) ?? NO_TEXT}`, { cause: error })
  }
  const violations = validate(definition.output.schema, value, 'value')
  if (violations.length > 0) {
    throw new ToolError('INVALID_TOOL_OUTPUT', `${definition.name} returned a value that breaks its own schema: ${violations.join('; ')}`)
  }
  return value
}

/** Errors: `ToolError` for anything but a list of texts and images: the log, the model and the cards rely on it. */
function contentOf(name: string, content: unknown): readonly ToolContent[] {
  const copy = snapshotJson(forgotten(content, content), `content of ${name}`)
  if (!isContent(copy)) throw new ToolError('INVALID_TOOL_OUTPUT', `${name} gave content for the model that is no list of texts and images.`)
  // Half a character is no text: a provider refuses every request that a log with one is made into.
  return copy.every((block) => block.type !== 'text' || block.text.isWellFormed()) ? copy : copy.map((block) => (block.type === 'text' ? { ...block, text: block.text.toWellFormed() } : block))
}

function isContent(value: Json | undefined): value is Json & readonly ToolContent[] {
  return Array.isArray(value) && (value as readonly Json[]).every(isBlock)
}

function isBlock(block: Json): boolean {
  if (!isJsonObject(block)) return false
  if (block['type'] === 'text') return typeof block['text'] === 'string'
  const { attachment } = block
  return block['type'] === 'image' && isJsonObject(attachment) && typeof attachment['attachmentId'] === 'string' && typeof attachment['mediaType'] === 'string'
}

/** Contexts go into the log; one that it, or the next request, could not take fails the call that made it, and no other. */
const snapshots = (contexts: readonly UserMessage[]): readonly UserMessage[] =>
  contexts.map((context) => {
    const copy = snapshotJson(context, 'context')
    const { id, role, content, source } = isJsonObject(copy) ? copy : {}
    if (typeof id !== 'string' || role !== 'user' || !isContent(content) || !isJsonObject(source) || typeof source['kind'] !== 'string') {
      throw new TypeError('A context for the model is a user message: an id, a list of texts and images, and a source.')
    }
    const message = copy as unknown as UserMessage
    const problem = summaryProblem(message)
    if (problem !== null) throw new RangeError(`A context for the model cannot be told: ${problem}.`)
    return message
  })

/** What should have been at once but is a promise is not waited for; its own failure must not end the process. */
function forgotten<T>(value: unknown, instead: T): T {
  if (value instanceof Promise) value.catch(() => {})
  return instead
}

/** What wrappers get: everything is fixed but the signal, which can be replaced and never removed. */
function viewForWrappers(exec: Execution): MutableExecution {
  let { signal } = exec
  return Object.freeze({
    ...exec,
    get signal() {
      return signal
    },
    set signal(next: AbortSignal) {
      if (!(next instanceof AbortSignal)) throw new TypeError('The signal of a call can be replaced by another one, never removed.')
      signal = next
    },
  })
}

function withContexts(result: ToolResult, contexts: readonly UserMessage[]): ToolResult {
  if (contexts.length > 0) return { ...result, additionalContexts: snapshots(contexts) }
  if (result.additionalContexts === undefined) return result
  const copy: { additionalContexts?: readonly UserMessage[] } & ToolResult = { ...result }
  delete copy.additionalContexts
  return copy
}

function answerWords(answer: ApprovalAnswer): string {
  switch (answer.outcome) {
    case 'allowed-once':
      return answer.rule === undefined ? 'You allowed it once.' : 'You allowed it and kept a rule.'
    case 'rejected':
      return 'You refused.'
    default:
      return 'Nobody answered.'
  }
}

function refusalText(name: string, answer: ApprovalAnswer): string {
  switch (answer.outcome) {
    case 'rejected':
      return answer.note
        ? `The person refused ${name} and said: ${answer.note}`
        : `The person refused ${name}. Do not try the same again; ask what they want instead, or find another way.`
    case 'cancelled':
      return `The question whether ${name} may run was withdrawn, so it did not run.`
    case 'unavailable':
      return `Nobody could be asked whether ${name} may run, so it did not run.`
    default:
      throw new TypeError(`An approval ended with the unknown outcome ${JSON.stringify(answer.outcome)}.`)
  }
}

/** Of calls that asked for wider permissions. */
const escalationCodes: Readonly<Record<Exclude<ApprovalAnswer['outcome'], 'allowed-once'>, DenialCode>> = {
  rejected: 'ESCALATION_REJECTED',
  cancelled: 'ESCALATION_CANCELLED',
  unavailable: 'ESCALATION_NO_CHANNEL',
}

/** Where the agent's log stands; undefined outside a step. */
function openStepOf({ session }: Agent): { readonly turn: number; readonly step: number } | undefined {
  for (let seq = session.length - 1; seq >= 0; seq -= 1) {
    const event = session.events(seq, seq + 1)[0]
    if (event?.type === 'step/start') return event.data
    if (event?.type === 'step/end' || event?.type === 'turn/end') return undefined
  }
  return undefined
}

const denial = (reason: string, code: DenialCode | 'DENIED' = 'DENIED'): ToolFailure => failureOf(new ToolError(code, reason))
const aborted = () => new ToolError('ABORTED', 'The call was stopped while it ran.')
const abortedBeforeDispatch = () => new ToolError('ABORTED_BEFORE_DISPATCH', 'The call was stopped before it started.')
const abortReason = (signal: AbortSignal): unknown => (isHarnessError(signal.reason) ? signal.reason : aborted())
const collapsed = (name: string) =>
  new ToolError('UNKNOWN_TOOL', `${JSON.stringify(name)} cannot be called directly here. Call it from a program through ${RESERVED_TOOL_NAME}.`)
/** For text that is no JSON, the one thing to mend in it; else what the schema says. */
function refusedArguments({ name, arguments: args }: Execution, violations: readonly string[]): ToolError {
  if (typeof args !== 'string') return invalidArguments(name, violations)
  const read = readCallArguments(args)
  if (read.ok) return invalidArguments(name, violations)
  const next = read.isCut ? 'Nothing was done. Send the whole call again; if it is long, do it in several smaller calls.' : 'Nothing was done. Write the arguments as one JSON object and call again.'
  return new ToolError('INVALID_ARGS', `The arguments of ${name} cannot be read: the text ${read.problem}. ${next}`)
}
/** The arguments of a call, as a snapshot. Errors: `ToolError` `INVALID_ARGS` for what JSON would lose and for half a character, which no file, program or provider takes as text. */
export function argumentsOf(name: string, given: unknown): Json {
  const invalid = (problem: string, cause?: unknown) => new ToolError('INVALID_ARGS', `Invalid arguments for ${name}: ${problem}`, { cause })
  let args: Json
  try {
    args = snapshotJson(given, 'arguments')
  } catch (error) {
    throw invalid(thrownText(error) ?? NO_TEXT, error)
  }
  const place = halfCharacterIn(args, 'arguments')
  if (place !== null) throw invalid(`${place} holds half a character (a surrogate without its other half). Send whole characters; cut a text between them, as Array.from(text) parts it.`)
  return args
}
