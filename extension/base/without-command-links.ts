/**
 * Markdown in which links that would run a command of the editor keep their words only: for who reads it, there is nothing to click.
 */
export function withoutCommandLinks(markdown: string): string {
  return markdown
    .replaceAll(inlineLink, '$1')
    .replaceAll(anchor, '$1')
    .replaceAll(/<command:[^>]*>/gi, '')
    .replaceAll(/^ {0,3}\[[^\]\n]+\]:\s*<?command:.*$/gim, '')
}

/** `[words](command:id?args "title")`; the words may hold one level of brackets, the rest one of parentheses. */
const inlineLink = /\[((?:[^[\]]|\[[^[\]]*\])*)\]\(\s*<?command:(?:[^()\\]|\\.|\([^()]*\))*\)/gi
const anchor = /<a\b[^>]*\bhref\s*=\s*["']?command:[^>]*>(.*?)<\/a>/gis
