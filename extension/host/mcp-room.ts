import type { Undo } from '../base/undo.ts'
import type { McpReport, McpServerReport } from '../features/mcp/service.ts'
import type { ChatState } from './chat-state.ts'
import { askForServer } from './mcp-adding.ts'
import type { McpCommand } from './mcp-commands.ts'
import { McpConsent } from './mcp-consent.ts'
import { McpLogs } from './mcp-logs.ts'
import { kindsOf, mcpTree, serverOfNode, skippedOfNode, waitsForPerson, type TreeServer } from './mcp-tree.ts'
import { configuredIn, oneLine, stateWords } from './mcp-words.ts'

/** Ages are told in minutes. */
const AGE_MS = 30_000
/** Commands on a server, by the word of its row that offers them. */
const neededKind = {
  allow: 'waits',
  forget: 'consented',
  start: 'startable',
  stop: 'stoppable',
  restart: 'restartable',
  'show-log': 'logged',
  'open-configuration': 'server',
  'sign-in': 'locked',
  'sign-out': 'signed',
  'give-input': 'asking',
  tools: 'switchable',
  trust: 'trustable',
  distrust: 'trusted',
} as const satisfies Partial<Record<McpCommand, string>>
type ServerCommand = keyof typeof neededKind

/** MCP servers before the person: the tree, the consent to those of the workspace, their logs, and a word when one fails or waits for the person. */
export class McpRoom {
  readonly #chat: ChatState
  readonly #consent: McpConsent
  readonly #logs: McpLogs
  readonly #conditions = new Set<string>()
  /** How each server stood when it was last looked at. */
  readonly #before = new Map<string, McpServerReport['state']>()
  /** Why each went, while it comes back and after. */
  readonly #ends = new Map<string, { readonly reason: string; readonly at: number }>()
  /** Those that do not run until the person does something. */
  readonly #troubled = new Map<string, McpServerReport>()
  /** Servers whose rows the person opened. */
  readonly #opened = new Set<string>()
  #cancelAge: Undo | null = null
  /** Digests of those that the line about consent tells of. */
  #told = ''

  constructor(chat: ChatState) {
    const { attention, editor, l10n, logViews, memento, workspace } = chat.world
    const { mcp } = chat.services
    this.#chat = chat
    this.#consent = new McpConsent({
      attention,
      editor,
      memento,
      l10n,
      folders: () => workspace.folders(),
      servers: () => mcp.report().servers,
      allow: (names) => mcp.allow(names),
      open: (server) => this.#openConfiguration(server),
      onPutOff: () => this.#refreshConsentNotice(),
    })
    this.#logs = new McpLogs({ views: logViews, l10n, lines: (server) => mcp.log(server) })
  }

  /** Follow the servers until the undo is called. Nothing of them is read before somebody looks, or a session begins. */
  attach(): Undo {
    const { mcp } = this.#chat.services
    const { mcpTree: view } = this.#chat.world
    const look = () => {
      if (view.isVisible()) mcp.wake()
      this.#draw()
    }
    const undos = [
      mcp.onDidChange(() => this.refresh()),
      mcp.onLog((server, line) => this.#logs.note(server, line)),
      mcp.attachChat(() => this.#chat.worker()),
      view.onDidChangeVisible(look),
      view.onDidOpen((nodeId) => void this.#opened.add(serverOfNode(nodeId)?.server ?? '')),
      view.onDidCheck((nodeId, isChecked) => {
        const tool = serverOfNode(nodeId)?.tool
        if (tool != null) mcp.setTool(tool, isChecked).catch((error: unknown) => this.#failed(error))
      }),
    ]
    look()
    this.refresh()
    return () => {
      for (const undo of undos) undo()
      this.#cancelAge?.()
      this.#logs.dispose()
      view.show({ nodes: [] })
    }
  }

  refresh(): void {
    const report = this.#chat.services.mcp.report()
    this.#noteStates(report.servers)
    this.#logs.retain(new Set(report.servers.map(({ name }) => name)))
    this.#draw()
    this.#refreshConditions(report)
    this.#refreshConsentNotice()
    this.#consent.ask().catch((error: unknown) => this.#failed(error))
  }

  // What the person asks for

  /** A command of a menu, with the node that it was opened on, or of the palette, which asks for the server. */
  async run(command: McpCommand, nodeId: string | null): Promise<void> {
    const { mcp } = this.#chat.services
    const node = nodeId === null ? null : serverOfNode(nodeId)
    switch (command) {
      case 'add':
        return await this.#add()
      case 'refresh':
        return await mcp.reread()
      case 'tool-on':
      case 'tool-off':
        if (node?.tool != null) await mcp.setTool(node.tool, command === 'tool-on')
        return
      default: {
        const entry = command === 'open-configuration' && nodeId !== null ? skippedOfNode(nodeId) : null
        if (entry !== null) {
          const skipped = mcp.report().skipped[entry]
          if (skipped !== undefined) await this.#openConfiguration(skipped)
          return
        }
        const server = node === null ? await this.#pick(command) : (mcp.report().servers.find(({ name }) => name === node.server) ?? null)
        if (server !== null) await this.#act(command, server)
      }
    }
  }

  async #act(command: ServerCommand, server: McpServerReport): Promise<void> {
    const { mcp } = this.#chat.services
    const { name } = server
    switch (command) {
      case 'allow':
        return await mcp.allow([name])
      case 'forget':
        return await mcp.forget([name])
      case 'start':
      case 'restart':
        return await mcp.restart(name)
      case 'stop':
        return await mcp.stop(name)
      case 'show-log':
        return this.#logs.show(server)
      case 'open-configuration':
        return await this.#openConfiguration(server)
      case 'sign-in':
        return await mcp.signIn(name)
      case 'sign-out':
        return this.#tellSignedOut(server, await mcp.signOut(name))
      case 'give-input':
        return await this.#giveInput(server)
      case 'tools':
        return await this.#switchTools(server)
      case 'trust':
      case 'distrust':
        return await mcp.setTrusted(name, command === 'trust')
    }
  }

  /** `left`: why the server may still take what it gave. */
  #tellSignedOut({ name, title }: McpServerReport, left: string | null): void {
    if (left !== null) this.#chat.notice(`${noticeOf(name)}:signed-out`, 'warning', this.#chat.world.l10n.t('You are signed out of the MCP server “{name}”. {reason}', { name: title, reason: left }))
  }

  async #add(): Promise<void> {
    const { mcp } = this.#chat.services
    await mcp.reread()
    const server = await askForServer({ ...this.#chat.world, taken: mcp.report().servers.flatMap(({ name, title }) => [name, title]) })
    if (server === null) return
    await mcp.add(server)
    await this.#chat.world.mcpTree.focus()
  }

  /** Those that are missing; where none is, all, to give other values. */
  async #giveInput({ name, inputs, missingInputs }: McpServerReport): Promise<void> {
    for (const { id } of missingInputs.length > 0 ? missingInputs : inputs) if (!(await this.#chat.services.mcp.askInput(name, id))) return
  }

  async #switchTools({ title, tools }: McpServerReport): Promise<void> {
    const { editor, l10n } = this.#chat.world
    const { mcp } = this.#chat.services
    const offered = tools.filter(({ problem }) => problem === null)
    const chosen = await editor.pickMany({
      title: l10n.t('Tools of {name} in this workspace', { name: title }),
      placeholder: l10n.t('What is ticked is offered to the model'),
      items: offered.map((tool) => ({ id: tool.name, label: tool.raw, detail: oneLine(tool.description), isCurrent: tool.isOn })),
    })
    if (chosen === null) return
    for (const tool of offered) if (chosen.includes(tool.name) !== tool.isOn) await mcp.setTool(tool.name, !tool.isOn)
  }

  /** Also of an entry that cannot be used. */
  async #openConfiguration({ file }: Pick<McpServerReport, 'file'>): Promise<void> {
    if (file === null) return await this.#chat.world.editor.openSettings('bosun.mcp.servers')
    const problem = await this.#chat.world.editor.openLocation({ path: file.path, line: file.line }, '/')
    if (problem !== null) this.#chat.notice('mcp', 'warning', problem)
  }

  async #pick(command: ServerCommand): Promise<McpServerReport | null> {
    const { editor, l10n, workspace } = this.#chat.world
    const fitting = this.#chat.services.mcp.report().servers.filter((server) => kindsOf(server).includes(neededKind[command]))
    if (fitting.length === 0) {
      this.#chat.notice('mcp', 'info', l10n.t('There is no MCP server that this can be done with.'))
      return null
    }
    if (fitting.length === 1) return fitting[0]!
    const picked = await editor.pick({
      title: l10n.t('Which MCP server?'),
      items: fitting.map((server) => ({ id: server.name, label: server.title, description: `${stateWords(server.state, l10n)} · ${configuredIn(server, workspace.folders(), l10n)}` })),
    })
    return fitting.find(({ name }) => name === picked) ?? null
  }

  // What is seen

  #draw(): void {
    const { clock, mcpTree: view, l10n, workspace } = this.#chat.world
    const { servers, skipped, note } = this.#chat.services.mcp.report()
    const now = clock.now()
    const rows = servers.map((server): TreeServer => ({ ...server, place: configuredIn(server, workspace.folders(), l10n), lastEnd: server.state === 'running' ? (this.#ends.get(server.name) ?? null) : null, isOpened: this.#opened.has(server.name) }))
    view.show(mcpTree({ servers: rows, skipped, now, ...(note !== undefined && { note }) }, l10n))
    this.#cancelAge?.()
    this.#cancelAge = view.isVisible() && rows.some(({ lastEnd }) => lastEnd !== null) ? clock.schedule(AGE_MS, () => this.#draw()) : null
  }

  /** What became of each since the last look: how it ended is remembered, and what the person can do about it is told once. */
  #noteStates(servers: readonly McpServerReport[]): void {
    for (const { name, state, reason } of servers) {
      if (state === 'retrying' && reason !== null) this.#ends.set(name, { reason, at: this.#chat.world.clock.now() })
      else if (state !== 'starting' && state !== 'running') this.#ends.delete(name)
    }
    let [isChanged, isNews] = [false, false]
    for (const server of servers) {
      const before = this.#before.get(server.name)
      this.#before.set(server.name, server.state)
      // An attempt may lead to the same failure; the line goes when it led elsewhere.
      if (before === server.state || server.state === 'starting') continue
      isChanged = true
      this.#troubled.delete(server.name)
      if (server.state !== 'failed' && server.state !== 'needs-input' && server.state !== 'needs-sign-in') continue
      isNews = true
      this.#troubled.set(server.name, server)
    }
    const there = new Set(servers.map(({ name }) => name))
    for (const name of [...this.#before.keys()]) {
      if (there.has(name)) continue
      isChanged = true
      this.#before.delete(name)
      this.#ends.delete(name)
      this.#troubled.delete(name)
      this.#chat.notices.close(noticeOf(name))
    }
    if (isChanged) this.#tellTroubles(isNews)
  }

  /** One line for one server; for several, one that names them, so that they leave room for the talk. */
  #tellTroubles(isNews: boolean): void {
    const { notices } = this.#chat
    const { l10n, mcpTree: view } = this.#chat.world
    const troubled = [...this.#troubled.values()]
    const only = troubled.length === 1 ? troubled[0] : undefined
    const wasTold = notices.has(TROUBLES)
    for (const name of this.#before.keys()) if (name !== only?.name) notices.close(noticeOf(name))
    if (troubled.length < 2) notices.close(TROUBLES)
    // One that the person closed stays closed until there is another.
    if (!isNews && !wasTold) return
    if (only !== undefined) this.#tell(only)
    if (troubled.length < 2) return
    const text = l10n.t('{count} MCP servers do not run: {names}.', { count: troubled.length, names: troubled.map(({ title }) => title).join(', ') })
    this.#chat.notice(TROUBLES, troubled.some(({ state }) => state === 'failed') ? 'error' : 'warning', text, [{ id: 'show', label: l10n.t('Show Why'), run: () => view.focus() }])
  }

  #tell(server: McpServerReport): void {
    const { l10n } = this.#chat.world
    const { name, title, state, reason } = server
    const action = (id: ServerCommand, label: string) => ({ id, label, run: () => this.run(id, `server:${name}`) })
    const log = action('show-log', l10n.t('Show Log'))
    const values = { name: title, reason: reason ?? '' }
    if (state === 'failed') this.#chat.notice(noticeOf(name), 'error', l10n.t('The MCP server “{name}” does not run. {reason}', values), [action('restart', l10n.t('Restart')), log])
    else if (state === 'needs-input') this.#chat.notice(noticeOf(name), 'warning', l10n.t('The MCP server “{name}” does not run. {reason}', values), [action('give-input', l10n.t('Give It…'))])
    else this.#chat.notice(noticeOf(name), 'warning', l10n.t('The MCP server “{name}” does not run. {reason}', values), [...(server.canSignIn ? [action('sign-in', l10n.t('Sign In…'))] : []), log])
  }

  /** Beside the notification, which goes by itself. */
  #refreshConsentNotice(): void {
    const { l10n } = this.#chat.world
    const waiting = this.#consent.waiting()
    const told = waiting.map(({ digest }) => digest).join()
    // One that the person closed stays closed until others wait.
    if (told === this.#told) return
    this.#told = told
    if (waiting.length === 0) return this.#chat.notices.close(CONSENT)
    const text =
      waiting.length === 1
        ? l10n.t('The MCP server “{name}” of this workspace waits for your consent and does not run.', { name: waiting[0]!.title })
        : l10n.t('{count} MCP servers of this workspace wait for your consent and do not run.', { count: waiting.length })
    this.#chat.notice(CONSENT, 'info', text, [{ id: 'review', label: l10n.t('Review…'), run: () => this.#consent.review(this.#consent.waiting()) }])
  }

  #refreshConditions({ servers, skipped, isRead }: McpReport): void {
    const kinds = new Set(servers.flatMap(kindsOf))
    const facts: Readonly<Record<string, boolean>> = {
      'bosun.mcp.read': isRead,
      'bosun.mcp.skipped': skipped.length > 0,
      'bosun.mcp.waiting': servers.some(waitsForPerson),
      ...Object.fromEntries(Object.values(neededKind).map((kind) => [`bosun.mcp.${kind}`, kinds.has(kind)])),
    }
    for (const [name, isTrue] of Object.entries(facts)) {
      if (this.#conditions.has(name) === isTrue) continue
      if (isTrue) this.#conditions.add(name)
      else this.#conditions.delete(name)
      this.#chat.world.editor.setCondition(name, isTrue)
    }
  }

  #failed(error: unknown): void {
    this.#draw()
    this.#chat.tellFailure(error)
  }
}

const CONSENT = 'mcp-consent'
const TROUBLES = 'mcp-troubles'
const noticeOf = (server: string) => `mcp:${server}`
