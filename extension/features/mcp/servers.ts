import { Emitter } from '../../base/emitter.ts'
import { orAbort } from '../../base/or-abort.ts'
import type { BlobStore } from '../../capabilities/blob-store.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Machine } from '../../capabilities/machine.ts'
import { McpError, type McpBrowser, type McpConnection, type McpConnector, type McpContent, type McpKeptSignIn, type McpListener, type McpSignIn, type McpSignInFact } from '../../capabilities/mcp.ts'
import type { Secrets } from '../../capabilities/secrets.ts'
import { clipped } from '../../base/text.ts'
import { thrownText } from '../../base/thrown-text.ts'
import type { Context } from '../../core/kernel/plugin.ts'
import type { ToolContent } from '../../core/log/message.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import { isOfMcpServer, isSwitchedOff, toolTicksOf } from '../../core/presets/mcp-tools.ts'
import type { Agent } from '../../core/session/agent.ts'
import { settings } from '../../core/settings/specs.ts'
import type { BodyExecution } from '../../core/tools/definition.ts'
import { addServer, entryText, targetText } from './add-server.ts'
import { entryLines } from './entry-lines.ts'
import { questionsOf, valuesOf } from './elicitation.ts'
import { filledTarget, type FilledTarget } from './fill-variables.ts'
import { HiddenValues } from './hidden-values.ts'
import { noSignIn, remedyFor, withoutAsking } from './remedies.ts'
import { createImageKeeper } from '../../core/tools/lent/keep-image.ts'
import { canonicalValue, renderValue } from '../../core/tools/lent/result-content.ts'
import { findServers, MAX_SERVER_FILE_BYTES, type FoundServer, type FoundServers, type ServerFileNeeds } from './server-files.ts'
import { ServerLife } from './server-life.ts'
import type { McpState } from './server-moves.ts'
import type { ServerWords } from './server-words.ts'
import type { AskInput, Mcp, McpReport, McpServerReport, NewServer } from './service.ts'
import { ToolSet } from './tool-set.ts'

export interface McpNeeds extends ServerFileNeeds {
  readonly connector: McpConnector
  readonly blobs: Pick<BlobStore, 'putAttachment'>
  readonly clock: Clock
  readonly logger: Logger
  readonly machine: Pick<Machine, 'userFolder' | 'sha256' | 'homeFolder' | 'platform' | 'randomId'>
  readonly secrets: Secrets
  /** A box for one value; null when the person backed out. Absent where no person is. */
  readonly askInput?: AskInput
  /** How the person signs in; absent where there is no browser to do it in. */
  readonly signIn?: McpBrowser
}

interface Server {
  /** Its target with values in the place of its variables. */
  readonly fill: () => Promise<FilledTarget>
  readonly found: FoundServer
  readonly life: ServerLife
  readonly tools: ToolSet
  /** Those that run, the first begun first. */
  readonly calls: Set<RunningCall>
  readonly hidden: HiddenValues
  isSignedIn: boolean
}
interface RunningCall {
  readonly exec: BodyExecution
  /** By which the server may say that it means this one. */
  readonly token: string
  readonly onAsking: (isAsking: boolean) => void
  /** It failed, so nothing that was asked for it is of use any more. */
  readonly failed: AbortController
}

/** Who asks the person. */
interface Asking {
  readonly name: string
  /** For the person. */
  readonly title: string
  readonly calls: ReadonlySet<RunningCall>
  /** Nobody is asked; the log of the server says why. */
  readonly refuse: (why: string) => { readonly action: 'decline' }
}

/** States in which a call of its tools may come to something. */
const CALLABLE: ReadonlySet<McpState> = new Set(['starting', 'running', 'retrying', 'idle'])
/** For a server to take back a sign-in. */
const REVOKE_LIMIT_MS = 10_000
const stillCounts = (why: string) => `What it gave for your sign-in is forgotten here, and may count there until it runs out: ${why}.`

/** Questions of one server in a while: each is written down, and who asks more often asks nobody who could answer. */
const MAX_QUESTIONS = 100
const QUESTIONS_WINDOW_MS = 60_000
/** Attempts at an answer that fits what a server asked for. */
const MAX_ASKS = 3

/** All configured servers: found, let run by the person, kept running, taken away. */
export class McpServers implements Mcp {
  readonly #ctx: Context
  readonly #needs: McpNeeds
  readonly #servers = new Map<string, Server>()
  readonly #changes: Emitter<void>
  readonly #lines: Emitter<{ readonly name: string; readonly line: string }>
  #found: FoundServers = { servers: [], skipped: [] }
  #reading: Promise<void> | null = null
  #isStale = false
  #isRead = false
  #isReading = false
  #isDisposed = false
  readonly #ending = new Set<Promise<void>>()

  constructor(ctx: Context, needs: McpNeeds) {
    const onError = (error: unknown) => needs.logger.error('A listener for MCP servers failed.', { error: String(error) })
    this.#ctx = ctx
    this.#needs = needs
    this.#changes = new Emitter(onError)
    this.#lines = new Emitter(onError)
    ctx.effect(needs.secrets.onDidChange((name) => this.#secretChanged(name)))
  }

  wake(): void {
    if (this.#reading === null) this.refresh()
  }

  get isAwake(): boolean {
    return this.#reading !== null
  }

  /** Read the configuration anew; what is configured the same goes on. */
  refresh(): void {
    if (this.#isDisposed) return
    this.#isStale = true
    const before = this.#reading ?? Promise.resolve()
    const reading: Promise<void> = before
      .then(() => this.#read())
      .catch((error: unknown) => this.#needs.logger.error('The MCP servers could not be read.', { error: String(error) }))
      .finally(() => {
        if (this.#reading === reading) this.#isReading = false
      })
    this.#isReading = true
    this.#reading = reading
  }

  /** Resolves when no server is being found or started. Errors: the signal's reason. */
  async settled(signal: AbortSignal): Promise<void> {
    for (let reading: Promise<void> | null = null; reading !== this.#reading; ) {
      reading = this.#reading
      if (reading !== null) await orAbort(reading, signal)
    }
    await Promise.all([...this.#servers.values()].map(({ life }) => life.settled(signal)))
  }

  /** Nobody needs to wait: no server is being found or started. */
  get isSettled(): boolean {
    return !this.#isReading && [...this.#servers.values()].every(({ life }) => life.state !== 'starting')
  }

  async settledWithin(limitMs: number, signal: AbortSignal): Promise<void> {
    if (this.isSettled) return
    const late = new AbortController()
    const stop = this.#needs.clock.schedule(limitMs, () => late.abort())
    try {
      await this.settled(AbortSignal.any([signal, late.signal]))
    } catch (error) {
      // Its time is up; whoever waited goes on without what is not there yet.
      if (!late.signal.aborted) throw error
    } finally {
      stop()
    }
  }

  /** Wait for those without which no turn begins. Errors: `McpError` `MCP_START_FAILED` with the reason; the signal's reason. */
  async needed(signal: AbortSignal): Promise<void> {
    for (const { found, life } of this.#servers.values()) {
      if (!found.config.isNeeded) continue
      await life.settled(signal)
      if (['running', 'idle'].includes(life.state)) continue
      const { name } = found.config
      throw new McpError('MCP_START_FAILED', `The MCP server ${name} does not run, and its entry says that nothing begins without it.${life.reason === null ? '' : ` ${life.reason}`} You can ${remedyFor(life.state, name, { canSignIn: this.#canSignIn(found) }) ?? `wait until it is reached again, or stop needing it`}; “failOnStartupError” is in ${found.source}.`)
    }
  }

  async reread(): Promise<void> {
    this.refresh()
    await this.#reading
  }

  report(): McpReport {
    const note = this.#needs.workspace.isTrusted() ? undefined : 'The folder is not trusted, so servers of the project are not read.'
    return { isRead: this.#isRead, servers: this.#found.servers.map((found) => this.#reportOf(found)), skipped: this.#found.skipped, ...(note !== undefined && { note }) }
  }

  async allow(names: readonly string[]): Promise<void> {
    const digests = this.#found.servers.filter(({ config }) => names.includes(config.name)).map(({ digest }) => digest)
    const before = this.#ctx.settings.get(settings.mcpAllowed)
    await this.#ctx.settings.update({ key: settings.mcpAllowed.key, value: [...new Set([...before, ...digests])] })
    await this.reread()
  }

  async forget(names: readonly string[]): Promise<void> {
    const digests = this.#found.servers.filter(({ config }) => names.includes(config.name)).map(({ digest }) => digest)
    const before = this.#ctx.settings.get(settings.mcpAllowed)
    await this.#ctx.settings.update({ key: settings.mcpAllowed.key, value: before.filter((digest) => !digests.includes(digest)) })
    await this.reread()
  }

  async add(server: NewServer): Promise<void> {
    await this.reread()
    await addServer(server, { files: this.#needs.files, settings: this.#ctx.settings, taken: this.#found.servers.flatMap(({ config, ownName }) => [config.name, ownName]) })
    await this.reread()
    // The person wrote this very entry; another one that came into the file meanwhile still waits.
    const added = this.#found.servers.find(({ ownName, folder }) => folder === server.folder && ownName === server.name)
    if (added !== undefined && server.folder !== null && targetText(added.config.target) === entryText(server.entry)) await this.allow([added.config.name])
  }

  async restart(name: string): Promise<void> {
    await this.#server(name).life.restart()
  }

  async stop(name: string): Promise<void> {
    await this.#server(name).life.stop()
  }

  async signIn(name: string): Promise<void> {
    const { found, life } = this.#server(name)
    if (this.#needs.signIn === undefined) throw new McpError('MCP_SIGN_IN', noSignIn(name))
    if (!this.#canSignIn(found)) throw new McpError('MCP_SIGN_IN', `Nobody signs in at ${name}: ${found.config.target.kind === 'stdio' ? 'it is a program of this machine' : 'its entry gives the header “Authorization”'}.`)
    await life.restart({ isSigningIn: true })
  }

  async signOut(name: string): Promise<string | null> {
    const { found, life, fill, hidden } = this.#server(name)
    const signIn = this.#signInOf(found, false)
    if (signIn === undefined) throw new McpError('MCP_SIGN_IN', noSignIn(name))
    // What is being renewed is kept by the end of its conversation, and would be kept after this.
    await life.stop()
    const [tokens, client] = await Promise.all([signIn.load('tokens'), signIn.load('client')])
    await signIn.save('tokens', null)
    await signIn.save('client', null)
    const [told] = await Promise.all([tokens === null ? null : this.#revoked(fill, { tokens, client }), life.restart()])
    const left = told === null ? null : hidden.redact(told)
    if (left !== null) life.note(left)
    return left
  }

  /** Null: what was given counts no more. Never rejects. */
  async #revoked(fill: Server['fill'], kept: McpKeptSignIn): Promise<string | null> {
    const late = new AbortController()
    const stop = this.#needs.clock.schedule(REVOKE_LIMIT_MS, () => late.abort(new McpError('MCP_TIMEOUT', `it did not answer within ${REVOKE_LIMIT_MS / 1_000} s`)))
    try {
      const filled = await fill()
      if (filled.kind !== 'filled' || filled.target.kind === 'stdio') return stillCounts('its entry cannot be read any more')
      return (await this.#needs.connector.revoke(filled.target, kept, late.signal)) ? null : stillCounts('it offers no way to take it back')
    } catch (error) {
      return stillCounts((thrownText(error) ?? 'it failed').replace(/\.$/, ''))
    } finally {
      stop()
    }
  }

  async askInput(name: string, id: string): Promise<boolean> {
    const { found } = this.#server(name)
    const input = found.inputs.find((known) => known.id === id)
    if (input === undefined) throw new McpError('MCP_UNAVAILABLE', `The MCP server ${name} has no input ${id}. ${found.inputs.length === 0 ? 'It needs none' : `It has ${found.inputs.map((known) => known.id).join(', ')}`}.`)
    const { askInput } = this.#needs
    if (askInput === undefined) throw new McpError('MCP_UNAVAILABLE', `There is nobody to ask for a value here. ${withoutAsking([id], found.source)}`)
    const { description, isSecret, options, command, fallback } = input
    // What was given for a secret is shown to nobody; what was given else is what may be changed.
    const given = isSecret ? undefined : (await this.#needs.secrets.get(this.#inputName(found, id)))?.value
    const preset = given ?? fallback
    const value = await askInput({ server: found.title, id, description, isSecret, ...(options && { options }), ...(command && { command }), ...(preset !== null && { preset }) })
    if (value === null || value === '') return false
    await this.giveInput(name, id, value)
    return true
  }

  async giveInput(name: string, id: string, value: string): Promise<void> {
    const { found, life } = this.#server(name)
    await this.#needs.secrets.set(this.#inputName(found, id), value)
    await life.restart()
  }

  async setTool(tool: string, isOn: boolean): Promise<void> {
    // Ticks come faster than settings are written, and each builds on the one before.
    const before = this.#ticking
    const ticking = before.then(() => this.#tick(tool, isOn))
    this.#ticking = ticking.catch(() => {
      // Whoever made this tick hears of its failure; the next one is another's.
    })
    await ticking
    this.#changes.emit()
  }

  #ticking: Promise<void> = Promise.resolve()

  async #tick(tool: string, isOn: boolean): Promise<void> {
    const place = toolTicksOf(this.#needs.workspace.folders())
    const off = (this.#ctx.settings.get(settings.mcpDisabledTools)[place] ?? []).filter((name) => name !== tool)
    const next = isOn ? off : [...off, tool]
    await this.#ctx.settings.update({ key: settings.mcpDisabledTools.key, path: [place], value: next.length === 0 ? undefined : next })
    const everywhere = this.#ctx.settings.get(settings.toolsDisabled)
    if (isOn && everywhere.includes(tool)) await this.#ctx.settings.update({ key: settings.toolsDisabled.key, value: everywhere.filter((name) => name !== tool) })
  }

  async setTrusted(name: string, isTrusted: boolean): Promise<void> {
    const { found } = this.#server(name)
    const others = this.#ctx.settings.get(settings.mcpTrusted).filter((entry) => entry !== found.digest)
    await this.#ctx.settings.update({ key: settings.mcpTrusted.key, value: isTrusted ? [...others, found.digest] : others })
    this.#changes.emit()
  }

  /** What the servers that can be called say of their tools, if any of these is there for whoever is asked about. */
  words(hasTool: (name: string) => boolean): readonly ServerWords[] {
    return this.#found.servers.flatMap(({ config }) => {
      const server = this.#servers.get(config.name)
      if (server === undefined) return []
      const { life: { instructions, state }, tools, hidden } = server
      if (instructions === null || !CALLABLE.has(state) || !tools.offered.some(({ name }) => hasTool(name))) return []
      return [{ name: config.name, words: hidden.redact(instructions) }]
    })
  }

  /** Why a tool that looks like one of a server is not offered; undefined when it is none of ours. */
  absence(tool: string): string | undefined {
    const found = this.#found.servers.find(({ config }) => isOfMcpServer(tool, config.name))
    if (found === undefined) return undefined
    const { state, reason, tools } = this.#reportOf(found)
    const offered = tools.find((each) => each.name === tool)
    if (offered?.isOn === false) return `The person switched ${tool} off. Go on without it; they can switch it on in the view MCP Servers.`
    if (offered !== undefined) return offered.problem === null ? undefined : `${tool} is not offered: ${offered.problem}`
    if (state === 'running') return undefined
    const { name } = found.config
    const remedy = remedyFor(state, name, { canSignIn: this.#canSignIn(found) })
    return `The MCP server ${name}, which ${tool} would be of, does not run${reason === null ? '' : `: ${reason.replace(/\.$/, '')}`}. ${remedy === null ? '' : `The person can ${remedy}. `}Go on without it.`
  }

  log(name: string): readonly string[] {
    return this.#servers.get(name)?.life.log ?? []
  }

  onLog(listener: Parameters<Mcp['onLog']>[0]): ReturnType<Mcp['onLog']> {
    return this.#lines.listen(({ name, line }) => listener(name, line))
  }

  onDidChange(listener: () => void): ReturnType<Mcp['onDidChange']> {
    return this.#changes.listen(listener)
  }

  async readResource(name: string, uri: string, signal: AbortSignal): Promise<readonly McpContent[]> {
    return await this.#inTime(name, `The resource ${clipped(uri, 200)} of ${name}`, signal, (connection, inTime) => connection.readResource(uri, inTime))
  }

  async resourceContent(name: string, uri: string, { sessionId, signal }: { readonly sessionId?: string; readonly signal: AbortSignal }): Promise<readonly ToolContent[]> {
    const content = await this.readResource(name, uri, signal)
    const agent = sessionId === undefined ? undefined : this.#ctx.get('agents')?.live(sessionId)
    if (content.length === 0) return []
    return renderValue(await canonicalValue({ content, isError: false }, await createImageKeeper(this.#ctx, this.#needs.blobs)(agent === undefined ? {} : { agent })))
  }

  /** A prompt of a server with its arguments filled in. Errors: `McpError`; the signal's reason. */
  async prompt(name: string, prompt: { readonly name: string; readonly arguments: Readonly<Record<string, string>> }, signal: AbortSignal) {
    return await this.#inTime(name, `The prompt ${clipped(prompt.name, 200)} of ${name}`, signal, (connection, inTime) => connection.getPrompt({ ...prompt, signal: inTime }))
  }

  /** Errors: `McpError` `MCP_TIMEOUT` when it takes longer than a call may; those of `ServerLife.use`. */
  async #inTime<T>(name: string, what: string, signal: AbortSignal, work: (connection: McpConnection, signal: AbortSignal) => Promise<T>): Promise<T> {
    const { life, found } = this.#server(name)
    const timeoutMs = this.#callTimeoutMs(found)
    const late = new AbortController()
    const stop = this.#needs.clock.schedule(timeoutMs, () => late.abort(new McpError('MCP_TIMEOUT', `${what} did not come within ${timeoutMs} ms.`)))
    const inTime = AbortSignal.any([signal, late.signal])
    try {
      return await life.use((connection) => work(connection, inTime), inTime)
    } finally {
      stop()
    }
  }

  #callTimeoutMs({ config }: FoundServer): number {
    return config.toolCallTimeoutMs ?? this.#ctx.settings.get(settings.mcpToolCallTimeoutMs)
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true
    await this.#reading
    for (const { life } of this.#servers.values()) this.#end(life)
    await Promise.all([...this.#ending])
    this.#servers.clear()
  }

  // Finding

  async #read(): Promise<void> {
    // Several changes at once are one reading.
    if (!this.#isStale || this.#isDisposed) return
    this.#isStale = false
    const found = await findServers(this.#needs, this.#ctx.settings.get(settings.mcpFiles))
    if (this.#isDisposed) return
    this.#found = found
    this.#isRead = true
    const wanted = new Map(found.servers.filter((server) => this.#mayRun(server)).map((server) => [server.config.name, server]))
    for (const [name, { found: before, life, tools }] of this.#servers) {
      if (wanted.get(name)?.digest === before.digest) continue
      this.#servers.delete(name)
      tools.clear()
      this.#end(life)
    }
    for (const [name, server] of wanted) {
      if (this.#servers.has(name)) continue
      const made = this.#make(server)
      this.#servers.set(name, made)
      made.life.start()
    }
    this.#changes.emit()
  }

  #mayRun(found: FoundServer): boolean {
    return !found.config.isDisabled && this.#isAllowed(found)
  }

  #isAllowed({ folder, digest }: FoundServer): boolean {
    return folder === null || this.#ctx.settings.get(settings.mcpAllowed).includes(digest)
  }

  #end(life: ServerLife): void {
    const ending = life.dispose().finally(() => void this.#ending.delete(ending))
    this.#ending.add(ending)
  }

  #make(found: FoundServer): Server {
    const { askInput, connector, clock, files, machine, secrets, workspace } = this.#needs
    const { config, folder, title } = found
    const cwd = folder ?? workspace.folders()[0]?.path ?? machine.homeFolder
    const calls = new Set<RunningCall>()
    const hidden = new HiddenValues()
    const fill = async (): Promise<FilledTarget> => {
      const filled = await filledTarget(config, {
        variables: { homeFolder: machine.homeFolder, workspaceFolder: folder ?? workspace.folders()[0]?.path ?? null, pathSeparator: machine.platform === 'win32' ? '\\' : '/' },
        environment: async (name) => {
          const given = await secrets.get(name)
          if (given?.source !== 'environment') return null
          hidden.hideNamed(name, given.value)
          return given.value
        },
        input: async (id) => {
          const given = await secrets.get(this.#inputName(found, id))
          if (given !== null && found.inputs.some((input) => input.id === id && input.isSecret)) hidden.hide(given.value)
          const fallback = found.inputs.find((input) => input.id === id)?.fallback ?? null
          // Where somebody can be asked, they are, once, with the default in the box; an empty one leaves nothing to ask for.
          return given?.value ?? (askInput === undefined || fallback === '' ? fallback : null)
        },
        cwd,
        readEnvFile: async (path) => (await files.readText(await files.resolve(path, cwd), { maxBytes: MAX_SERVER_FILE_BYTES })).text,
      })
      if (filled.kind === 'filled') hidden.hideOf(filled.target)
      return filled
    }
    const life: ServerLife = new ServerLife({
      config,
      connector,
      clock,
      idleMinutes: () => this.#ctx.settings.get(settings.mcpIdleMinutes),
      target: fill,
      redact: (text) => hidden.redact(text),
      signIn: (isAsked) => this.#signInOf(found, isAsked),
      canSignIn: this.#canSignIn(found),
      elicit: (request, signal) => this.#elicit({ name: config.name, title, calls, refuse: (why) => (life.note(`It asked for values and got none: ${why}.`), { action: 'decline' }) }, request, signal),
      setTools: (list) => (list === null ? (tools.clear(), null) : tools.replace(list)),
      onChange: () => this.#changes.emit(),
      onLog: (line) => this.#lines.emit({ name: config.name, line }),
    })
    const tools = new ToolSet(
      {
        server: { name: config.name, title },
        sha256: (text) => machine.sha256(text),
        clock,
        timeoutMs: () => this.#callTimeoutMs(found),
        isTrusted: () => this.#isTrusted(found),
        use: async (exec, work, signal) => {
          const running = [...calls].find((call) => call.exec === exec)
          try {
            return await life.use(work, signal)
          } catch (error) {
            running?.failed.abort()
            throw error
          } finally {
            if (running !== undefined) calls.delete(running)
          }
        },
        begin: (exec, onAsking) => {
          // No number, which servers choose for what they ask by themselves.
          const running = { exec, token: `bosun-${machine.randomId()}`, onAsking, failed: new AbortController() }
          calls.add(running)
          return { token: running.token, end: () => void calls.delete(running) }
        },
        keepImage: createImageKeeper(this.#ctx, this.#needs.blobs),
      },
      (definition) => this.#ctx.tools.register(definition),
    )
    return { found, fill, life, tools, calls, hidden, isSignedIn: false }
  }

  #isTrusted({ digest }: FoundServer): boolean {
    return this.#ctx.settings.get(settings.mcpTrusted).includes(digest)
  }

  /** Of the place that asks for it, so that no other configuration gets what was given to this one. */
  #inputName({ source, ownName }: FoundServer, id: string): string {
    return `mcp.${this.#needs.machine.sha256(`${source}\0${ownName}`).slice(0, 16)}.${id}`
  }

  #server(name: string): Server {
    const server = this.#servers.get(name)
    if (server !== undefined) return server
    const found = this.#found.servers.find(({ config }) => config.name === name)
    if (found === undefined) throw new McpError('MCP_UNAVAILABLE', `There is no MCP server ${name}. “/mcp” lists those there are.`)
    throw new McpError('MCP_UNAVAILABLE', `The MCP server ${name} does not run. The person can ${remedyFor(found.config.isDisabled ? 'disabled' : 'waits', name, { canSignIn: false })} (${found.source}).`)
  }

  // What its tools and its own requests need

  #canSignIn({ config: { target } }: FoundServer): boolean {
    return this.#needs.signIn !== undefined && target.kind !== 'stdio' && !Object.keys(target.headers).some((name) => name.toLowerCase() === 'authorization')
  }

  #signInOf(found: FoundServer, isAsked: boolean): McpSignIn | undefined {
    const { secrets, signIn } = this.#needs
    if (signIn === undefined || !this.#canSignIn(found)) return undefined
    const note = (what: McpSignInFact, value: string | null) => {
      const server = this.#servers.get(found.config.name)
      if (server?.found !== found) return
      if (value !== null) server.hidden.hideSignIn(value)
      if (what === 'tokens') server.isSignedIn = value !== null
    }
    return {
      load: async (what) => {
        const value = (await secrets.get(this.#signInName(found, what)))?.value ?? null
        note(what, value)
        return value
      },
      save: async (what, value) => {
        if (value === null) await secrets.delete(this.#signInName(found, what))
        else await secrets.set(this.#signInName(found, what), value)
        note(what, value)
      },
      browser: isAsked ? signIn : null,
    }
  }

  /** To another address nothing of a sign-in is sent. */
  #signInName({ source, ownName, config: { target } }: FoundServer, what: McpSignInFact): string {
    const url = target.kind === 'stdio' ? '' : target.url
    return `mcp-sign-in.${this.#needs.machine.sha256(`${source}\0${ownName}\0${url}`).slice(0, 16)}.${what}`
  }

  /** Another window of the person may have signed in, which is when the client is kept; tokens are kept at each renewal too, which would go round. */
  #secretChanged(name: string): void {
    const server = [...this.#servers.values()].find(({ found, life }) => life.state === 'needs-sign-in' && this.#signInName(found, 'client') === name)
    if (server === undefined) return
    const work = this.#needs.secrets
      .get(name)
      .then(async (secret) => (secret === null ? undefined : await server.life.restart()))
      .catch((error: unknown) => this.#needs.logger.error('An MCP server could not be reached anew after a sign-in.', { error: String(error) }))
      .finally(() => void this.#ending.delete(work))
    this.#ending.add(work)
  }

  /**
   * The person answers in the chat whose call the server asks for: the one it names, else the first of those that run, else the one they
   * look at. A child's call has no chat to ask in.
   */
  async #elicit({ name, title, calls, refuse }: Asking, { message, schema, call }: Parameters<McpListener['elicit']>[0], signal: AbortSignal): ReturnType<McpListener['elicit']> {
    const named = [...calls].find(({ token }) => token === call)
    const meant = named === undefined ? [...calls] : [named]
    const agent = meant.length === 0 ? this.#visibleAgent() : meant.find(({ exec }) => exec.agent !== undefined)?.exec.agent
    const asker = this.#ctx.get('questions')
    if (agent == null || asker === undefined) return refuse('nobody has called it, and no chat is open to ask in')
    if (meant.length === 0 && this.#askingByThemselves.has(name)) return refuse('it asks already, and nobody has called it')
    const questions = questionsOf(title, message, schema, meant.length)
    if ('problem' in questions) return refuse(questions.problem)
    if (!this.#mayAsk(name)) return refuse(`it asks more than ${MAX_QUESTIONS} times in ${QUESTIONS_WINDOW_MS / 1_000} s`)
    const over = meant.length === 0 ? [] : [allAborted(meant.map(({ exec, failed }) => AbortSignal.any([exec.signal, failed.signal])))]
    if (meant.length === 0) this.#askingByThemselves.add(name)
    for (const { onAsking } of meant) onAsking(true)
    try {
      let asked = questions
      for (let attempt = 1; ; attempt++) {
        const answers = await asker.ask({ agent, server: title, questions: asked, signal: AbortSignal.any([signal, ...over]) })
        const outcome = valuesOf(schema, answers)
        if (!('problem' in outcome)) return outcome
        if (attempt >= MAX_ASKS) return { action: 'cancel' }
        asked = questions.map((question, index) => (index === 0 ? { ...question, detail: `${question.detail ?? ''}\n\n**${outcome.problem}**` } : question))
      }
    } catch (error) {
      this.#needs.logger.info('The question of an MCP server was not answered.', { server: name, error: String(error) })
      const isStopped = meant.length > 0 && meant.every(({ exec }) => exec.signal.aborted)
      if (!isStopped && (signal.aborted || over.some(({ aborted }) => aborted))) tellTakenBack(agent, title, this.#needs.machine.randomId())
      return { action: 'cancel' }
    } finally {
      if (meant.length === 0) this.#askingByThemselves.delete(name)
      for (const { onAsking } of meant) onAsking(false)
    }
  }

  attachChat(visibleAgent: () => Agent | null): ReturnType<Mcp['attachChat']> {
    this.#visibleAgent = visibleAgent
    return () => {
      if (this.#visibleAgent === visibleAgent) this.#visibleAgent = () => null
    }
  }

  #mayAsk(name: string): boolean {
    const now = this.#needs.clock.monotonicMs()
    const recent = (this.#askedAt.get(name) ?? []).filter((time) => now - time < QUESTIONS_WINDOW_MS)
    const mayAsk = recent.length < MAX_QUESTIONS
    this.#askedAt.set(name, mayAsk ? [...recent, now] : recent)
    return mayAsk
  }

  #visibleAgent: () => Agent | null = () => null
  /** By server, as `monotonicMs`. */
  readonly #askedAt = new Map<string, readonly number[]>()
  readonly #askingByThemselves = new Set<string>()

  // Reporting

  #reportOf(found: FoundServer): McpServerReport {
    const { config, title, source, folder, file, digest } = found
    const server = this.#servers.get(config.name)
    const { target } = config
    const folders = this.#needs.workspace.folders()
    const turnedOff = this.#ctx.settings.get(settings.toolsDisabled)
    const life = server?.life
    return {
      name: config.name,
      title,
      source,
      file,
      digest,
      target: targetText(target),
      given: entryLines(config, found.inputs),
      state: life?.state ?? (config.isDisabled ? 'disabled' : this.#isAllowed(found) ? 'ready' : 'waits'),
      reason: life?.reason ?? null,
      problem: life?.problem ?? null,
      isTrusted: this.#isTrusted(found),
      needsConsent: folder !== null,
      canSignIn: this.#canSignIn(found),
      isSignedIn: server?.isSignedIn ?? false,
      tools: (server?.tools.offered ?? []).map(({ facts, name, problem }) => ({ name, raw: facts.name, description: facts.description, isOn: !turnedOff.includes(name) && !isSwitchedOff(name, this.#ctx.settings, folders), isOffEverywhere: turnedOff.includes(name), isReadOnly: facts.isReadOnly, problem })),
      prompts: life?.prompts ?? [],
      resources: life?.resources ?? [],
      inputs: found.inputs,
      missingInputs: (life?.missingInputs ?? []).map((id) => found.inputs.find((input) => input.id === id) ?? { id, description: '', isSecret: true, fallback: null }),
    }
  }
}

/** What the person may have begun to fill in went away. */
function tellTakenBack(agent: Agent, server: string, id: string): void {
  if (agent.isDisposed || agent.session.access !== 'write') return
  agent.inject(noticeMessage({ id, plugin: 'mcp', text: `The MCP server ${server} asked the person for values and gave its question up before they had answered.`, summary: `The MCP server ${server} gave up its question before you had answered` }))
}

/** Fires when the last of them does. */
function allAborted(signals: readonly AbortSignal[]): AbortSignal {
  const over = new AbortController()
  const look = () => {
    if (signals.every(({ aborted }) => aborted)) over.abort()
  }
  for (const signal of signals) signal.addEventListener('abort', look, { once: true, signal: over.signal })
  look()
  return over.signal
}
