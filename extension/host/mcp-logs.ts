import type { Localization } from '../capabilities/localization.ts'
import type { LogView, LogViews } from '../capabilities/log-view.ts'

interface Needs {
  readonly views: LogViews
  readonly l10n: Localization
  /** The last lines of a server, oldest first. */
  readonly lines: (server: string) => readonly string[]
}

/** Lines that may follow in a view before it is cut to what the server keeps. */
export const MAX_FOLLOWING = 1_000

/** Logs of MCP servers that the person asked to see: each a view of its own that goes on, bounded. */
export class McpLogs {
  readonly #needs: Needs
  readonly #shown = new Map<string, { readonly view: LogView; following: number }>()

  constructor(needs: Needs) {
    this.#needs = needs
  }

  show({ name: server, title }: { readonly name: string; readonly title: string }): void {
    const { views, l10n } = this.#needs
    const shown = this.#shown.get(server) ?? { view: views.open(l10n.t('Bosun MCP: {name}', { name: title })), following: 0 }
    this.#shown.set(server, shown)
    this.#fill(server, shown)
    shown.view.reveal()
  }

  note(server: string, line: string): void {
    const shown = this.#shown.get(server)
    if (shown === undefined) return
    shown.following += 1
    if (shown.following > MAX_FOLLOWING) this.#fill(server, shown)
    else shown.view.append(`${line}\n`)
  }

  /** Those of servers that are not configured any more go. */
  retain(servers: ReadonlySet<string>): void {
    for (const [server, { view }] of this.#shown) {
      if (servers.has(server)) continue
      this.#shown.delete(server)
      view.dispose()
    }
  }

  dispose(): void {
    this.retain(new Set())
  }

  #fill(server: string, shown: { readonly view: LogView; following: number }): void {
    shown.following = 0
    shown.view.replace(this.#needs.lines(server).map((line) => `${line}\n`).join(''))
  }
}
