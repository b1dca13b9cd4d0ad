import * as z from 'zod'
import { isSource, looseText, requestJson, sourceFrom, type SearchProvider } from './provider.ts'

const answer = z.looseObject({
  results: z.array(z.looseObject({ url: z.string(), title: looseText, publishedDate: looseText, highlights: z.array(z.string()).nullish().catch(null) })),
})

/** Exa: its own choice of search, one highlight a result. Source: its API reference, "Search". */
export const exa: SearchProvider = {
  name: 'exa',
  title: 'Exa',
  baseUrl: 'https://api.exa.ai',
  keyName: 'EXA_API_KEY',
  isByNameOnly: false,
  model: '',
  async ask({ text, maxResults, signal }, setup) {
    const body = { query: text, type: 'auto', numResults: maxResults, contents: { highlights: { highlightsPerUrl: 1 } } }
    const { results } = await requestJson({ title: 'Exa', setup, path: '/search', headers: { 'x-api-key': setup.key }, body, schema: answer, signal })
    const sources = results.map(({ url, title, publishedDate, highlights }) => sourceFrom({ url, title, snippet: highlights?.[0], publishedAt: publishedDate }))
    return { sources: sources.filter(isSource) }
  },
}
