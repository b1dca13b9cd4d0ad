import * as z from 'zod'
import { isSource, looseText, QueryError, requestJson, sourceFrom, type SearchProvider } from './provider.ts'

const found = z.looseObject({ type: z.literal('web_search_result'), url: z.string(), title: looseText, page_age: looseText })
const citation = z.looseObject({ url: z.string(), cited_text: looseText })
const count = z.number().nullish().catch(null)
const answer = z.looseObject({
  model: looseText,
  content: z.array(
    z.union([
      z.looseObject({ type: z.literal('web_search_tool_result'), content: z.union([z.array(z.union([found, z.looseObject({ type: z.string() })])), z.looseObject({ error_code: z.string() })]) }),
      z.looseObject({ type: z.literal('text'), text: z.string(), citations: z.array(citation).nullish().catch(null) }),
      z.looseObject({ type: z.string() }),
    ]),
  ),
  usage: z.looseObject({ input_tokens: count, output_tokens: count, server_tool_use: z.looseObject({ web_search_requests: count }).nullish().catch(null) }).nullish().catch(null),
})
type Block = z.infer<typeof answer>['content'][number]
type ResultBlock = Extract<Block, { readonly type: 'web_search_tool_result' }>
type TextBlock = Extract<Block, { readonly citations?: unknown }>

const API_VERSION = '2023-06-01'
/** Tokens and searches of one request. */
const MAX_TOKENS = 4_096
const MAX_USES = 5

/** DeepSeek: a model searches with the provider's own tool, and answers. Source: capability specification 14, "deepseek-official". */
export const deepseek: SearchProvider = {
  name: 'deepseek',
  title: 'DeepSeek',
  baseUrl: 'https://api.deepseek.com/anthropic/v1',
  keyName: 'DEEPSEEK_API_KEY',
  isByNameOnly: true,
  model: 'deepseek-v4-flash',
  async ask({ text, maxResults, signal, onModelRequest }, setup) {
    const body = {
      model: setup.model,
      max_tokens: MAX_TOKENS,
      messages: [{ role: 'user', content: [{ type: 'text', text: `Search the web for this and say in a few sentences what the sources tell: ${text}` }] }],
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: MAX_USES }],
    }
    const headers = { 'x-api-key': setup.key, authorization: `Bearer ${setup.key}`, 'anthropic-version': API_VERSION }
    const { content, model, usage } = await requestJson({ title: 'DeepSeek', setup, path: '/messages', headers, body, schema: answer, signal })
    onModelRequest?.({ endpoint: `${setup.baseUrl.replace(/\/$/, '')}/messages`, apiVersion: API_VERSION, body, model: model ?? setup.model, inputTokens: usage?.input_tokens ?? null, outputTokens: usage?.output_tokens ?? null, searches: usage?.server_tool_use?.web_search_requests ?? null })

    const blocks = content.filter(isResultBlock)
    const failed = blocks.flatMap((block) => (Array.isArray(block.content) ? [] : [block.content.error_code]))
    if (blocks.length === failed.length) {
      const why = failed.length === 0 ? 'answered without searching' : `could not search (${failed.join(', ').slice(0, 100)})`
      throw new QueryError('WEB_PROVIDER_ERROR', `DeepSeek ${why}. Change the query, or try again later.`)
    }
    const texts = content.filter(isTextBlock)
    const quotes = new Map<string, string>()
    for (const { url, cited_text: quote } of texts.flatMap(({ citations }) => citations ?? [])) if (quote != null && !quotes.has(url)) quotes.set(url, quote)
    const results = blocks.flatMap((block) => (Array.isArray(block.content) ? block.content : [])).filter((one): one is z.infer<typeof found> => one.type === 'web_search_result' && 'url' in one)
    const sources = results.map(({ url, title, page_age: publishedAt }) => sourceFrom({ url, title, snippet: quotes.get(url), publishedAt }))
    const said = texts.map((block) => block.text).join('').trim()
    return { ...(said !== '' && { answer: said }), sources: sources.filter(isSource).slice(0, maxResults) }
  },
}

const isResultBlock = (block: Block): block is ResultBlock => block.type === 'web_search_tool_result' && 'content' in block
const isTextBlock = (block: Block): block is TextBlock => block.type === 'text' && 'text' in block
