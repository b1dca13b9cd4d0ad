import { isJsonArray, isJsonObject, snapshotJson, type Json } from '../../base/json.ts'
import { thrownText } from '../../base/thrown-text.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { ToolContent } from '../../core/log/message.ts'
import { toJsonSchema } from '../../core/schema/compile.ts'
import { validate } from '../../core/schema/validate.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import { PresentedError, type BodyExecution, type PresentedResult, type ToolDefinition } from '../../core/tools/definition.ts'
import { isErrorOf } from '../../base/harness-error.ts'
import type { Tool, ToolExecution } from '../../../bosun.d.ts'
import { callFacts, contentFacts, resultFacts } from './call-facts.ts'
import type { BeginFileChanges, FileChanges } from './file-changes.ts'
import { callView, resultView } from './tool.card.ts'
import { RunningCalls, GRACE_MS } from './running-calls.ts'

/** UTF-16 units of what one call gives the model; what is kept of it is cut further on. */
export const MAX_CONTENT = 4_000_000
const NO_TEXT = 'it threw a value that has no text.'

/** A failure of another extension's tool. Its card knows whose it was. */
export class ExtensionToolError extends PresentedError<'EXTENSION_TOOL_FAILED' | 'EXTENSION_TOOL_GONE' | 'EXTENSION_TOOL_STUCK' | 'INVALID_TOOL_OUTPUT'> {}

/**
 * The definition of another extension's tool, and its calls.
 *
 * Everything that its author wrote runs behind a fence: a fault is the call's failure, and says whose it is.
 */
export function definitionOf(tool: Tool, { extensionId, clock, beginChanges }: { readonly extensionId: string; readonly clock: Clock; readonly beginChanges: BeginFileChanges }): { readonly definition: ToolDefinition; readonly calls: RunningCalls } {
  const { name } = tool
  const from = `${name} of ${extensionId}`
  const failed = (code: ExtensionToolError['code'], message: string, cause?: unknown) => new ExtensionToolError(code, message, durable(extensionId), { cause })
  const calls = new RunningCalls(clock, {
    gone: () => failed('EXTENSION_TOOL_GONE', `The extension ${extensionId} ended while ${name} ran. Use another tool.`),
    stuck: () => failed('EXTENSION_TOOL_STUCK', `${from} did not stop within ${GRACE_MS / 1_000} seconds, so it was left alone. What it does may still happen.`),
  })
  const schema = toJsonSchema(tool.output.schema)
  const checked = (raw: unknown): Json => {
    let value: Json
    try {
      value = snapshotJson(raw)
    } catch (error) {
      throw failed('INVALID_TOOL_OUTPUT', `${from} returned a value that JSON cannot carry: ${thrownText(error) ?? NO_TEXT}`, error)
    }
    const violations = validate(schema, value, 'value')
    if (violations.length > 0) throw failed('INVALID_TOOL_OUTPUT', `${from} returned a value that breaks its own schema: ${violations.join('; ')}`)
    return value
  }
  const contentOrNothing = (part: string, make: () => unknown): readonly ToolContent[] | undefined => {
    let texts: unknown
    try {
      texts = snapshotJson(make(), part)
    } catch (error) {
      throw failed('INVALID_TOOL_OUTPUT', `${part} of ${from} failed: ${thrownText(error) ?? NO_TEXT}`, error)
    }
    if (texts === null) return undefined
    if (!isTexts(texts)) throw failed('INVALID_TOOL_OUTPUT', `${part} of ${from} gave no list of texts: [{ type: 'text', text }].`)
    const length = texts.reduce((sum, { text }) => sum + text.length, 0)
    if (length > MAX_CONTENT) throw failed('INVALID_TOOL_OUTPUT', `${part} of ${from} gave ${length} characters; ${MAX_CONTENT} at most can be given. Return less.`)
    return texts
  }
  const content = (part: string, make: () => unknown): readonly ToolContent[] => {
    const texts = contentOrNothing(part, make)
    if (texts === undefined) throw failed('INVALID_TOOL_OUTPUT', `${part} of ${from} gave no list of texts: [{ type: 'text', text }].`)
    return texts
  }
  const definition = defineTool({
    name,
    description: tool.description,
    parameters: tool.parameters,
    output: {
      schema: tool.output.schema,
      render: (args, value) => content('output.render', () => tool.output.render(args, value)),
      presentationMeta(args, value) {
        let meta: Json | undefined
        try {
          meta = tool.output.presentationMeta?.(args as never, value as never)
          return durable(extensionId, meta === undefined ? undefined : snapshotJson(meta, 'meta'))
        } catch (error) {
          throw failed('INVALID_TOOL_OUTPUT', `output.presentationMeta of ${from} failed: ${thrownText(error) ?? NO_TEXT}`, error)
        }
      },
    },
    async execute(args, exec) {
      const changes = beginChanges(exec, { words: from, isReadOnly: tool.readOnly === true })
      try {
        return checked(await calls.run(exec.signal, (signal) => tool.execute(args as never, factsFor(exec, { signal, extensionId, changes }))))
      } catch (error) {
        throw isErrorOf(ExtensionToolError, error) ? error : failed('EXTENSION_TOOL_FAILED', thrownText(error) ?? `${from} failed: ${NO_TEXT}`, error)
      } finally {
        changes.end()
      }
    },
    ...(tool.finalizeContent && {
      finalizeContent(exec, result) {
        // Nothing leaves the content as it is; null stands for it, since undefined is no JSON.
        return contentOrNothing('finalizeContent', () => tool.finalizeContent?.(callFacts(exec, () => extensionId), resultFacts(result)) ?? null)
      },
    }),
    ...(tool.timeoutMs !== undefined && { timeoutMs: tool.timeoutMs }),
    ...(tool.isConcurrencySafe && { isConcurrencySafe: (args) => tool.isConcurrencySafe?.(args as never) === true }),
    presentCall: (args) => callView(name, args as Json, tool.presentCall?.(args as never)),
    ...(tool.presentResult && { presentResult: (args, result) => resultView(tool.presentResult?.(args as never, presented(result))) }),
  })
  return { definition: { ...definition, from: extensionId }, calls }
}

function factsFor(exec: BodyExecution, { signal, extensionId, changes }: { readonly signal: AbortSignal; readonly extensionId: string; readonly changes: FileChanges }): ToolExecution {
  return Object.freeze({ ...callFacts(exec, () => extensionId), signal, progress: (text: unknown) => exec.progress(String(text)), willChange: (path: unknown) => changes.willChange(path) })
}

const presented = ({ content, isError, meta }: PresentedResult) => {
  const own = isJsonObject(meta) ? meta['meta'] : undefined
  return { content: contentFacts(content), isError, ...(own !== undefined && { meta: own }) }
}

/** What of a result outlives the extension: whose it was. */
const durable = (extensionId: string, meta?: Json): Json => ({ extension: extensionId, ...(meta !== undefined && { meta }) })

function isTexts(content: unknown): content is readonly { readonly type: 'text'; readonly text: string }[] {
  return isJsonArray(content as Json) && (content as readonly Json[]).every((part) => isJsonObject(part) && part['type'] === 'text' && typeof part['text'] === 'string')
}
