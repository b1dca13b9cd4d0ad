/** An escaped backslash, the two halves of a character, or a half by itself. */
const halves = /\\\\|\\u(?:d[89ab][0-9a-f]{2})\\u(?:d[c-f][0-9a-f]{2})|\\u(d[89a-f][0-9a-f]{2})/gi

/**
 * JSON text in which no text holds half a character: U+FFFD stands in its place.
 *
 * Providers refuse a whole request for one, and the log that it comes from would make each later request the same. In JSON that was
 * written, such a half can only stand as its escape.
 */
export function wholeText(json: string): string {
  // Most texts have none, and looking for so much costs next to nothing.
  if (!json.includes('\\ud') && !json.includes('\\uD')) return json
  return json.replace(halves, (found, half: string | undefined) => (half === undefined ? found : '\\ufffd'))
}
