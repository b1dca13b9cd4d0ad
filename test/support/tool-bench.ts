import type { Json } from '../../extension/base/json.ts'
import { createKernel } from '../../extension/core/kernel/kernel.ts'
import type { Context, Fiber, Kernel, Plugin } from '../../extension/core/kernel/plugin.ts'
import type { Agent } from '../../extension/core/session/agent.ts'
import type { ToolResult } from '../../extension/core/tools/definition.ts'
import { createToolsPlugin } from '../../extension/core/tools/registry.ts'
import type { PromptSection, SystemPrompt } from '../../extension/core/prompt/system-prompt.ts'
import { createFakeAgent, type FakeAgent } from './fake-agent.ts'
import { createRecordingLogger, type RecordingLogger } from './quiet-logger.ts'

export interface ToolBench {
  readonly kernel: Kernel
  readonly ctx: Context
  readonly logger: RecordingLogger
  readonly agent: FakeAgent
  readonly promptSections: PromptSection[]
  mount(plugin: Plugin): Promise<Fiber>
  run(name: string, args: unknown, options?: RunOptions): Promise<ToolResult>
}
export interface RunOptions {
  readonly agent?: Agent | null
  readonly signal?: AbortSignal
  /** As a program's call. */
  readonly isNested?: boolean
  readonly onProgress?: (text: string) => void
}

/** The real kernel, registry and pipeline around tool plugins, with one agent that has no loop. */
export function createToolBench(agent: FakeAgent = createFakeAgent()): ToolBench {
  const logger = createRecordingLogger()
  const kernel = createKernel({ logger })
  const promptSections: PromptSection[] = []
  let ids = 0
  kernel.root.provide('systemPrompt', (user: Context) => {
    const prompt: Pick<SystemPrompt, 'section'> = {
      section(section) {
        promptSections.push(section)
        const remove = user.effect(() => void promptSections.splice(promptSections.indexOf(section), 1))
        return () => void remove()
      },
    }
    return prompt as SystemPrompt
  })
  kernel.root.plugin(createToolsPlugin({ dispatch: kernel.dispatch, randomId: () => `token-${++ids}` }))
  return {
    kernel,
    ctx: kernel.root,
    logger,
    agent,
    promptSections,
    async mount(plugin) {
      const fiber = kernel.root.plugin(plugin)
      await fiber.ready
      return fiber
    },
    run: (name, args, options = {}) =>
      kernel.root.tools.execute({
        callId: `call-${++ids}`,
        name,
        arguments: args,
        ...(options.agent !== null && { agent: options.agent ?? agent }),
        signal: options.signal ?? new AbortController().signal,
        ...(options.isNested && { parent: { id: 'program' } }),
        ...(options.onProgress && { onProgress: options.onProgress }),
      }),
  }
}

/** The one text the model reads. */
export function textOf({ content }: Pick<ToolResult, 'content'>): string {
  const [block] = content
  if (content.length !== 1 || block?.type !== 'text') throw new Error(`Expected one text block, got ${JSON.stringify(content)}`)
  return block.text
}

/** The canonical value, or the failure's code and message when it failed. */
export function outcomeOf(result: ToolResult): Json {
  return result.isError ? { code: result.error.info?.code ?? null, message: result.error.message } : result.value
}
