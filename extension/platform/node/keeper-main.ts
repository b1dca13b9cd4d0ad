import { Socket } from 'node:net'
import { ProcessError } from '../../capabilities/process.ts'
import { TerminalError, terminalEnded, type TerminalProcess } from '../../capabilities/terminal.ts'
import type { Json } from '../../base/json.ts'
import { messageOf } from '../../base/message-of.ts'
import { createDirectRunner, type DirectProcess } from './direct-runner.ts'
import { createDirectTerminals } from './direct-terminals.ts'
import { frameHeader, frameKind, FrameReader, messageFrame, type FrameKind, type ToHost, type ToKeeper } from './keeper-protocol.ts'
import { OWNER_VARIABLE, ownerMarkFrom } from './owner-mark.ts'

/*
 * The keeper: a small process that starts and owns every program of one host.
 *
 * It speaks over the socket that the host opened as its fourth descriptor. When that socket closes, because the host
 * ended in whatever way, every tree is ended, and then the keeper itself.
 */
const hostIsGoneGraceMs = 1000

let environment: Readonly<Record<string, string>> = {}
const managed: Record<string, string> = {}
/** A program can be spoken to from the moment its start was asked for. */
const processes = new Map<number, Promise<DirectProcess | null>>()
const terminals = new Map<number, Promise<HeldTerminal | null>>()
const running = new Set<Pick<DirectProcess, 'pauseOutput' | 'resumeOutput'>>()
// The host made it, so that it can end what is left should the keeper itself be killed.
const owner = ownerMarkFrom(process.env[OWNER_VARIABLE] ?? '')
const runner = createDirectRunner({ environment: () => environment, managed, owner })
const terminalHost = createDirectTerminals({ environment: () => environment, managed, owner })
const channel = new Socket({ fd: 3 })
const reader = new FrameReader()

channel.on('data', (chunk) => {
  for (const { id, body } of reader.push(chunk)) receive(id, JSON.parse(body.toString()) as ToKeeper)
})
channel.on('drain', () => {
  for (const one of running) one.resumeOutput()
})
channel.on('error', () => {})
channel.on('close', () => void leave(hostIsGoneGraceMs))
// The terminal's Ctrl-C and hang-up are for the host; it decides what ends.
process.on('SIGINT', () => {})
process.on('SIGHUP', () => {})
process.on('SIGTERM', () => void leave(hostIsGoneGraceMs))

async function leave(maxGraceMs: number): Promise<void> {
  await endAll(maxGraceMs)
  process.exit(0)
}

const endAll = (maxGraceMs?: number) => Promise.all([runner.dispose(maxGraceMs), terminalHost.dispose(maxGraceMs)]).then(() => {})

function receive(id: number, message: ToKeeper): void {
  switch (message.op) {
    case 'environment':
      environment = message.environment
      Object.assign(managed, message.managed)
      return
    case 'start':
      processes.set(id, start(id, message))
      return
    case 'open-terminal':
      terminals.set(id, openTerminal(id, message))
      return
    case 'write':
      void reply(id, message.request, terminals.has(id) ? tellTerminal(id, ({ terminal }) => terminal.write(message.text)) : tell(id, (one) => one.write(message.text)))
      return
    case 'resize':
      void reply(id, message.request, tellTerminal(id, ({ terminal }) => terminal.resize(message.size)))
      return
    case 'hold-output':
      void reply(id, message.request, tellTerminal(id, async (one) => one.hold('host', message.isHeld)))
      return
    case 'foreground':
      void reply(id, message.request, tellTerminal(id, ({ terminal }) => terminal.foreground()))
      return
    case 'key-echo':
      void reply(id, message.request, tellTerminal(id, ({ terminal }) => terminal.keyEcho()))
      return
    case 'signal-foreground':
      void reply(id, message.request, tellTerminal(id, ({ terminal }) => terminal.signalForeground(message.signal), true))
      return
    case 'end-input':
      void reply(id, message.request, tell(id, (one) => one.endInput()))
      return
    case 'terminate':
      void reply(id, message.request, terminals.has(id) ? tellTerminal(id, ({ terminal }) => terminal.terminate()) : tell(id, (one) => one.terminate()))
      return
    case 'signal':
      void reply(id, message.request, tell(id, (one) => one.sendSignal(message.signal)))
      return
    case 'inspect':
      void reply(id, message.request, inspect(id))
      return
    case 'dispose':
      void reply(id, message.request, endAll()).then(() => channel.end(() => process.exit(0)))
  }
}

async function start(id: number, { op: _, ...spec }: Extract<ToKeeper, { op: 'start' }>): Promise<DirectProcess | null> {
  try {
    const one = await runner.start({ ...spec, onOutput: (stream, chunk) => forward(id, frameKind[stream], chunk) })
    running.add(one)
    send(id, { op: 'started', pid: one.pid })
    void follow(id, one)
    return one
  } catch (error) {
    const code = error instanceof ProcessError ? error.code : 'SPAWN_FAILED'
    send(id, { op: 'failed', code, message: messageOf(error) })
    processes.delete(id)
    return null
  }
}

async function openTerminal(id: number, { op: _, ...spec }: Extract<ToKeeper, { op: 'open-terminal' }>): Promise<HeldTerminal | null> {
  try {
    const terminal = await terminalHost.open({ ...spec, onOutput: (chunk) => forward(id, frameKind.stdout, chunk) })
    const one = new HeldTerminal(terminal)
    running.add(one)
    send(id, { op: 'started', pid: terminal.pid })
    void terminal.exit.then(async (exit) => {
      running.delete(one)
      send(id, { op: 'exit', exit })
      // What it left running is ended, and that can be waited for.
      await terminal.terminate()
      terminals.delete(id)
    })
    return one
  } catch (error) {
    const code = error instanceof TerminalError ? error.code : 'SPAWN_FAILED'
    send(id, { op: 'failed', code, message: messageOf(error) })
    terminals.delete(id)
    return null
  }
}

/** A terminal whose output waits as long as either the host or the channel wants it to. */
class HeldTerminal {
  readonly terminal: TerminalProcess
  readonly #holders = new Set<'host' | 'channel'>()

  constructor(terminal: TerminalProcess) {
    this.terminal = terminal
  }

  hold(holder: 'host' | 'channel', isHeld: boolean): void {
    if (isHeld) this.#holders.add(holder)
    else this.#holders.delete(holder)
    if (this.#holders.size > 0) this.terminal.pauseOutput()
    else this.terminal.resumeOutput()
  }

  pauseOutput(): void {
    this.hold('channel', true)
  }

  resumeOutput(): void {
    this.hold('channel', false)
  }
}

async function follow(id: number, one: DirectProcess): Promise<void> {
  const exit = await one.exit
  running.delete(one)
  send(id, { op: 'exit', exit })
  // What it left running can still be ended by its id.
  if (!exit.hasSurvivors) processes.delete(id)
}

function forward(id: number, kind: FrameKind, chunk: Uint8Array): void {
  channel.cork()
  channel.write(frameHeader(kind, id, chunk.length))
  channel.write(chunk)
  channel.uncork()
  // The host is behind: let the programs wait rather than pile up their output here.
  if (channel.writableNeedDrain) for (const one of running) one.pauseOutput()
}

/** Whoever is not known any more has ended: nothing to do. */
async function tell(id: number, what: (one: DirectProcess) => Promise<void>): Promise<void> {
  const one = await processes.get(id)
  if (one) await what(one)
}

/** Undefined for what has ended. */
async function inspect(id: number): Promise<unknown> {
  const one = await processes.get(id)
  return one?.inspect()
}

/** As above; where the caller has to know, a terminal that has ended is a failure. */
async function tellTerminal(id: number, what: (one: HeldTerminal) => Promise<unknown>, mustLive = false): Promise<unknown> {
  const one = await terminals.get(id)
  if (one) return what(one)
  if (mustLive) throw terminalEnded()
  return undefined
}

async function reply(id: number, request: number, work: Promise<unknown>): Promise<void> {
  try {
    const result = await work
    // Only numbers and plain facts come back.
    send(id, { op: 'reply', request, ...(result !== undefined && { result: result as Json }) })
  } catch (error) {
    const code = error instanceof TerminalError ? error.code : 'UNAVAILABLE'
    send(id, { op: 'reply', request, error: { code, message: messageOf(error) } })
  }
}

function send(id: number, message: ToHost): void {
  if (channel.writable) channel.write(messageFrame(id, message))
}
