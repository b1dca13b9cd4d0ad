import { stableStringify, type Json } from '../../base/json.ts'
import type { Undo } from '../../base/undo.ts'
import type { BlobStore } from '../../capabilities/blob-store.ts'
import { OWN_TOOL_PREFIX, type EditorToolFacts, type EditorTools } from '../../capabilities/editor-tools.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Context, Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import { settings } from '../../core/settings/specs.ts'
import { createImageKeeper } from '../../core/tools/lent/keep-image.ts'
import type {} from '../../core/tools/service.ts'
import { lentTool, nameOfEditorTool } from './tool.ts'

export interface EditorToolsNeeds {
  readonly tools: EditorTools
  readonly blobs: Pick<BlobStore, 'putAttachment'>
  readonly logger: Logger
  readonly machine: Pick<Machine, 'sha256'>
}

/**
 * The tools of the editor that the setting names, as `vscode__<name>`. What they do nobody knows, so each call asks.
 *
 * The editor is asked with the first session, then again with each new one, when extensions come or go, and when the setting changes; a
 * list that is the same changes nothing, so that the prefix of requests stays. Source: issue 6, part 6.
 */
export function editorToolsPlugin(needs: EditorToolsNeeds): Plugin {
  return {
    name: 'editor-tools',
    inject: ['settings', 'tools'],
    apply(ctx) {
      const lent = new LentTools(ctx, needs)
      let isAwake = false
      const refresh = () => {
        if (isAwake) lent.refresh()
      }
      ctx.on('agent/created', () => {
        isAwake = true
        lent.refresh()
      })
      ctx.effect(needs.tools.onDidChange(refresh))
      ctx.effect(
        ctx.settings.onDidChange((key) => {
          if (key === settings.toolsFromEditor.key) refresh()
        }),
      )
      return () => lent.clear()
    },
  }
}

/** Those that are registered now: a whole list takes the place of the one before. */
class LentTools {
  readonly #ctx: Context
  readonly #needs: EditorToolsNeeds
  #undos: Undo[] = []
  /** Of the facts that are registered. */
  #facts = '[]'

  constructor(ctx: Context, needs: EditorToolsNeeds) {
    this.#ctx = ctx
    this.#needs = needs
  }

  refresh(): void {
    const { logger, machine, tools, blobs } = this.#needs
    const wanted = this.#wanted()
    const facts = stableStringify(wanted as unknown as Json)
    if (facts === this.#facts) return
    this.clear()
    const keepImage = createImageKeeper(this.#ctx, blobs)
    for (const each of wanted) {
      const definition = lentTool(each, { tools, sha256: (text) => machine.sha256(text), keepImage })
      if (definition === null) logger.warn('A tool of the editor is left out: its schema is too large.', { tool: each.name })
      else this.#undos.push(this.#ctx.tools.register(definition))
    }
    this.#facts = facts
  }

  clear(): void {
    for (const undo of this.#undos.splice(0)) undo()
    this.#facts = '[]'
  }

  /** By name, each name once; Bosun's own are here already. */
  #wanted(): readonly EditorToolFacts[] {
    const patterns = this.#ctx.settings.get(settings.toolsFromEditor).map(patternFrom)
    if (patterns.length === 0) return []
    const sha256 = (text: string) => this.#needs.machine.sha256(text)
    const fitting = this.#needs.tools.list().filter(({ name }) => !name.startsWith(OWN_TOOL_PREFIX) && patterns.some((pattern) => pattern.test(name)))
    const byName = new Map(fitting.map((facts) => [nameOfEditorTool(facts.name, sha256), facts]))
    return [...byName.keys()].toSorted().flatMap((name) => byName.get(name) ?? [])
  }
}

/** A name, in which `*` stands for anything. */
const patternFrom = (text: string): RegExp => new RegExp(`^${text.split('*').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('.*')}$`)
