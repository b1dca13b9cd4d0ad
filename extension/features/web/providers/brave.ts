import * as z from 'zod'
import { isSource, looseText, requestJson, sourceFrom, type SearchProvider } from './provider.ts'

const answer = z.looseObject({
  // Missing when nothing was found.
  web: z.looseObject({ results: z.array(z.looseObject({ url: z.string(), title: looseText, description: looseText, age: looseText, page_age: looseText })).default([]) }).nullish(),
})

/** Brave Search. Source: its API reference, "Web Search". */
export const brave: SearchProvider = {
  name: 'brave',
  title: 'Brave Search',
  baseUrl: 'https://api.search.brave.com/res/v1',
  keyName: 'BRAVE_API_KEY',
  isByNameOnly: false,
  model: '',
  async ask({ text, maxResults, signal }, setup) {
    const query = new URLSearchParams({ q: text, count: String(maxResults), text_decorations: 'false' })
    const { web } = await requestJson({ title: 'Brave Search', setup, path: `/web/search?${query.toString()}`, headers: { 'x-subscription-token': setup.key }, schema: answer, signal })
    const sources = (web?.results ?? []).map(({ url, title, description, page_age: pageAge, age }) => sourceFrom({ url, title, snippet: description, publishedAt: pageAge ?? age }))
    return { sources: sources.filter(isSource) }
  },
}
