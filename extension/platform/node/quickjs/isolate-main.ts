// Runs programs one after the other, each in a machine of its own, in a thread that the host may end at any time.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { createMachine, Guest, syntaxProblem, type Machine } from './guest.ts'
import { POSTED, type FromIsolate, type IsolateData, type ToIsolate } from './isolate-protocol.ts'

const { wasm, control } = workerData as IsolateData
const port = parentPort!
const post = (message: FromIsolate) => port.postMessage(message, [])

const CHECK_BYTES = 67_108_864
/** How long the loop of this thread may rest while a program waits for answers. */
const WAIT_MS = 20
// Made while nothing runs, so that the next program need not wait for it; most want as much as the one before.
let next: Promise<Machine> = createMachine(wasm, CHECK_BYTES)
let guest: Guest | undefined

port.on('message', (message: ToIsolate) => {
  take(message)
  takeNext()
})

function take(message: ToIsolate): void {
  if (message.kind === 'answers') guest?.answer(message.answers)
  else if (message.kind === 'stop') guest?.stop()
  else void begin(message)
}

const isWaiting = () => guest?.isOver === false

/**
 * Take what the host posts next right here, while a program waits for it: an answer comes sooner than by way of the loop of this thread.
 * After a while without any the loop has its turn, and the next message comes to that.
 */
function takeNext(): void {
  while (isWaiting()) {
    // Read before the port is looked at, so that what is posted in between ends the wait.
    const posted = Atomics.load(control, POSTED)
    const received: { readonly message: ToIsolate } | undefined = receiveMessageOnPort(port)
    if (received !== undefined) take(received.message)
    else if (Atomics.wait(control, POSTED, posted, WAIT_MS) === 'timed-out') return
  }
}

async function begin(message: ToIsolate & { kind: 'run' | 'check' }): Promise<void> {
  const memoryBytes = message.kind === 'run' ? message.limits.memoryBytes : CHECK_BYTES
  const made = await next
  const machine = made.memoryBytes === memoryBytes ? made : await createMachine(wasm, memoryBytes)
  if (message.kind === 'check') post({ kind: 'checked', problem: syntaxProblem(machine, message.source) })
  else {
    const { source, problem } = await plainSource(machine, message)
    if (problem === undefined) guest = new Guest({ machine, program: { ...message, source }, control, post })
    else post({ kind: 'news', said: [], end: { outcome: { code: 'CODE_SYNTAX', message: problem }, calls: 0 } })
  }
  next = createMachine(wasm, memoryBytes)
}

/** What the machine can run. What is no TypeScript to who strips it may be sound JavaScript all the same. */
async function plainSource(machine: Machine, { source, language }: ToIsolate & { kind: 'run' }): Promise<{ readonly source: string; readonly problem?: string }> {
  if (language === undefined) return { source }
  const { stripTypes } = await import('./strip-types.ts')
  const stripped = await stripTypes(source)
  if ('source' in stripped) return stripped
  return syntaxProblem(machine, source) === null ? { source } : { source, problem: stripped.problem }
}
