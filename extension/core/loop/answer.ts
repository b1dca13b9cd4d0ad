import type { Json } from '../../base/json.ts'
import { assertNever } from '../../base/assert-never.ts'
import type { AssistantMessage, ReplayState, ToolCallBlock } from '../log/message.ts'
import type { FinishReason, StreamChunk, Usage } from '../model/contract.ts'

type BlockKind = 'text' | 'reasoning' | 'tool-call'
export type AnswerContent = AssistantMessage['content']

interface OpenBlock {
  readonly index: number
  readonly kind: BlockKind
  /** Text, reasoning or arguments. */
  text: string
  id: string
  name: string
  isClosed: boolean
  replay: Json
}

export interface Answer {
  readonly content: AnswerContent
  readonly replayState?: ReplayState
}

/**
 * Puts the parts of a streamed answer together.
 *
 * The first close of a block wins: deltas after it, and second starts, are ignored. A delta for a block that was never
 * started opens it. A call without an id becomes `call-<index>`. Blocks stand in the order in which they began.
 * Source: runtime specification 16.1.
 */
export class AnswerAssembly {
  readonly #blocks = new Map<number, OpenBlock>()
  #finish: FinishReason | null = null
  #finishReplay: Json | undefined
  #usage: Usage | undefined

  /** Null until the stream has said how it ends. What comes after that is ignored. */
  get finish(): FinishReason | null {
    return this.#finish
  }
  get usage(): Usage | undefined {
    return this.#usage
  }

  add(chunk: StreamChunk): void {
    if (this.#finish) return
    switch (chunk.type) {
      case 'block-start':
        this.#open(chunk.index, chunk.block)
        return
      case 'text-delta':
        this.#extend(chunk.index, 'text', chunk.delta)
        return
      case 'reasoning-delta':
        this.#extend(chunk.index, 'reasoning', chunk.delta)
        return
      case 'tool-call-delta': {
        const block = this.#extend(chunk.index, 'tool-call', chunk.argumentsDelta)
        if (!block) return
        block.id ||= chunk.id ?? ''
        block.name ||= chunk.name ?? ''
        return
      }
      case 'block-end': {
        const block = this.#blocks.get(chunk.index)
        if (!block || block.isClosed) return
        block.isClosed = true
        block.replay = chunk.replayState ?? null
        return
      }
      case 'usage':
        this.#usage = chunk.usage
        return
      case 'finish':
        this.#finish = chunk.reason
        this.#finishReplay = chunk.replayState
        return
      default:
        assertNever(chunk, 'stream part')
    }
  }

  /** The whole answer. Without its calls when the model ran out of tokens: a cut call must never run. */
  whole(): Answer {
    const isCut = this.#finish?.kind === 'max-tokens'
    const kept = [...this.#blocks.values()].filter((block) => (isCut ? block.kind !== 'tool-call' : true) && !isVoid(block))
    return answerFrom(kept, this.#finishReplay)
  }

  /** What a cancelled answer leaves: its text and reasoning. Null when there is only blank. */
  prefix(): Answer | null {
    const kept = [...this.#blocks.values()].filter(({ kind, text }) => kind !== 'tool-call' && text.trim() !== '')
    return kept.length === 0 ? null : answerFrom(kept, undefined)
  }

  #open(index: number, kind: BlockKind): OpenBlock {
    const known = this.#blocks.get(index)
    if (known) return known
    const block: OpenBlock = { index, kind, text: '', id: '', name: '', isClosed: false, replay: null }
    this.#blocks.set(index, block)
    return block
  }

  #extend(index: number, kind: BlockKind, delta: string): OpenBlock | undefined {
    const block = this.#open(index, kind)
    if (block.isClosed || block.kind !== kind) return undefined
    block.text += delta
    return block
  }
}

/** Nothing in it that the model would miss; reasoning without text may still carry its provider's state. */
const isVoid = ({ kind, text, replay }: OpenBlock) => kind !== 'tool-call' && text === '' && replay === null

function answerFrom(blocks: readonly OpenBlock[], message: Json | undefined): Answer {
  const content = blocks.map((block) =>
    block.kind === 'tool-call'
      ? { type: 'tool-call' as const, id: block.id || `call-${block.index}`, name: block.name, arguments: block.text }
      : { type: block.kind, text: block.text },
  )
  const hasBlocks = blocks.some(({ replay }) => replay !== null)
  if (!hasBlocks && message === undefined) return { content }
  return {
    content,
    replayState: { ...(hasBlocks && { blocks: blocks.map(({ replay }) => replay) }), ...(message !== undefined && { message }) },
  }
}

export const callsOf = (content: AnswerContent): readonly ToolCallBlock[] => content.filter((block) => block.type === 'tool-call')

/** Gives each call an id that no other call of the session has, because results, approvals and cards are found by it. */
export class CallIds {
  readonly #used: Set<string>

  constructor(used: Iterable<string> = []) {
    this.#used = new Set(used)
  }

  unique(content: AnswerContent): AnswerContent {
    return content.map((block) => (block.type === 'tool-call' ? this.#renamed(block) : block))
  }

  #renamed(call: ToolCallBlock): ToolCallBlock {
    let id = call.id
    for (let count = 2; this.#used.has(id); count++) id = `${call.id}-${count}`
    this.#used.add(id)
    return id === call.id ? call : { ...call, id }
  }
}
