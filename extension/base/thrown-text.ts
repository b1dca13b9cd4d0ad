/**
 * What a thrown value says for itself: the message of an error, or the value as text.
 *
 * Shape:  null for a value that has no text, such as a revoked proxy or an object whose conversion throws.
 * Errors: none, whatever was thrown.
 */
export function thrownText(thrown: unknown): string | null {
  try {
    const text: unknown = thrown instanceof Error ? thrown.message || thrown.name : String(thrown)
    return typeof text === 'string' ? text : null
  } catch {
    // A hostile value may throw while it is turned into text; there is no more to be had from it.
    return null
  }
}

/** The same for the diagnostics, led by the kind of the error. Errors: none. */
export function thrownLine(thrown: unknown): string {
  const text = thrownText(thrown) ?? 'a value without text'
  try {
    return thrown instanceof Error ? `${thrown.name}: ${text}` : text
  } catch {
    // As above.
    return text
  }
}
