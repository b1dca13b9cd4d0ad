import * as z from 'zod'
import { isSource, looseText, requestJson, sourceFrom, type SearchProvider } from './provider.ts'

const answer = z.looseObject({
  answer: looseText,
  results: z.array(z.looseObject({ url: z.string(), title: looseText, content: looseText, published_date: looseText })),
})

/** Tavily. Source: its API reference, "Tavily Search". */
export const tavily: SearchProvider = {
  name: 'tavily',
  title: 'Tavily',
  baseUrl: 'https://api.tavily.com',
  keyName: 'TAVILY_API_KEY',
  isByNameOnly: false,
  model: '',
  async ask({ text, maxResults, signal }, setup) {
    const body = { query: text, max_results: maxResults, search_depth: 'basic', include_answer: true }
    const found = await requestJson({ title: 'Tavily', setup, path: '/search', headers: { authorization: `Bearer ${setup.key}` }, body, schema: answer, signal })
    const said = found.answer?.trim() ?? ''
    const sources = found.results.map(({ url, title, content, published_date: publishedAt }) => sourceFrom({ url, title, snippet: content, publishedAt }))
    return { ...(said !== '' && { answer: said }), sources: sources.filter(isSource) }
  },
}
