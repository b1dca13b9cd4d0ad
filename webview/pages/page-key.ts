import type { PageKey } from '../../extension/protocol/editor-page.ts'

/** Which page this is; null for the chat. The host writes it into the page. */
export function pageKeyOf(page: Document): PageKey | null {
  const text = page.body.dataset['page']
  // Written by our own host.
  return text === undefined ? null : (JSON.parse(text) as PageKey)
}
