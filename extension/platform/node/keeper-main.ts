import { Socket } from 'node:net'
import { ProcessError } from '../../capabilities/process.ts'
import { createDirectRunner, type DirectProcess } from './direct-runner.ts'
import { frameHeader, frameKind, FrameReader, messageFrame, type FrameKind, type ToHost, type ToKeeper } from './keeper-protocol.ts'

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
const running = new Set<DirectProcess>()
const runner = createDirectRunner({ environment: () => environment, managed })
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
  await runner.dispose(maxGraceMs)
  process.exit(0)
}

function receive(id: number, message: ToKeeper): void {
  switch (message.op) {
    case 'environment':
      environment = message.environment
      Object.assign(managed, message.managed)
      return
    case 'start':
      processes.set(id, start(id, message))
      return
    case 'write':
      void reply(id, message.request, tell(id, (one) => one.write(message.text)))
      return
    case 'end-input':
      void reply(id, message.request, tell(id, (one) => one.endInput()))
      return
    case 'terminate':
      void reply(id, message.request, tell(id, (one) => one.terminate()))
      return
    case 'signal':
      void reply(id, message.request, tell(id, (one) => one.sendSignal(message.signal)))
      return
    case 'dispose':
      void reply(id, message.request, runner.dispose()).then(() => channel.end(() => process.exit(0)))
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
    send(id, { op: 'failed', code, message: error instanceof Error ? error.message : String(error) })
    processes.delete(id)
    return null
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

async function reply(id: number, request: number, work: Promise<void>): Promise<void> {
  await work
  send(id, { op: 'reply', request })
}

function send(id: number, message: ToHost): void {
  if (channel.writable) channel.write(messageFrame(id, message))
}
