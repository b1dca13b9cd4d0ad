import type { ModelRequest } from '../../core/model/contract.ts'
import { answerCap } from '../wire/efforts.ts'
import type { Wire } from '../wire/wire.ts'
import { marked, messageList } from './messages.ts'
import { readModelList } from './model-list.ts'
import { createMessageReader } from './stream-reader.ts'
import { thinkingEffort, thinkingFields, usesBudget } from './thinking.ts'

/**
 * Anthropic's Messages.
 *
 * The runtime specification (16.5) knows no cache marks: a stable prefix is all. This provider keeps nothing without marks, so there
 * are four, the most it takes: at the end of the tools, of the system prompt, of the talk, and of the talk one request ago. A mark is
 * the last field of its block and no part of what the model reads, so the bytes before it are the same with it and without it, and
 * what was kept under one request's mark is found by the next.
 */
export const anthropicWire: Wire = {
  headers: (key) => ({ 'anthropic-version': '2023-06-01', ...(key !== null && { 'x-api-key': key }) }),
  async write(request, context) {
    const { config } = request
    const maxTokens = answerCap(request, thinkingEffort(request, context.info)) ?? context.info.maxOutputTokens
    const thinking = thinkingFields(request, context.info, maxTokens)
    const thinks = thinking.thinking !== undefined && thinking.thinking.type !== 'disabled'
    const fields = {
      model: config.model,
      max_tokens: maxTokens,
      ...thinking,
      // A model that thinks is refused with a temperature.
      ...(config.temperature !== undefined && !thinks && { temperature: config.temperature }),
      ...(config.stop !== undefined && config.stop.length > 0 && { stop_sequences: config.stop }),
      stream: true,
    }
    const messages = await messageList(request, context)
    return {
      path: '/messages',
      // Models of that time think between calls only when asked to.
      ...(thinks && usesBudget(config.model) && { headers: { 'anthropic-beta': 'interleaved-thinking-2025-05-14' } }),
      body: [`${JSON.stringify(fields).slice(0, -1)}${toolList(request)}${systemPrompt(request)},"messages":`, ...messages, '}'],
    }
  },
  createReader: createMessageReader,
  models: { path: '/models?limit=1000', read: readModelList },
}

function toolList({ tools }: ModelRequest): string {
  if (tools.length === 0) return ''
  const texts = tools.map(({ name, description, parameters }) => JSON.stringify({ name, description, input_schema: parameters }))
  const last = texts.pop() ?? ''
  return `,"tools":[${[...texts, marked(last)].join(',')}]`
}

function systemPrompt({ system }: ModelRequest): string {
  if (system === undefined || system.trim() === '') return ''
  return `,"system":[${marked(JSON.stringify({ type: 'text', text: system }))}]`
}
