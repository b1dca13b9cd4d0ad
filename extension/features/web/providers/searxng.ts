import * as z from 'zod'
import { isSource, looseText, plainText, requestJson, sourceFrom, type SearchProvider } from './provider.ts'

const answer = z.looseObject({
  results: z.array(z.looseObject({ url: z.string(), title: looseText, content: looseText, publishedDate: looseText })),
  // Texts until 2024, objects since.
  answers: z.array(z.union([z.string(), z.looseObject({ answer: z.string() })])).catch([]).optional(),
})

/** SearXNG, a metasearch that people run themselves. Source: its documentation, "Search API"; `json` must be among its `search.formats`. */
export const searxng: SearchProvider = {
  name: 'searxng',
  title: 'SearXNG',
  baseUrl: null,
  keyName: null,
  isByNameOnly: false,
  model: '',
  async ask({ text, maxResults, signal }, setup) {
    const query = new URLSearchParams({ q: text, format: 'json' })
    const { results, answers = [] } = await requestJson({ title: 'SearXNG', setup, path: `/search?${query.toString()}`, headers: {}, schema: answer, signal })
    const said = answers.map((one) => plainText(typeof one === 'string' ? one : one.answer)).filter((words) => words !== '').join('\n')
    const sources = results.slice(0, maxResults).map(({ url, title, content, publishedDate }) => sourceFrom({ url, title, snippet: content, publishedAt: publishedDate }))
    return { ...(said !== '' && { answer: said }), sources: sources.filter(isSource) }
  },
}
