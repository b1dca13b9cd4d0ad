import { Emitter } from '../../base/emitter.ts'
import type { Clock } from '../../capabilities/clock.ts'
import { isPdf, pdfAsLines, type DocumentText } from '../../capabilities/document-text.ts'
import type { Http } from '../../capabilities/http.ts'
import type { Logger } from '../../capabilities/logger.ts'
import type { Secrets } from '../../capabilities/secrets.ts'
import { MAX_PAGE_BYTES, MAX_PDF_BYTES, MAX_REDIRECTS, WebError, type Page, type ReadableText, type WebPages } from '../../capabilities/web-pages.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type { Settings } from '../../core/settings/settings.ts'
import { settings as specs } from '../../core/settings/specs.ts'
import { ownMachineIn } from './own-machine.ts'
import { searchProviders } from './providers/all.ts'
import type { QueryAnswer, SearchProvider } from './providers/provider.ts'
import { MAX_RESULTS, searchAll } from './search-all.ts'
import type { ReadPage, SearchRequest, Web } from './service.ts'
import { createShortCache } from './short-cache.ts'

export interface WebParts {
  readonly http: Http
  readonly pages: WebPages
  readonly documents: DocumentText
  readonly secrets: Pick<Secrets, 'get' | 'onDidChange'>
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/** A second less than `web_fetch` allows itself, so that what ends a slow page says which host it was. */
const MAX_FETCH_MS = 29_000
/** What was read or found in the last 15 minutes is not asked for again. */
const CACHE_MS = 15 * 60_000
/** Pages of a PDF whose text is read, and its UTF-16 units. */
export const MAX_PDF_PAGES = 500
const MAX_PDF_CHARS = 2_000_000
/** UTF-16 units of the texts that are kept. */
const MAX_CACHED_TEXT = 10_000_000

/** Provides `web`: searching by the provider that the person set up, and pages as text. */
export function webPlugin(parts: WebParts): Plugin {
  return {
    name: 'web',
    inject: ['settings'],
    async apply(ctx) {
      const service = createWeb(parts, ctx.settings)
      ctx.effect(service.dispose)
      // Known before anybody lists the tools, so that the list does not change between two requests.
      await service.refresh()
      ctx.provide('web', service.web)
    },
  }
}

function createWeb({ http, pages, documents, secrets, clock, logger }: WebParts, settings: Settings) {
  const changes = new Emitter<void>((error) => logger.error('A listener for the web failed.', { error: String(error) }))
  const fetched = createShortCache<LoadedPage>({ now: clock.now, lifetimeMs: CACHE_MS, maxSize: MAX_CACHED_TEXT })
  const texts = createShortCache<ReadableText>({ now: clock.now, lifetimeMs: CACHE_MS, maxSize: MAX_CACHED_TEXT })
  const answers = createShortCache<QueryAnswer>({ now: clock.now, lifetimeMs: CACHE_MS, maxSize: MAX_CACHED_TEXT / 10 })
  /** In the order of the providers. */
  let usable: readonly SearchProvider[] = []

  const override = (name: SearchProvider['name']) => settings.get(specs.toolsWebProviders)[name] ?? {}
  const baseUrlOf = ({ name, baseUrl }: SearchProvider) => (override(name).baseUrl ?? baseUrl)?.replace(/\/+$/, '') ?? null
  const keyNameOf = ({ name, keyName }: SearchProvider) => override(name).keyName ?? keyName
  /** This machine is open to an address that names it: the policy has asked the person about that address before. */
  const rulesFor = (url: string) => {
    const ownMachine = ownMachineIn(url)
    return { allowedPrivateHosts: [...settings.get(specs.toolsWebAllowedPrivateHosts), ...(ownMachine === null ? [] : [ownMachine])] }
  }

  function check(url: string): ReturnType<Web['check']> {
    const ownMachine = ownMachineIn(url)
    const settled = { allowedPrivateHosts: settings.get(specs.toolsWebAllowedPrivateHosts) }
    const href = pages.check(url, rulesFor(url))
    return { href, ownMachine: ownMachine !== null && isRefused(() => pages.check(url, settled)) ? ownMachine : null }
  }

  async function keyOf(provider: SearchProvider): Promise<string | null> {
    const keyName = keyNameOf(provider)
    return keyName === null ? '' : ((await secrets.get(keyName))?.value.trim() ?? null)
  }

  async function isUsable(provider: SearchProvider): Promise<boolean> {
    if (baseUrlOf(provider) === null) return false
    const named = settings.get(specs.toolsWebSearchProvider)
    if (named !== null) return provider.name === named
    if (provider.isByNameOnly) return false
    const key = await keyOf(provider)
    return key !== null && (key !== '' || keyNameOf(provider) === null)
  }

  async function refresh(): Promise<void> {
    const flags = await Promise.all(searchProviders.map(isUsable))
    usable = searchProviders.filter((_provider, index) => flags[index])
    changes.emit()
  }
  const refreshLater = () => {
    refresh().catch((error: unknown) => logger.warn('Which provider can search could not be found out.', { error: String(error) }))
  }
  const undos = [
    secrets.onDidChange(refreshLater),
    settings.onDidChange((key) => {
      if (key.startsWith('tools.web.')) refreshLater()
    }),
  ]

  /** Errors: `WebError` `WEB_PROVIDER_*` for what the person has to set up first. */
  async function chosen(): Promise<{ readonly provider: SearchProvider; readonly key: string; readonly baseUrl: string }> {
    const named = searchProviders.find(({ name }) => name === settings.get(specs.toolsWebSearchProvider))
    if (named === undefined && usable.length > 1) {
      throw new WebError('WEB_PROVIDER_AMBIGUOUS', `${usable.map(({ title }) => title).join(' and ')} could search, and the settings do not say which. The person has to choose one in bosun.tools.web.searchProvider.`)
    }
    const provider = named ?? usable[0]
    if (provider === undefined) throw new WebError('WEB_PROVIDER_UNAVAILABLE', 'No provider for searching the web is set up. The person has to choose one in bosun.tools.web.searchProvider.')
    const baseUrl = baseUrlOf(provider)
    if (baseUrl === null) throw new WebError('WEB_PROVIDER_CONFIGURED_UNAVAILABLE', `${provider.title} is chosen, but its address is not known. The person has to give it as bosun.tools.web.providers, such as {"${provider.name}": {"baseUrl": "https://search.example.com"}}.`)
    const key = await keyOf(provider)
    if (key === null || (key === '' && keyNameOf(provider) !== null)) {
      throw new WebError('WEB_PROVIDER_CREDENTIAL_MISSING', `${provider.title} needs a key. The person can set it with "Bosun: Set API Key", or in the environment as ${keyNameOf(provider) ?? ''}.`)
    }
    // No header can carry it, and the failure of the request would show it.
    if (!/^[\x21-\x7e]*$/.test(key)) throw new WebError('WEB_PROVIDER_CREDENTIAL_MISSING', `The key of ${provider.title} holds characters that no key can have. The person has to set it again.`)
    return { provider, key, baseUrl }
  }

  async function search({ queries, signal, onModelRequest }: SearchRequest) {
    const { provider, key, baseUrl } = await chosen()
    const model = override(provider.name).model ?? provider.model
    return searchAll(queries, signal, async (text, either) => {
      const asked = JSON.stringify([provider.name, baseUrl, model, text])
      const known = answers.get(asked)
      if (known !== undefined) return known
      const query = { text, maxResults: MAX_RESULTS, signal: either, ...(onModelRequest && { onModelRequest }) }
      const found = await provider.ask(query, { http, baseUrl, key, model })
      answers.set(asked, found, JSON.stringify(found).length)
      return found
    })
  }

  async function read({ url, isWhole, signal }: Parameters<Web['read']>[0]): Promise<ReadPage> {
    const full = new URL(check(url).href)
    const anchor = full.hash === '' ? null : decoded(full.hash.slice(1))
    full.hash = ''
    const page = fetched.get(full.href) ?? (await load(full.href, signal))
    const { statusCode, isCut, isDamaged, pages: found } = page
    const common = { url: page.url, statusCode, isCut, isDamaged, ...(found !== undefined && { pages: found }) }
    if (!page.isHtml) return { ...common, kind: 'text', text: page.text, isRaw: false, isPlain: false, anchorLine: null }
    const asked = JSON.stringify([full.href, anchor, isWhole])
    const known = texts.get(asked)
    const made = known ?? (await pages.toText({ html: page.text, url: page.url, anchor, isWhole }, signal))
    if (known === undefined) texts.set(asked, made, made.text.length)
    return { ...common, kind: 'html', text: made.text, isRaw: made.form === 'raw', isPlain: made.form === 'plain', anchorLine: made.anchorLine }
  }

  async function load(url: string, signal: AbortSignal): Promise<LoadedPage> {
    const timeoutMs = Math.min(settings.get(specs.toolsWebTimeoutMs), MAX_FETCH_MS)
    const page = await withPdfText(await pages.load({ url, ...rulesFor(url), maxBytes: MAX_PAGE_BYTES, maxPdfBytes: MAX_PDF_BYTES, maxRedirects: MAX_REDIRECTS, timeoutMs, signal }), signal)
    // A failure may pass, so it is asked again; a page of this machine is being worked on.
    if (page.statusCode < 400 && ownMachineIn(url) === null) fetched.set(url, page, page.text.length)
    return page
  }

  /** Errors: `DocumentError`; `WebError` `WEB_UNSUPPORTED_CONTENT_TYPE` for what is only called a PDF. */
  async function withPdfText({ pdf, ...page }: Page, signal: AbortSignal): Promise<LoadedPage> {
    if (pdf === undefined) return page
    if (!isPdf(pdf)) throw new WebError('WEB_UNSUPPORTED_CONTENT_TYPE', `${page.url.slice(0, 300)} (status ${page.statusCode}) says that it is a PDF, and is none. Look for the same as a web page.`)
    // A copy of its own: what is read goes to a thread.
    const found = await documents.pdf(Uint8Array.from(pdf), { maxPages: MAX_PDF_PAGES, maxChars: MAX_PDF_CHARS }, signal)
    return { ...page, text: pdfAsLines(found), pages: { total: found.totalPages, read: found.pages.length } }
  }

  const web: Web = {
    maxSources: MAX_RESULTS,
    searchers: () => usable.map((provider) => ({ name: provider.name, host: new URL(baseUrlOf(provider) ?? 'https://unknown.invalid').hostname })),
    keys: () => searchProviders.flatMap((provider) => (provider.isByNameOnly || provider.keyName === null ? [] : [{ name: provider.name, title: provider.title, keyName: keyNameOf(provider) ?? provider.keyName }])),
    isFetchOn: () => settings.get(specs.toolsWebFetchEnabled),
    timeoutMs: () => settings.get(specs.toolsWebTimeoutMs),
    onDidChange: changes.listen,
    search,
    check,
    read,
  }
  return { web, refresh, dispose: () => undos.forEach((undo) => undo()) }
}

/** A PDF is its text by then. */
type LoadedPage = Omit<Page, 'pdf'> & Pick<ReadPage, 'pages'>

function isRefused(work: () => unknown): boolean {
  try {
    work()
    return false
  } catch (error) {
    if (error instanceof WebError) return true
    throw error
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A stray percent sign is no reason to refuse the page.
    return text
  }
}
