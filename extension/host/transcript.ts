import { argumentsFrom } from '../base/call-arguments.ts'
import { stringifyJson, type Json } from '../base/json.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { SessionEvent, TurnEndReason } from '../core/log/event.ts'
import type { ToolContent, UserMessage } from '../core/log/message.ts'
import type { StreamChunk, Usage } from '../core/model/contract.ts'
import { isBelievedWhole } from '../core/model/provider-wait.ts'
import type { CardContent } from '../protocol/cards.ts'
import type { ViewChange } from '../protocol/messages.ts'
import type {
  CommandRow,
  NoticeRow,
  ReasoningRow,
  RetryRow,
  Row,
  TextRow,
  ToolRow,
  TurnEndRow,
  UsageView,
} from '../protocol/view-state.ts'
import type {} from '../core/tools/code-dispatch.ts'
import { MAX_REVIEWED_BYTES } from '../features/checkpoints/images.ts'
import { MAX_FOUND_FILES, MAX_KEPT_BYTES, MAX_KEPT_FILE_BYTES, MAX_KEPT_FILES } from '../features/checkpoints/shell-changes.ts'
import { ChangedFiles } from './changed-files.ts'
import { CompactionRows } from './compaction-rows.ts'
import { cutMiddle } from './clamp-view.ts'
import { formatDollars } from '../base/money.ts'
import { addCosts, costOf, noCost, type CostSum } from '../core/cost/cost-projection.ts'
import { amountWords, budgetWords, missWords, pauseWords, type Translate } from '../core/cost/words.ts'
import { contextTitle, textOf } from './describe-context.ts'
import { extensionOf, presentCall, presentResult, type FindPresenters } from './present-tool.ts'

export type RowChange = Extract<ViewChange, { change: 'row' | 'append' | 'remove-row' }>

/** Where a call stands in the log; `resultSeq` is null until it ended. */
export interface CallPlace {
  readonly rowId: string
  readonly tool: string
  readonly callSeq: number | null
  readonly resultSeq: number | null
}

/** UTF-16 units of live output that a running row keeps. */
export const MAX_PROGRESS = 16_000

const emptyUsage: UsageView = { inputTokens: 0, outputTokens: 0, cacheRead: 0, reasoning: 0, steps: 0, turns: 0 }

/**
 * The conversation as rows: a pure fold of one session's events, the same live and on replay.
 *
 * Each event costs the rows it touches, never the length of the talk. Row ids come from sequence numbers, so what the
 * person folded open stays open. What a failed attempt streamed goes again when the next attempt is announced.
 * Presenters may be missing, old or broken: such a call draws the generic card.
 */
export class Transcript {
  readonly #find: FindPresenters
  readonly #l10n: Localization
  readonly #isKnownEvent: (type: string) => boolean
  #rows: Row[] = []
  readonly #indexes = new Map<string, number>()
  /** By call id; a provider that repeats ids means the latest one. */
  readonly #calls = new Map<string, Call>()
  readonly #places = new Map<string, Call>()
  /** Call ids by the approval that waits. */
  readonly #approvals = new Map<string, string>()
  /** Calls that the person refused, with the reason they gave. */
  readonly #refusals = new Map<string, string | null>()
  /** Rows of the commands that run, by command. */
  readonly #commandRows = new Map<string, string>()
  readonly #compactions: CompactionRows
  /** The end of the last turn that has one, and what was changed in it. */
  #lastEnd: { readonly rowId: string; readonly changed: ChangedFiles } | null = null
  #turn: OpenTurn | null = null
  #step: OpenStep | null = null
  #turnNumber = 0
  /** Of the goal. */
  #maxRounds: number | null = null
  #usage: UsageView = emptyUsage
  #changes: RowChange[] = []
  #isReplay = false

  constructor(sources: {
    readonly find: FindPresenters
    readonly l10n: Localization
    /** Known events without a row stay quiet; others are shown as skipped. */
    readonly isKnownEvent: (type: string) => boolean
  }) {
    this.#find = sources.find
    this.#l10n = sources.l10n
    this.#compactions = new CompactionRows(sources.l10n)
    this.#isKnownEvent = sources.isKnownEvent
  }

  get total(): number {
    return this.#rows.length
  }

  /** Tokens, steps and turns of the whole session so far. */
  get usage(): UsageView {
    return this.#usage
  }

  rows(from = 0, to = this.#rows.length): readonly Row[] {
    return this.#rows.slice(from, to)
  }

  row(id: string): Row | undefined {
    const index = this.#indexes.get(id)
    return index === undefined ? undefined : this.#rows[index]
  }

  indexOf(rowId: string): number | undefined {
    return this.#indexes.get(rowId)
  }

  /** The latest call of that id. */
  call(callId: string): CallPlace | undefined {
    return this.#calls.get(callId)
  }

  /** What the latest call of that id was given; null while that is not known. */
  argumentsOf(callId: string): Json {
    return this.#calls.get(callId)?.args ?? null
  }

  /** The call that a row shows. */
  callOf(rowId: string): CallPlace | undefined {
    return this.#places.get(rowId)
  }

  /** Fold one event in; gives what changed, in order. */
  apply(event: SessionEvent): readonly RowChange[] {
    this.#changes = []
    this.#fold(event)
    return this.#changes
  }

  /** Fold many events in of which nobody has seen the rows yet: the same rows, without saying what changed. */
  replay(events: readonly SessionEvent[]): void {
    this.#isReplay = true
    try {
      for (const event of events) this.#fold(event)
    } finally {
      this.#isReplay = false
    }
  }

  /** Live output of a running body: shown, never durable. */
  progress(callId: string, text: string): readonly RowChange[] {
    this.#changes = []
    const row = this.#toolRow(callId)
    if (row !== undefined && row.endedAt === null && text !== '') {
      const progress = row.progress + text
      if (progress.length <= 2 * MAX_PROGRESS) this.#append(row, 'progress', text)
      else this.#put({ ...row, progress: progress.slice(-MAX_PROGRESS) })
    }
    return this.#changes
  }

  /** A running call waits for the person, or no longer does. Live only: the log says so by its own events. */
  setWaiting(callId: string, isWaiting: boolean): readonly RowChange[] {
    this.#changes = []
    this.#wait(callId, isWaiting)
    return this.#changes
  }

  #fold(event: SessionEvent): void {
    switch (event.type) {
      case 'turn/start':
        this.#turnNumber = event.data.turn
        this.#turn = { startedAt: event.time, usage: { ...emptyUsage, turns: 1 }, cost: noCost, cacheMisses: [], changed: new ChangedFiles(), goalBlock: null, hasRows: false }
        return
      case 'step/start':
        this.#step = newStep()
        return
      case 'goal/change':
        this.#goalChange(event.data)
        return
      case 'user/message':
        if (event.surfaceOp === 'append' || event.surfaceOp === undefined) this.#userMessage(event)
        return
      case 'assistant/chunk':
        this.#chunk(event.data.chunk, event)
        return
      case 'assistant/message':
        if (event.surfaceOp === 'append' || event.surfaceOp === undefined) this.#assistantMessage(event)
        return
      case 'hook/result':
        this.#hookResult(event)
        return
      case 'hook/invoked':
        return
      case 'tool/rewritten':
        this.#presentCall(event.data.callId, event.data.arguments)
        return
      case 'tool/call':
        this.#toolCall(event.data, event)
        return
      case 'tool/code-dispatch-start':
        this.#subCallStart(event)
        return
      case 'tool/code-dispatch':
        this.#endCall(event.data.subCallId, event.data, event)
        return
      case 'tool/result':
        if (event.surfaceOp === 'append' || event.surfaceOp === undefined) this.#toolResult(event)
        return
      case 'approval/asked':
        if (event.data.callId !== undefined) {
          this.#approvals.set(event.data.id, event.data.callId)
          this.#wait(event.data.callId, true)
        }
        return
      case 'approval/decided': {
        const callId = this.#approvals.get(event.data.id)
        this.#approvals.delete(event.data.id)
        if (callId !== undefined) {
          this.#wait(callId, false)
          this.#startedAt(callId, event.time)
          // What the model is told of a refusal is no news to the person who refused; their reason is kept.
          if (event.data.outcome === 'rejected') this.#refusals.set(callId, event.data.note ?? null)
        }
        return
      }
      case 'llm/retry':
        this.#retry(event)
        return
      case 'llm/retry-started':
        this.#settleRetry()
        return
      case 'llm/route':
        this.#route(event)
        return
      case 'step/end':
        this.#stepEnd(event.time)
        return
      case 'turn/end':
        this.#turnEnd(event)
        return
      case 'command/run':
        this.#commandRows.set(event.data.commandId, idOf(event.seq))
        this.#put({ kind: 'command', id: idOf(event.seq), turn: this.#turnNumber, name: event.data.name, args: event.data.args ?? '', state: 'running', text: null } satisfies CommandRow)
        return
      case 'command/done':
        this.#commandDone(event.data)
        return
      case 'fs/after-image':
        this.#fileChanged(event.data)
        return
      case 'review/limited':
        this.#notice(event, 'warning', limitedWords(event.data, this.#l10n))
        return
      case 'cost/estimated':
        this.#metered(event)
        return
      case 'budget/warned':
        this.#notice(event, 'warning', this.#l10n.t('Close to a limit: {budget} are used.', { budget: budgetWords(event.data, this.#t) }))
        return
      case 'budget/unpriced':
        this.#notice(event, 'warning', this.#l10n.t('What {model} costs is unknown, so the limit of money does not hold for it. Set a limit of tokens, or its price in bosun.model.facts.', { model: event.data.model }))
        return
      case 'budget/raised':
        this.#notice(event, 'info', this.#l10n.t('You let it go on: {budget} now.', { budget: limitWords(event.data, this.#l10n) }))
        return
      case 'compaction/start':
      case 'compaction/summary':
      case 'compaction/end':
      case 'session/end-seed':
        for (const row of this.#compactions.take(event, { turn: this.#turnNumber, rowFrom: (seq) => this.#rowFrom(seq) })) this.#put(row)
        return
      case 'log/repaired':
        this.#notice(
          event,
          'warning',
          this.#l10n.t('The end of this log was damaged: {bytes} bytes were cut and kept in {file}. {reason}', {
            bytes: event.data.cutBytes,
            file: event.data.keptAs,
            reason: event.data.reason,
          }),
        )
        return
      default:
        this.#other(event)
    }
  }

  #userMessage({ data, seq, time }: SessionEvent<'user/message'>): void {
    const text = textOf(data)
    if (data.source.kind === 'goal') {
      this.#put({ kind: 'round', id: idOf(seq), turn: this.#turnNumber, round: data.source.round, maxRounds: this.#maxRounds, text: cutMiddle(text) })
    } else if (data.source.kind === 'user') {
      this.#put({ kind: 'prompt', id: idOf(seq), turn: this.#turnNumber, text, attachments: attachmentsOf(data), sentAt: time })
    } else {
      const title = contextTitle(data.source, this.#l10n, text)
      this.#put({ kind: 'context', id: idOf(seq), turn: this.#turnNumber, title, text: cutMiddle(text) })
    }
  }

  #goalChange(change: SessionEvent<'goal/change'>['data']): void {
    this.#maxRounds = change.operation === 'clear' ? null : change.goal.maxGoalRounds
    if (change.operation === 'block' && this.#turn !== null) this.#turn.goalBlock = change.goal.blockedReason?.message ?? null
  }

  #chunk(chunk: StreamChunk, { seq, time }: { readonly seq: number; readonly time: number }): void {
    const step = (this.#step ??= newStep())
    if (chunk.type === 'usage' || chunk.type === 'finish') return
    let block = step.blocks.get(chunk.index)
    if (block === undefined) {
      block = { kind: blockKindOf(chunk), rowId: null, startSeq: seq, startedAt: time, held: '', callId: null, name: null, hasEnded: false }
      step.blocks.set(chunk.index, block)
    }
    if (block.hasEnded) return
    switch (chunk.type) {
      case 'block-start':
        return
      case 'text-delta':
      case 'reasoning-delta':
        this.#delta(step, block, chunk.delta)
        return
      case 'tool-call-delta':
        block.callId ??= chunk.id ?? null
        block.name ??= chunk.name ?? null
        if (block.rowId === null && block.callId !== null && block.name !== null) {
          block.rowId = this.#openCall(step, { callId: block.callId, name: block.name, seq: block.startSeq, part: chunk.index, time: block.startedAt })
        }
        return
      case 'block-end':
        block.hasEnded = true
        this.#endBlock(block, time)
    }
  }

  #delta(step: OpenStep, block: OpenBlock, delta: string): void {
    if (block.rowId !== null) {
      const row = this.row(block.rowId)
      if (row?.kind === 'text' || row?.kind === 'reasoning') this.#append(row, 'text', delta)
      return
    }
    // Blank text before a tool call is no answer: a row begins with its first visible character.
    block.held += delta
    if (block.held.trim() === '') return
    block.rowId = idOf(block.startSeq)
    step.rowIds.push(block.rowId)
    this.#put(
      block.kind === 'reasoning'
        ? this.#newReasoning(block.rowId, block.held)
        : { kind: 'text', id: block.rowId, turn: this.#turnNumber, text: block.held, isStreaming: true, isInterrupted: false },
    )
    block.held = ''
  }

  #newReasoning(id: string, text: string): ReasoningRow {
    return { kind: 'reasoning', id, turn: this.#turnNumber, text, isStreaming: true, durationMs: null }
  }

  #endBlock(block: OpenBlock, time: number): void {
    const row = block.rowId === null ? undefined : this.row(block.rowId)
    if (row?.kind === 'text') this.#put({ ...row, isStreaming: false })
    if (row?.kind === 'reasoning') this.#put({ ...row, isStreaming: false, durationMs: spanMs(block.startedAt, time) })
  }

  /** The whole answer is there: what was streamed is settled, what was not is added, what the answer dropped goes. */
  #assistantMessage({ data, seq, time }: SessionEvent<'assistant/message'>): void {
    const step = (this.#step ??= newStep())
    const streamed = step.rowIds.flatMap((id) => this.row(id) ?? [])
    const texts = streamed.filter((row) => row.kind === 'text')
    const thoughts = streamed.filter((row) => row.kind === 'reasoning')
    const kept = new Set<string>()
    for (const [part, block] of data.message.content.entries()) {
      const id = idOf(seq, part)
      switch (block.type) {
        case 'text': {
          if (block.text.trim() === '') break
          const row = texts.shift() ?? this.#track(step, { kind: 'text', id, turn: this.#turnNumber, text: '', isStreaming: true, isInterrupted: false })
          kept.add(row.id)
          this.#settleText(row, block.text, data.interrupted === true)
          break
        }
        case 'reasoning': {
          if (block.text.trim() === '') break
          const row = thoughts.shift() ?? this.#track(step, this.#newReasoning(id, ''))
          kept.add(row.id)
          this.#settleReasoning(row, block.text, this.#startOf(row.id) ?? time, time)
          break
        }
        case 'tool-call': {
          const rowId = this.#openCall(step, { callId: block.id, name: block.name, seq, part, time })
          kept.add(rowId)
          this.#presentCall(block.id, block.arguments)
          break
        }
      }
    }
    for (const id of step.rowIds) if (!kept.has(id)) this.#remove(id)
    // Calls stay open until their results come; everything else is settled.
    step.rowIds = step.rowIds.filter((id) => this.row(id)?.kind === 'tool')
    step.blocks.clear()
    if (data.usage !== undefined) this.#count(data.usage)
    this.#settleRetry()
  }

  #track<R extends Row>(step: OpenStep, row: R): R {
    step.rowIds.push(row.id)
    return row
  }

  #startOf(rowId: string): number | undefined {
    for (const block of this.#step?.blocks.values() ?? []) if (block.rowId === rowId) return block.startedAt
    return undefined
  }

  #settleText(row: TextRow, text: string, isInterrupted: boolean): void {
    if (row.text !== text || row.isStreaming || row.isInterrupted !== isInterrupted) {
      this.#put({ ...row, text, isStreaming: false, isInterrupted })
    }
  }

  #settleReasoning(row: ReasoningRow, text: string, startedAt: number, time: number): void {
    if (row.text !== text || row.isStreaming) {
      this.#put({ ...row, text, isStreaming: false, durationMs: row.durationMs ?? spanMs(startedAt, time) })
    }
  }

  /** The row of a call in this step, made if it is not there. */
  #openCall(step: OpenStep, call: { readonly callId: string; readonly name: string; readonly seq: number; readonly part: number; readonly time: number; readonly parent?: string }): string {
    const open = this.#calls.get(call.callId)
    if (open !== undefined && open.step === step) return open.rowId
    const rowId = idOf(call.seq, call.part)
    const opened: Call = { rowId, tool: call.name, callSeq: null, resultSeq: null, step, argumentsText: null, args: null, from: null }
    this.#calls.set(call.callId, opened)
    this.#places.set(rowId, opened)
    step.rowIds.push(rowId)
    const from = extensionOf(this.#find, call.name, undefined)
    this.#put({
      kind: 'tool',
      id: rowId,
      turn: this.#turnNumber,
      callId: call.callId,
      tool: call.name,
      state: 'running',
      call: null,
      result: null,
      rawArguments: null,
      output: null,
      error: null,
      progress: '',
      startedAt: call.time,
      endedAt: null,
      ...(call.parent !== undefined && { parent: call.parent }),
      ...(from !== undefined && { from }),
    })
    return rowId
  }

  #presentCall(callId: string, argumentsText: string): void {
    const call = this.#calls.get(callId)
    const row = this.#toolRow(callId)
    if (call === undefined || row === undefined || call.argumentsText === argumentsText) return
    call.argumentsText = argumentsText
    call.args = argumentsFrom(argumentsText)
    this.#put({ ...row, call: presentCall(this.#find, call.tool, call.args), rawArguments: clampArguments(call.args, argumentsText) })
  }

  #toolCall(data: SessionEvent<'tool/call'>['data'], { seq, time }: { readonly seq: number; readonly time: number }): void {
    const step = (this.#step ??= newStep())
    this.#openCall(step, { callId: data.callId, name: data.name, seq, part: 0, time })
    this.#callStarts(data.callId, seq, data.from)
    this.#presentCall(data.callId, data.arguments)
    this.#startedAt(data.callId, time)
  }

  /** How long a call took is counted from when nothing held it back any more, the person included. */
  #startedAt(callId: string, time: number): void {
    const row = this.#toolRow(callId)
    if (row !== undefined && row.endedAt === null && row.startedAt !== time) this.#put({ ...row, startedAt: time })
  }

  /** A call of a program: a row of its own, which stands under that of the program. */
  #subCallStart({ data, seq, time }: SessionEvent<'tool/code-dispatch-start'>): void {
    const step = (this.#step ??= newStep())
    const parent = this.#calls.get(data.parentCallId)?.rowId
    this.#openCall(step, { callId: data.subCallId, name: data.name, seq, part: 0, time, ...(parent !== undefined && { parent }) })
    this.#callStarts(data.subCallId, seq, data.from)
    this.#presentCall(data.subCallId, stringifyJson(data.arguments))
  }

  #callStarts(callId: string, seq: number, from: string | undefined): void {
    const call = this.#calls.get(callId)
    const row = this.#toolRow(callId)
    if (call === undefined || row === undefined) return
    call.callSeq = seq
    if (from === undefined) return
    call.from = from
    if (row.from !== from) this.#put({ ...row, from })
  }

  #toolResult(event: SessionEvent<'tool/result'>): void {
    const { message, ...data } = event.data
    const [{ content, isError }] = message.content
    this.#endCall(message.source.callId, { ...data, content, isError }, event)
  }

  #endCall(callId: string, data: CallEnd, { seq, time }: { readonly seq: number; readonly time: number }): void {
    const call = this.#calls.get(callId)
    const row = this.#toolRow(callId)
    // A result without its call has nothing to stand on; the log's own checker reports such a log.
    if (call === undefined || row === undefined || row.endedAt !== null) return
    call.resultSeq = seq
    const { content, isError } = data
    const output = outputOf(content)
    const result = presentResult(
      this.#find,
      { name: call.tool, args: call.args },
      { content, isError, ...(data.meta === undefined ? {} : { meta: data.meta }) },
      this.#l10n,
    )
    const from = call.from ?? extensionOf(this.#find, call.tool, data.meta)
    // What the card of another extension's tool shows is its author's word; what it changed is told beside it.
    if (!isError && from === undefined && result?.card === 'diff' && result.isDraft !== true) this.#turn?.changed.add(result.diffs)
    this.#put({
      ...row,
      state: isError ? failedStateOf(data.error?.code) : 'ok',
      ...(from !== undefined && { from }),
      result,
      output: cutMiddle(output),
      error: isError ? this.#errorOf(callId, output) : null,
      progress: '',
      ...(typeof data.policy?.why === 'string' && data.policy.why !== '' && { policy: data.policy.why }),
      ...(data.policy?.by === 'plan' && { isHeldByPlan: true as const }),
      endedAt: time,
    })
  }

  /** Written down behind the call, so its turn may have ended by now. */
  #fileChanged({ callId, path, lines }: SessionEvent<'fs/after-image'>['data']): void {
    if (lines === undefined) return
    const ended = this.#lastEnd
    const row = ended === null ? undefined : this.row(ended.rowId)
    if (ended === null || row?.kind !== 'turn-end' || this.#toolRow(callId)?.turn !== row.turn) return this.#turn?.changed.addFound(path, lines)
    ended.changed.addFound(path, lines)
    this.#put({ ...row, changedFiles: ended.changed.list() })
  }

  #errorOf(callId: string, output: string): string | null {
    const refusal = this.#refusals.get(callId)
    return refusal === undefined ? cutMiddle(output.replace(/^Error: /, '')) : refusal
  }

  #wait(callId: string, isWaiting: boolean): void {
    const row = this.#toolRow(callId)
    if (row === undefined || row.endedAt !== null) return
    const state = isWaiting ? 'waiting' : 'running'
    if (row.state !== state) this.#put({ ...row, state })
  }

  /** The attempt failed and another follows: what it streamed is no part of the talk. */
  #retry({ data, seq, time }: SessionEvent<'llm/retry'>): void {
    const step = (this.#step ??= newStep())
    for (const id of step.rowIds.toReversed()) this.#remove(id)
    step.rowIds = []
    step.blocks.clear()
    step.retryRowId ??= idOf(seq)
    this.#put({
      kind: 'retry',
      id: step.retryRowId,
      turn: data.turn,
      reason: data.failure.message,
      code: data.failure.code,
      retry: data.retry,
      maxRetries: data.maxRetries ?? null,
      resumesAt: time + data.delayMs,
    } satisfies RetryRow)
  }

  /** Another model goes on: what the failed one streamed is no part of the talk. */
  #route(event: SessionEvent<'llm/route'>): void {
    const step = (this.#step ??= newStep())
    for (const id of step.rowIds.toReversed()) this.#remove(id)
    step.rowIds = []
    step.blocks.clear()
    const { t } = this.#l10n
    const { to, from, failure } = event.data
    const [model, other] = [routeName(to), from === undefined ? '' : routeName(from)]
    if (failure === undefined) this.#notice(event, 'info', t('From here on {model} answers, until the end of this turn.', { model }))
    else this.#notice(event, 'warning', t('{other} is out, so {model} goes on until the end of this turn. {reason}', { other, model, reason: failure.message }))
  }

  #settleRetry(): void {
    const id = this.#step?.retryRowId ?? null
    const row = id === null ? undefined : this.row(id)
    if (row?.kind === 'retry' && row.resumesAt !== null) this.#put({ ...row, resumesAt: null })
  }

  #stepEnd(time: number): void {
    this.#settleRetry()
    this.#interruptStream(time)
    this.#step = null
    this.#usage = { ...this.#usage, steps: this.#usage.steps + 1 }
    if (this.#turn !== null) this.#turn.usage = { ...this.#turn.usage, steps: this.#turn.usage.steps + 1 }
  }

  /** A stream that never became an answer stays readable, marked as cut; calls it had begun never ran. */
  #interruptStream(time: number): void {
    for (const id of this.#step?.rowIds ?? []) {
      const row = this.row(id)
      if (row?.kind === 'text') this.#put({ ...row, isStreaming: false, isInterrupted: true })
      if (row?.kind === 'reasoning' && row.isStreaming) {
        this.#put({ ...row, isStreaming: false, durationMs: spanMs(this.#startOf(id) ?? time, time) })
      }
      if (row?.kind === 'tool' && this.#calls.get(row.callId)?.argumentsText === null) this.#remove(id)
      else if (row?.kind === 'tool' && row.endedAt === null) this.#put({ ...row, state: 'cancelled', progress: '', endedAt: time })
    }
  }

  #turnEnd({ data, seq, time }: SessionEvent<'turn/end'>): void {
    if (this.#step !== null) {
      this.#settleRetry()
      this.#interruptStream(time)
      this.#step = null
    }
    const turn = this.#turn
    this.#turn = null
    this.#usage = { ...this.#usage, turns: this.#usage.turns + 1 }
    if (turn === null || (data.reason.kind === 'completed' && !turn.hasRows)) return
    const { outcome, message: words, next } = this.#ending(data.reason)
    // Not a hook: the goal itself ended its round.
    const message = data.reason.kind === 'blocked' && turn.goalBlock !== null ? turn.goalBlock : words
    this.#lastEnd = { rowId: idOf(seq), changed: turn.changed }
    this.#put({
      kind: 'turn-end',
      id: idOf(seq),
      turn: data.turn,
      outcome,
      message,
      next,
      resumesAt: mayGoOnAt(data.reason, time),
      steps: turn.usage.steps,
      usage: turn.usage,
      cost: turn.cost.requests === 0 ? null : amountWords(turn.cost, this.#t),
      cacheMisses: turn.cacheMisses,
      durationMs: spanMs(turn.startedAt, time),
      changedFiles: turn.changed.list(),
    } satisfies TurnEndRow)
  }

  #ending(reason: TurnEndReason): Pick<TurnEndRow, 'outcome' | 'message' | 'next'> {
    const { t } = this.#l10n
    switch (reason.kind) {
      case 'completed':
        return { outcome: 'completed', message: null, next: 'none' }
      case 'aborted':
        if (reason.reason.kind === 'disposed') return { outcome: 'interrupted', message: t('The window closed while Bosun was working.'), next: 'continue' }
        return reason.reason.kind === 'hook'
          ? { outcome: 'stopped', message: reason.reason.reason, next: 'continue' }
          : { outcome: 'stopped', message: null, next: 'continue' }
      case 'blocked':
        return { outcome: 'blocked', message: t('A hook held this message back.'), next: 'none' }
      case 'error':
        return { outcome: 'failed', message: reason.failure.message, next: 'retry' }
      case 'max-tokens':
        return { outcome: 'max-tokens', message: t('The answer reached the length limit of the model.'), next: 'continue' }
      case 'interrupted':
        return { outcome: 'interrupted', message: t('The window closed while Bosun was working.'), next: 'continue' }
      case 'paused':
        return { outcome: 'paused', message: pauseWords(reason, this.#t), next: 'continue' }
    }
  }

  /** A hook is heard of when it held something back, failed, or has words for the person. */
  #hookResult({ data, seq }: SessionEvent<'hook/result'>): void {
    const { point, decision, reason } = data
    const { t } = this.#l10n
    if (decision === 'failed' || decision === 'timed-out') this.#notice({ seq }, 'warning', t('A {point} hook failed and holds nothing back: {reason}', { point, reason: reason ?? '' }))
    else if (reason !== undefined) this.#notice({ seq }, 'info', decision === 'deny' ? t('A {point} hook held this back: {reason}', { point, reason }) : t('A {point} hook: {reason}', { point, reason }))
  }

  /** The event that a command points to draws a row of its own where it has one. */
  #commandDone({ commandId, kind, text, sourceEventSeq }: SessionEvent<'command/done'>['data']): void {
    const row = this.row(this.#commandRows.get(commandId) ?? '')
    this.#commandRows.delete(commandId)
    if (row?.kind !== 'command') return
    const isSaidBetter = sourceEventSeq !== undefined && (this.#indexes.has(idOf(sourceEventSeq)) || this.#compactions.isSummary(sourceEventSeq))
    this.#put({ ...row, state: kind === 'success' ? 'ok' : 'failed', text: isSaidBetter || text === undefined ? null : cutMiddle(text) })
  }

  #count(usage: Usage): void {
    this.#usage = addUsage(this.#usage, usage)
    if (this.#turn !== null) this.#turn.usage = addUsage(this.#turn.usage, usage)
  }

  #metered(event: SessionEvent<'cost/estimated'>): void {
    if (this.#turn === null) return
    this.#turn.cost = addCosts(this.#turn.cost, costOf(event))
    const { cacheMiss } = event.data
    if (cacheMiss !== undefined && this.#turn.cacheMisses.length < MAX_MISSES) this.#turn.cacheMisses.push(missWords(cacheMiss, this.#t))
  }

  readonly #t: Translate = (text, values) => this.#l10n.t(text, values)

  #other(event: SessionEvent): void {
    const type: string = event.type
    if (this.#isKnownEvent(type)) return
    this.#notice(event, 'info', this.#l10n.t('Skipped an entry that this version does not know: {type}', { type }))
  }

  #notice({ seq }: { readonly seq: number }, level: NoticeRow['level'], text: string): void {
    this.#put({ kind: 'notice', id: idOf(seq), turn: this.#turnNumber, level, text })
  }

  /** The row of an event, or the first one of a later event. Rows stand in the order of their events. */
  #rowFrom(seq: number): string | null {
    let low = 0
    let high = this.#rows.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (seqOf(this.#rows[middle]!.id) < seq) low = middle + 1
      else high = middle
    }
    return this.#rows[low]?.id ?? null
  }

  #toolRow(callId: string): ToolRow | undefined {
    const call = this.#calls.get(callId)
    const row = call === undefined ? undefined : this.row(call.rowId)
    return row?.kind === 'tool' ? row : undefined
  }

  /** Add the row, or put it in the place of the one with its id. */
  #put(row: Row): void {
    const index = this.#indexes.get(row.id)
    if (index === undefined) {
      this.#indexes.set(row.id, this.#rows.length)
      this.#rows.push(row)
      if (this.#turn !== null) this.#turn.hasRows = true
    } else {
      this.#rows[index] = row
    }
    if (!this.#isReplay) this.#changes.push({ change: 'row', row })
  }

  #append(row: TextRow | ReasoningRow | ToolRow, field: 'text' | 'progress', text: string): void {
    const index = this.#indexes.get(row.id)
    if (index === undefined) return
    if (this.#isReplay && row.kind !== 'tool') {
      // Nobody holds this row yet, and a log has many more deltas than rows.
      const unseen: { text: string } = row
      unseen.text += text
      return
    }
    this.#rows[index] = row.kind === 'tool' ? { ...row, progress: row.progress + text } : { ...row, text: row.text + text }
    this.#changes.push({ change: 'append', rowId: row.id, field, text })
  }

  /** Rows only go from the end of the talk, so few others move. */
  #remove(rowId: string): void {
    const index = this.#indexes.get(rowId)
    if (index === undefined) return
    const row = this.#rows[index]
    if (row?.kind === 'tool') {
      this.#calls.delete(row.callId)
      this.#places.delete(rowId)
    }
    this.#rows.splice(index, 1)
    this.#indexes.delete(rowId)
    for (let later = index; later < this.#rows.length; later += 1) {
      const moved = this.#rows[later]
      if (moved !== undefined) this.#indexes.set(moved.id, later)
    }
    if (!this.#isReplay) this.#changes.push({ change: 'remove-row', rowId })
  }
}

/** Reasons shown of one turn. */
const MAX_MISSES = 5

interface OpenTurn {
  readonly startedAt: number
  usage: UsageView
  cost: CostSum
  readonly cacheMisses: string[]
  readonly changed: ChangedFiles
  /** Why the goal was blocked in it. */
  goalBlock: string | null
  hasRows: boolean
}

interface OpenStep {
  readonly blocks: Map<number, OpenBlock>
  /** Rows of the running attempt, in order. */
  rowIds: string[]
  retryRowId: string | null
}

const newStep = (): OpenStep => ({ blocks: new Map(), rowIds: [], retryRowId: null })

interface OpenBlock {
  readonly kind: 'text' | 'reasoning' | 'tool-call'
  rowId: string | null
  readonly startSeq: number
  readonly startedAt: number
  /** Blank text before the row begins. */
  held: string
  callId: string | null
  name: string | null
  hasEnded: boolean
}

/** How a call ended, of the model or of a program. */
type CallEnd = Pick<SessionEvent<'tool/code-dispatch'>['data'], 'content' | 'isError' | 'error' | 'meta' | 'policy'>

interface Call {
  readonly rowId: string
  readonly tool: string
  callSeq: number | null
  resultSeq: number | null
  readonly step: OpenStep
  argumentsText: string | null
  args: Json
  /** Whose tool it is, as the log says. */
  from: string | null
}

/** What cannot be taken back, and why. */
function limitedWords({ reason, files = 0 }: SessionEvent<'review/limited'>['data'], { t }: Localization): string {
  const values = { count: files, mega: MAX_KEPT_FILE_BYTES / 1_048_576, all: MAX_KEPT_BYTES / 1_048_576, max: MAX_KEPT_FILES, review: MAX_REVIEWED_BYTES / 1_048_576, found: MAX_FOUND_FILES }
  switch (reason) {
    case 'too-large-to-keep':
      return files === 1
        ? t('1 file could not be kept before this command and cannot be taken back: at most {mega} MB of one and {all} MB of all are kept.', values)
        : t('{count} files could not be kept before this command and cannot be taken back: at most {mega} MB of one and {all} MB of all are kept.', values)
    case 'too-large-to-review':
      return files === 1
        ? t('1 file that this changed is too large to be reviewed or taken back here: at most {review} MB.', values)
        : t('{count} files that this changed are too large to be reviewed or taken back here: at most {review} MB.', values)
    case 'too-many-to-keep':
      return t('{count} files could not be kept before this command and cannot be taken back: at most {max} are kept.', values)
    case 'too-many-found':
      return files === 0
        ? t('This command changed more files than are put up for review. The others cannot be taken back here.')
        : t('This command changed more than {found} files. {count} of them are not put up for review and cannot be taken back here.', values)
    case 'git-unavailable':
      return t('Git does not answer here, so not everything that commands change can be taken back in this session.')
    case 'too-many-files':
    case 'too-many-folders':
      return t('This folder is too large to watch, so what commands change in it cannot be reviewed or taken back here.')
    case 'unavailable':
      return t('Files cannot be watched here, so what commands change cannot be reviewed or taken back.')
  }
}

/** The newest limit, in words: "this session may cost $2.00". */
function limitWords({ cap, per, limit }: SessionEvent<'budget/raised'>['data'], { t }: Localization): string {
  const values = { limit: cap === 'cost' ? formatDollars(limit) : limit.toLocaleString('en-US') }
  const texts =
    cap === 'cost'
      ? { turn: t('the next turn may cost {limit}', values), session: t('this session may cost {limit}', values), day: t('today may cost {limit}', values) }
      : { turn: t('the next turn may use {limit} tokens', values), session: t('this session may use {limit} tokens', values), day: t('today may use {limit} tokens', values) }
  return texts[per]
}

const routeName = ({ provider, model }: { readonly provider: string; readonly model: string }) => `${model} (${provider})`

const idOf = (seq: number, part = 0) => (part === 0 ? `e${seq}` : `e${seq}.${part}`)

const seqOf = (rowId: string) => Number.parseInt(rowId.slice(1), 10)

function blockKindOf(chunk: StreamChunk): OpenBlock['kind'] {
  switch (chunk.type) {
    case 'block-start':
      return chunk.block
    case 'reasoning-delta':
      return 'reasoning'
    case 'tool-call-delta':
      return 'tool-call'
    default:
      return 'text'
  }
}

const addUsage = (sum: UsageView, usage: Usage): UsageView => ({
  ...sum,
  // What is put into a cache was read anew, too.
  inputTokens: sum.inputTokens + usage.inputTokens + usage.cacheWrite,
  outputTokens: sum.outputTokens + usage.outputTokens,
  cacheRead: sum.cacheRead + usage.cacheRead,
  reasoning: sum.reasoning + usage.reasoning,
})

function attachmentsOf(message: UserMessage): readonly CardContent[] {
  return message.content.flatMap((part) =>
    part.type === 'image'
      ? [
          {
            type: 'image' as const,
            attachmentId: part.attachment.attachmentId,
            mediaType: part.attachment.mediaType,
            ...(part.attachment.name === undefined ? {} : { name: part.attachment.name }),
          },
        ]
      : [],
  )
}

const outputOf = (content: readonly ToolContent[]) =>
  content.map((part) => (part.type === 'text' ? part.text : `[${part.attachment.mediaType}]`)).join('\n')

/** By the times of events; a clock that was set back between them makes no time less than none. */
const spanMs = (from: number, to: number): number => Math.max(0, to - from)

/** Null too for a wait that is not believed. */
function mayGoOnAt(reason: TurnEndReason, time: number): number | null {
  const waitMs = reason.kind === 'error' ? reason.failure.providerRetryAfterMs : undefined
  return waitMs === undefined || !isBelievedWhole(waitMs) ? null : time + waitMs
}

/** Arguments as the generic card shows them: whole when they are small, else as cut text. */
const clampArguments = (args: Json, text: string): Json => (text.length <= 4_000 ? args : `${text.slice(0, 4_000)}…`)

function failedStateOf(code: string | undefined): ToolRow['state'] {
  switch (code) {
    case 'DENIED':
    case 'WORKSPACE_UNTRUSTED':
    case 'FS_SANDBOX_DENIED':
    case 'ESCALATION_NO_APPROVALS':
    case 'ESCALATION_NO_AGENT':
    case 'ESCALATION_NO_CHANNEL':
    case 'ESCALATION_REJECTED':
    // The person wants another plan.
    case 'KEEP_PLANNING':
      return 'denied'
    case 'ABORTED':
    case 'ABORTED_BEFORE_DISPATCH':
    case 'TOOL_NOT_STARTED':
    case 'SEARCH_ABORTED':
    case 'ASK_ABORTED':
    case 'ASK_CANCELLED':
    case 'REVIEW_DISMISSED':
    case 'REVIEW_WITHDRAWN':
    case 'ESCALATION_CANCELLED':
      return 'cancelled'
    default:
      return 'failed'
  }
}
