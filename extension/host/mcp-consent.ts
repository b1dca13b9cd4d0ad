import type { Attention } from '../capabilities/attention.ts'
import type { Editor } from '../capabilities/editor.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { Memento } from '../capabilities/memento.ts'
import type { McpServerReport } from '../features/mcp/service.ts'
import { configuredIn, consentWords, givenWords, listedTarget } from './mcp-words.ts'

interface Needs {
  readonly attention: Pick<Attention, 'tell'>
  readonly editor: Pick<Editor, 'pickMany'>
  readonly memento: Memento
  readonly l10n: Localization
  readonly folders: () => Parameters<typeof configuredIn>[1]
  /** As they stand now. */
  readonly servers: () => readonly McpServerReport[]
  readonly allow: (names: readonly string[]) => Promise<void>
  readonly open: (server: McpServerReport) => Promise<void>
  /** The person wants to hear no more of some. */
  readonly onPutOff: () => void
}

/** Digests of entries for which the person said “Not now”. */
const KEPT = 'mcp.notNow'
const MAX_KEPT = 200

/** Asks once for each entry of a workspace that would run something; a changed entry is another one. */
export class McpConsent {
  readonly #needs: Needs
  /** Digests that were asked about in this window. */
  readonly #asked = new Set<string>()
  #isAsking = false

  constructor(needs: Needs) {
    this.#needs = needs
  }

  /** Ask about those that wait and were never asked about. Errors: those of `allow` and `open`. */
  async ask(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    try {
      for (let waiting = this.#unasked(); waiting.length > 0; waiting = this.#unasked()) {
        for (const { digest } of waiting) this.#asked.add(digest)
        if (waiting.length === 1) await this.#askOne(waiting[0]!)
        else await this.#askAll(waiting)
      }
    } finally {
      this.#isAsking = false
    }
  }

  /** A list of those that wait, to tick those that may run. */
  async review(waiting: readonly McpServerReport[]): Promise<void> {
    const { editor, l10n, folders } = this.#needs
    const chosen = await editor.pickMany({
      title: l10n.t('MCP servers that may run'),
      placeholder: l10n.t('Each runs until its entry changes'),
      items: waiting.map((server) => ({ id: server.name, label: server.title, description: configuredIn(server, folders(), l10n), detail: [listedTarget(server.target), ...(server.given.length === 0 ? [] : [givenWords(server.given)])].join(' · ') })),
    })
    if (chosen === null) return
    await this.#allowed(waiting.filter(({ name }) => chosen.includes(name)))
    await this.#notNow(waiting.filter(({ name }) => !chosen.includes(name)))
  }

  async #askOne(server: McpServerReport): Promise<void> {
    const { attention, l10n, folders, open } = this.#needs
    const actions = [
      { id: 'allow', label: l10n.t('Allow') },
      { id: 'show', label: l10n.t('Show') },
      { id: 'not-now', label: l10n.t('Not Now') },
    ]
    for (;;) {
      const answer = await attention.tell({ level: 'warning', text: consentWords(server, folders(), l10n), actions })
      if (answer === 'allow') return await this.#allowed([server])
      if (answer === 'not-now') return await this.#notNow([server])
      if (answer !== 'show' || !this.#stillWaits(server)) return
      await open(server)
    }
  }

  async #askAll(waiting: readonly McpServerReport[]): Promise<void> {
    const { attention, l10n } = this.#needs
    const answer = await attention.tell({
      level: 'warning',
      text: l10n.t('{count} MCP servers of this workspace wait for your consent: {names}. None runs before.', { count: waiting.length, names: waiting.map(({ title }) => title).join(', ') }),
      actions: [
        { id: 'review', label: l10n.t('Review…') },
        { id: 'not-now', label: l10n.t('Not Now') },
      ],
    })
    if (answer === 'review') await this.review(waiting.filter((server) => this.#stillWaits(server)))
    if (answer === 'not-now') await this.#notNow(waiting)
  }

  /** Only the very entry that was shown. */
  async #allowed(servers: readonly McpServerReport[]): Promise<void> {
    const names = servers.filter((server) => this.#stillWaits(server)).map(({ name }) => name)
    if (names.length > 0) await this.#needs.allow(names)
  }

  async #notNow(servers: readonly McpServerReport[]): Promise<void> {
    const { memento, onPutOff } = this.#needs
    if (servers.length === 0) return
    await memento.set(KEPT, [...this.#kept(), ...servers.map(({ digest }) => digest)].slice(-MAX_KEPT))
    onPutOff()
  }

  /** Those that wait, without those that the person put off. */
  waiting(): readonly McpServerReport[] {
    const kept = this.#kept()
    return this.#needs.servers().filter(({ state, digest }) => state === 'waits' && !kept.includes(digest))
  }

  #unasked(): readonly McpServerReport[] {
    return this.waiting().filter(({ digest }) => !this.#asked.has(digest))
  }

  #stillWaits({ name, digest }: McpServerReport): boolean {
    return this.#needs.servers().some((server) => server.name === name && server.digest === digest && server.state === 'waits')
  }

  #kept(): readonly string[] {
    const kept = this.#needs.memento.get(KEPT)
    return Array.isArray(kept) ? kept.filter((digest) => typeof digest === 'string') : []
  }
}
