import type { PageKey } from './editor-page.ts'

/** Addresses and words that the page of the chat is made with. */
export interface ChatPageOptions {
  /** What the content security policy may name as the source of scripts, styles, fonts and images. */
  readonly cspSource: string
  /** Fresh for each page; letters and digits. */
  readonly nonce: string
  /** Addresses of the files in `dist/`: `webview.js`, `webview.css`, `codicon.css`. */
  readonly scriptUri: string
  readonly styleUri: string
  readonly iconStyleUri: string
  /** BCP 47. */
  readonly language: string
  /** Translations by English text; a text without one stays English. */
  readonly texts?: Readonly<Record<string, string>>
  /** Which page of the editor area it is; absent: the chat. */
  readonly page?: PageKey
}

/** Where the page keeps its translations, as JSON. */
export const TEXTS_ELEMENT_ID = 'bosun-texts'

/**
 * The whole page of the chat.
 *
 * No remote content: scripts and styles come from the extension's own files, images from there or from `data:` addresses.
 * The script loads its further parts (grammars) from beside itself, so `cspSource` stands beside the nonce.
 */
export function chatPage(options: ChatPageOptions): string {
  const { cspSource, nonce, language, texts = {}, page } = options
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' ${cspSource}`,
    `style-src ${cspSource}`,
    `font-src ${cspSource}`,
    `img-src ${cspSource} data:`,
  ].join('; ')
  return `<!doctype html>
<html lang="${attribute(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${attribute(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Bosun</title>
<link rel="stylesheet" href="${attribute(options.iconStyleUri)}">
<link rel="stylesheet" href="${attribute(options.styleUri)}">
<script type="application/json" id="${TEXTS_ELEMENT_ID}" nonce="${nonce}">${JSON.stringify(texts).replaceAll('<', '\\u003c')}</script>
<script type="module" nonce="${nonce}" src="${attribute(options.scriptUri)}"></script>
</head>
<body${page === undefined ? '' : ` data-page="${attribute(JSON.stringify(page))}"`}>
<div id="root"></div>
</body>
</html>
`
}

const attribute = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
