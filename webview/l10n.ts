import { TEXTS_ELEMENT_ID } from '../extension/protocol/page.ts'

/*
 * The one state of a module here: translations come with the page, before anything is drawn, and never change after.
 */
let texts: Readonly<Record<string, string>> = {}

/** Take translations by English text; a text without one stays English. */
export function useTexts(translations: Readonly<Record<string, string>>): void {
  texts = translations
}

/** Take the translations that the host wrote into the page. A page without them, or with broken ones, stays English. */
export function readTexts(page: Document): void {
  try {
    const parsed: unknown = JSON.parse(page.getElementById(TEXTS_ELEMENT_ID)?.textContent ?? '{}')
    if (parsed !== null && typeof parsed === 'object') useTexts(parsed as Record<string, string>)
  } catch {
    // The page was written by hand, as in tests: English is right.
  }
}

/** A text in the person's language, with `{0}`, `{1}` … filled in. */
export function t(text: string, ...values: readonly (string | number)[]): string {
  return translated(text).replaceAll(/\{(\d)\}/g, (whole, index: string) => String(values[Number(index)] ?? whole))
}

/** A text for a count: `{0}` is the count. */
export const plural = (count: number, one: string, many: string): string => t(count === 1 ? one : many, formatNumber(count))

/** A text cut at its places: the pieces between are words, the numbers are places to fill with nodes. */
export function pieces(text: string): readonly (string | number)[] {
  return translated(text)
    .split(/(\{\d\})/)
    .filter((piece) => piece !== '')
    .map((piece) => (/^\{\d\}$/.test(piece) ? Number(piece[1]) : piece))
}

/** `1234567` as the person writes it. */
export const formatNumber = (value: number): string => value.toLocaleString(language())

/** BCP 47 tag of the page; English when it names none. */
export const language = (): string => document.documentElement.lang || 'en'

const translated = (text: string): string => texts[text] ?? text
