import { PassThrough, Writable } from 'node:stream'
import type { LanguageServerConfig } from '../../../capabilities/language-servers.ts'
import type { ProcessExit, ProcessRunner, RunningProcess } from '../../../capabilities/process.ts'
import { createMessageGuard } from './message-guard.ts'

/** What a language client speaks over, with the program behind it. */
export interface ServerStreams {
  readonly reader: NodeJS.ReadableStream
  readonly writer: NodeJS.WritableStream
  readonly exit: Promise<ProcessExit>
  /** The end of what it wrote for people. */
  readonly lastWords: () => string
  /** Ends it and everything it started. */
  readonly end: () => Promise<void>
}

/** UTF-16 units of what a server writes to its standard error that are kept. */
const MAX_WORDS = 2_000
/** For the server to leave by itself once it was told to. */
const GRACE_MS = 3_000

/**
 * Start the program of a server, owned by the runner like every other program.
 *
 * Errors: `ProcessError`.
 */
export async function startServer(config: LanguageServerConfig, { processes, cwd }: { readonly processes: Pick<ProcessRunner, 'start'>; readonly cwd: string }): Promise<ServerStreams> {
  const reader = new PassThrough()
  let words = ''
  const guard = createMessageGuard()
  let tooMuch: string | null = null
  const started = Promise.withResolvers<RunningProcess>()
  const process: RunningProcess = await processes.start({
    command: config.command,
    args: config.args,
    cwd,
    env: config.env,
    stdin: 'pipe',
    graceMs: GRACE_MS,
    onOutput(stream, chunk) {
      if (tooMuch !== null) return
      if (stream === 'stdout') {
        tooMuch = guard(chunk)
        if (tooMuch === null) reader.write(chunk)
        else void started.promise.then((running) => running.terminate())
      } else words = `${words}${Buffer.from(chunk).toString('utf8')}`.slice(-MAX_WORDS)
    },
  })
  started.resolve(process)
  const writer = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      void told(process.write(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8')), done)
    },
    final(done) {
      void told(process.endInput(), done)
    },
  })
  // A server that is gone takes nothing; its end is what is told.
  writer.on('error', () => undefined)
  void process.exit.then(() => reader.end())
  return { reader, writer, exit: process.exit, lastWords: () => tooMuch ?? words.trim(), end: () => process.terminate() }
}

/** Tell a stream how work ended. */
async function told(work: Promise<void>, done: (error?: Error) => void): Promise<void> {
  const failure = await work.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  )
  done(failure)
}
