import type { Clock } from '../../capabilities/clock.ts'
import { CodeError, type CodeLimits, type CodeRuntime } from '../../capabilities/code-runtime.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Dispatcher } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import type { ToolContent } from '../../core/log/message.ts'
import type { BodyExecution, ToolDefinition, ToolLimit, ToolResult } from '../../core/tools/definition.ts'
import type { Tools } from '../../core/tools/service.ts'
import type { DispatchPlace } from '../../core/tools/code-dispatch.ts'
import { programFailure } from './failure.ts'
import type { PersonWaits } from './person-waits.ts'
import { prelude } from './prelude.ts'
import { ProgramTime } from './program-time.ts'
import { sdkText } from './sdk.ts'
import type { CodeMode } from './service.ts'
import { SubCalls } from './sub-calls.ts'
import { notAwaited } from './words.ts'

export interface CodeModeParts {
  readonly codeRuntime: Pick<CodeRuntime, 'run'>
  readonly tools: Tools
  readonly dispatch: Pick<Dispatcher, 'emit' | 'waterfall'>
  readonly machine: Pick<Machine, 'randomId'>
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>
  readonly waits: PersonWaits
  /** Read for each program. */
  readonly caps: () => ProgramCaps
  /** Read for each group of calls that overlap. */
  readonly maxParallelSubCalls: () => number
}

/** Of one program. */
export interface ProgramCaps extends Pick<CodeLimits, 'memoryBytes' | 'outputBytes' | 'calls'> {
  /** In all, what it waits for not counted. */
  readonly computeMs: number
  /** Of the whole program with its calls, what it only waits for the person not counted; 0: none. */
  readonly maxWallMs: number
}

const outOfTime = (maxMs: number) => new CodeError('CODE_TIME', `The program ran longer than ${maxMs} ms in all, waiting for the person not counted. Let it do less, or in several runs.`)

/** Of a program; more makes its machine overflow before it can say so. */
const STACK_BYTES = 524_288

export function createCodeMode({ codeRuntime, tools, dispatch, machine, clock, waits, caps, maxParallelSubCalls }: CodeModeParts): CodeMode {
  const declared = new WeakMap<object, { readonly tools: readonly ToolDefinition[]; readonly text: string }>()
  const globalKey = {}

  const limits = (): CodeLimits => {
    const { computeMs, memoryBytes, outputBytes, calls } = caps()
    return { sliceMs: computeMs, computeMs, memoryBytes, outputBytes, calls, stackBytes: STACK_BYTES, callsAtOnce: Math.max(1, maxParallelSubCalls()) }
  }

  return {
    async run(code, exec) {
      const names = tools.list(exec.agent?.scope ?? null).map(({ name }) => name)
      const known = new Set(names)
      const logs: string[] = []
      const { maxWallMs } = caps()
      const time = new ProgramTime({ clock, waits, exec, maxMs: maxWallMs })
      const subCalls = subCallsOf(exec, time)
      try {
        const { value, isNothing, hasLeftCalls } = await codeRuntime.run({
          source: code,
          language: 'typescript',
          name: 'program.ts',
          prelude: prelude(names.toSorted()),
          limits: limits(),
          signal: AbortSignal.any([exec.signal, time.signal]),
          call: (name, [args = {}], over) => {
            // The prelude names tools only; what came another way is no call.
            if (!known.has(name)) throw new CodeError('CODE_CRASHED', `There is no tool named ${JSON.stringify(name)} for programs.`)
            return subCalls.call(name, args, over)
          },
          print: (_level, text) => {
            logs.push(text)
            exec.progress(`${text}\n`)
          },
        })
        await subCalls.end()
        // It looks like a success to whoever forgot to wait.
        if (hasLeftCalls === true) logs.push(notAwaited)
        return isNothing === true ? { logs } : { logs, result: value }
      } catch (error) {
        await subCalls.end()
        if (!(error instanceof CodeError)) throw error
        const isLate = error.code === 'CODE_CANCELLED' && time.signal.aborted && !exec.signal.aborted
        throw programFailure(isLate ? outOfTime(maxWallMs) : error, { logs, calls: subCalls.begun })
      } finally {
        time.stop()
      }
    },
    callsWithin: (exec) => subCallsOf(exec),
    declarations(scope) {
      const key = scope ?? globalKey
      const visible = tools.list(scope)
      const before = declared.get(key)
      if (before && before.tools.length === visible.length && before.tools.every((tool, index) => tool === visible[index])) return before.text
      const text = sdkText(visible)
      declared.set(key, { tools: visible, text })
      return text
    },
    get limits(): readonly ToolLimit[] {
      const { computeMs, maxWallMs, memoryBytes, outputBytes, calls } = caps()
      return [
        { of: 'computing', max: computeMs, unit: 'ms' },
        { of: 'a whole program', max: maxWallMs, unit: 'ms' },
        { of: 'memory', max: memoryBytes, unit: 'bytes' },
        { of: 'what it prints and returns', max: outputBytes, unit: 'bytes' },
        { of: 'calls', max: calls, unit: 'items' },
      ]
    },
  }

  function subCallsOf(exec: BodyExecution, time?: ProgramTime): SubCalls {
    const { agent } = exec
    return new SubCalls({
      tools,
      exec,
      maxParallel: maxParallelSubCalls,
      newId: () => machine.randomId(),
      onStart: (place) => {
        time?.began(place.subCallId)
        agent?.session.append({ type: 'tool/code-dispatch-start', ignorable: true, data: place })
      },
      onRan: (subCallId) => time?.ran(subCallId),
      record: async (place, result) => {
        if (agent === undefined) return
        const content = await contentForLog(place, result, exec)
        const { isError, meta, policy } = result
        const error = result.isError ? result.error.info : undefined
        agent.session.append({
          type: 'tool/code-dispatch',
          ignorable: true,
          data: { ...place, isError, content, ...(error && { error }), ...(meta !== undefined && { meta }), ...(policy && { policy }) },
        })
      },
      onProgress: (callId, progress) => agent && dispatch.emit('agent/progress', agent.scope, [{ agent, callId, progress }]),
    })
  }

  /** What of a result is kept. Whoever shortens it may fail; then all of it is. */
  async function contentForLog({ subCallId, name }: DispatchPlace, { isError, content }: ToolResult, { agent, rootCallId }: BodyExecution): Promise<readonly ToolContent[]> {
    if (agent === undefined) return content
    try {
      return await dispatch.waterfall('tools/code-dispatch-log', agent.scope, [{ agent, rootCallId, subCallId, name, isError, content }], async () => content)
    } catch {
      // Shortening is a courtesy to the log; what happened must stand in it.
      return content
    }
  }
}
