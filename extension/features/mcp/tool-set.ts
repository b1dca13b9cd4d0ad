import { stableStringify } from '../../base/json.ts'
import { messageOf } from '../../base/message-of.ts'
import type { Undo } from '../../base/undo.ts'
import type { McpToolFacts } from '../../capabilities/mcp.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import { offeredTool, type OfferedTool, type ToolHost } from './tool.ts'

interface Kept {
  readonly facts: string
  readonly offered: OfferedTool
  readonly undo: Undo | null
}

/** The tools of one server in the registry: a whole list takes the place of the one before, or nothing does. */
export class ToolSet {
  readonly #host: ToolHost
  readonly #register: (definition: ToolDefinition) => Undo
  /** By the name that the server gives, in the order of its list. */
  #kept: ReadonlyMap<string, Kept> = new Map()

  constructor(host: ToolHost, register: (definition: ToolDefinition) => Undo) {
    this.#host = host
    this.#register = register
  }

  get offered(): readonly OfferedTool[] {
    return [...this.#kept.values()].map(({ offered }) => offered)
  }

  /**
   * Take over a list. A tool that it has as before stays as it is, so that a call of it which is being approved goes on and the prefix of
   * requests stays.
   *
   * Shape: null, or what is wrong: a name twice keeps the list before, a name that somebody else has leaves none.
   */
  replace(tools: readonly McpToolFacts[]): string | null {
    const twice = tools.find(({ name }, index) => tools.findIndex((other) => other.name === name) !== index)
    if (twice !== undefined) return `It lists the tool “${twice.name.slice(0, 80)}” twice, so its list is not taken over.`
    const wanted = tools.map((each) => ({ each, facts: stableStringify(each as never) }))
    const stays = new Map(wanted.flatMap(({ each, facts }) => {
      const before = this.#kept.get(each.name)
      return before?.facts === facts ? [[each.name, before] as const] : []
    }))
    for (const [name, { undo }] of this.#kept) if (!stays.has(name)) undo?.()
    const now = new Map(stays)
    this.#kept = now
    try {
      for (const { each, facts } of wanted) {
        if (stays.has(each.name)) continue
        const offered = offeredTool(each, this.#host)
        now.set(each.name, { facts, offered, undo: offered.definition === null ? null : this.#register(offered.definition) })
      }
    } catch (error) {
      this.clear()
      return `Its tools could not be registered: ${messageOf(error)}`
    }
    this.#kept = new Map(wanted.flatMap(({ each }) => {
      const kept = now.get(each.name)
      return kept === undefined ? [] : [[each.name, kept] as const]
    }))
    return null
  }

  clear(): void {
    for (const { undo } of this.#kept.values()) undo?.()
    this.#kept = new Map()
  }
}
