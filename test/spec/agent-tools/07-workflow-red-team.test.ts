import { afterAll, describe, expect, it } from 'vitest'
import type { Json } from '../../../extension/base/json.ts'
import { isErrorOf } from '../../../extension/base/harness-error.ts'
import { CodeError } from '../../../extension/capabilities/code-runtime.ts'
import { failureKinds } from '../../../extension/features/code-mode/failure.ts'
import { WorkflowError } from '../../../extension/features/workflow/error.ts'
import { failed, hostilePrograms } from '../../support/hostile-programs.ts'
import { createWorkflowRig, testCodeRuntime, type ChildMind } from '../../support/workflow-rig.ts'

/* The programs that mean harm to Code Mode, as scripts of workflows. */

const runtime = testCodeRuntime()
afterAll(() => runtime.dispose())

/** The names of those programs over `agent`: what it passes on is told by the prompt, and an agent that fails gives null. */
const names = `const tools = (() => {
  const { stringify } = JSON, { create, defineProperty, freeze } = Object, ask = agent
  class ToolCallError extends Error {
    constructor(toolName, message) { super(message); this.name = 'ToolCallError'; this.toolName = toolName }
  }
  defineProperty(globalThis, 'ToolCallError', { value: ToolCallError })
  const call = async (name, args) => {
    let text
    try { text = stringify(args === undefined ? {} : args) } catch (error) { throw new ToolCallError(name, error.message) }
    const answer = await ask(name + ' ' + text, { schema: { type: 'object' } })
    if (answer === null) throw new ToolCallError(name, 'no luck')
    return answer.value
  }
  const given = create(null)
  for (const name of ['echo', 'fail', 'slow']) defineProperty(given, name, { value: (args) => call(name, args), enumerable: true })
  return freeze(given)
})();
`
const mind: ChildMind = ({ prompt, signal }) => {
  const [name, text] = [prompt.slice(0, 4), prompt.slice(5)]
  if (name === 'echo') return { stopReason: 'completed', output: '', structured: { value: JSON.parse(text) as Json } }
  if (name === 'fail') return { stopReason: 'error', output: 'no luck' }
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ stopReason: 'aborted', output: '' }), { once: true }))
}

/** What workflows make of it in their own way: scripts are loose, agents few, and what JSON text loses is lost before it is sent. */
const own: Readonly<Record<string, unknown>> = {
  'an import of its own': failed('SCRIPT_PARSE'),
  'a comment that swallows the wrapper': failed('SCRIPT_PARSE'),
  'a template that swallows the wrapper': failed('SCRIPT_PARSE'),
  'the caller of a method': 'undefined',
  'another tool in place of one': null,
  'a tool taken away': null,
  'a polluted Object.prototype': null,
  'what a failure carries at the host': false,
  'a loop of calls': failed('AGENT_CAP'),
  'a loop that ignores failures': failed('AGENT_CAP'),
  '100 000 calls at once': failed('AGENT_CAP'),
  'a result': 'x'.repeat(200_000),
  'one argument': null,
  'a thenable for arguments': null,
}

/** What it returned, or what ended it: a cap of the machine, or a rule of workflows. */
async function outcomeOf({ run }: ReturnType<typeof createWorkflowRig>, code: string): Promise<unknown> {
  try {
    return (await run(names + code)).result
  } catch (error) {
    const inner = (error as Error).cause
    const cause = inner instanceof Error ? inner.cause : undefined
    return { failed: isErrorOf(CodeError, cause) ? failureKinds[cause.code] : isErrorOf(WorkflowError, inner) ? inner.code : (error as WorkflowError).code }
  }
}

const fresh = 'return [Object.keys(Object.prototype), typeof escaped, (await tools.echo({ ok: 1 })).ok]'

for (const [goal, rows] of Object.entries(hostilePrograms)) {
  describe(`a script that wants ${goal}`, () => {
    // What is to be caught by another cap than time has time on a busy machine.
    const limits = { syncTimeoutMs: goal === 'too much' ? 20_000 : 400, maxTotalAgents: 200 }
    it.each(rows)('by %s', async (name, code, outcome) => {
      const made = createWorkflowRig(runtime, { mind, limits })
      expect(await outcomeOf(made, code)).toEqual(Object.hasOwn(own, name) ? own[name] : outcome)
      // Nobody of it works on, and everything that began has its one end.
      expect(made.stillRunning()).toBe(0)
      expect(made.logOf('tool-workflow/run-end')).toHaveLength(made.logOf('tool-workflow/run-start').length)
      expect(made.logOf('tool-workflow/agent-end')).toHaveLength(made.logOf('tool-workflow/agent-start').length)
      // Nothing of the host changed, and the next script finds a world as new.
      expect([Object.keys(Object.prototype), ({} as { polluted?: unknown }).polluted, Array.prototype.length, globalThis.JSON.parse('[1]')]).toEqual([[], undefined, 0, [1]])
      expect(await outcomeOf(createWorkflowRig(runtime, { mind, limits: { ...limits, syncTimeoutMs: 20_000 } }), fresh)).toEqual([[], 'undefined', 1])
    })
  })
}

it('each of what is different here is a program of the table', () => {
  const known = new Set(Object.values(hostilePrograms).flatMap((rows) => rows.map(([name]) => name)))
  expect(Object.keys(own).filter((name) => !known.has(name))).toEqual([])
})
