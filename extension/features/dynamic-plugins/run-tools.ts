import type { Json } from '../../base/json.ts'
import type { Agent } from '../../core/session/agent.ts'
import { RESERVED_TOOL_NAME, reservedToolPrefixes, type BodyExecution, type ToolDefinition } from '../../core/tools/definition.ts'
import type { BookParts } from './book-parts.ts'
import { MAX_NESTED_TOOLS, MAX_SUB_CALLS } from './caps.ts'
import { DynamicPluginError } from './error.ts'
import { namesOf, type Held, type Run } from './held.ts'
import { TaskError } from './host-run.ts'
import { pluginTool } from './plugin-tool.ts'

/** The tools that a run declares, and what happens when one of them is called. */
export function createRunTools({ tools, codeMode }: Pick<BookParts, 'tools' | 'codeMode'>) {
  /** Tools of plugins at work, by the call of the model that they are under. */
  const nested = new Map<string, number>()

  /** Errors: `DynamicPluginError` `RUN_FAILED`, `SchemaError`, for tools that cannot be registered. */
  function toolsOf(agent: Agent, held: Held, started: Run): readonly ToolDefinition[] {
    const own = new Set(held.current === undefined ? [] : namesOf(held.current))
    // What is known by a name elsewhere is not to be taken for this.
    const taken = new Set([...tools.list(agent.scope), ...tools.list(null)].map(({ name }) => name))
    return started.declared.tools.map((declared) => {
      const { name } = declared
      if (name === RESERVED_TOOL_NAME || reservedToolPrefixes.some((prefix) => name.startsWith(prefix))) throw new DynamicPluginError('RUN_FAILED', `${name} is reserved; choose another name for the tool.`)
      if (taken.has(name) && !own.has(name)) throw new DynamicPluginError('RUN_FAILED', `A tool named ${name} is there already; choose another name.`)
      return pluginTool({ pluginId: held.pluginId, declared, execute: (args, exec) => runTool(started, name, args, exec) })
    })
  }

  async function runTool({ host }: Run, name: string, args: Json, exec: BodyExecution): Promise<Json> {
    if (host === undefined) throw new DynamicPluginError('TOOL_FAILED', `${name} has no host half.`)
    const depth = nested.get(exec.rootCallId) ?? 0
    if (depth >= MAX_NESTED_TOOLS) throw new DynamicPluginError('TOOL_FAILED', `${MAX_NESTED_TOOLS} tools of plugins are at work under this call already, so ${name} is not run. Let a plugin call its own functions rather than its tools.`)
    nested.set(exec.rootCallId, depth + 1)
    const over = new AbortController()
    const calls = codeMode().callsWithin(exec)
    let made = 0
    try {
      return await host.runTool(name, args, {
        signal: exec.signal,
        callTool: async (called, value) => {
          made += 1
          if (made > MAX_SUB_CALLS) throw new TaskError(`One execution of a tool may make ${MAX_SUB_CALLS} calls. Do less at once.`)
          if (called.startsWith('cordis_')) throw new TaskError('A plugin defines, runs and stops no plugins.')
          return await calls.call(called, value, over.signal)
        },
      })
    } catch (error) {
      if (error instanceof TaskError) throw new DynamicPluginError('TOOL_FAILED', `${name} failed: ${error.message}`)
      throw error
    } finally {
      over.abort()
      await calls.end()
      const left = (nested.get(exec.rootCallId) ?? 1) - 1
      if (left > 0) nested.set(exec.rootCallId, left)
      else nested.delete(exec.rootCallId)
    }
  }

  return { toolsOf }
}
