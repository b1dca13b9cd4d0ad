import { isConfidentialName } from '../../base/secret-name.ts'
import type { McpTarget } from '../../capabilities/mcp.ts'
import { redactSecrets } from '../../core/policy/redact-secrets.ts'

/** UTF-16 units: what is shorter stands in too many words by chance. */
const MIN_SECRET = 6

/** Takes out of a server’s log and reasons what was given to it in confidence, and what looks like a key of somebody. */
export class HiddenValues {
  readonly #values = new Set<string>()

  /** A value that the person gave, or that stands where secrets do. */
  hide(value: string): void {
    if (value.length >= MIN_SECRET) this.#values.add(value)
  }

  /** The value of a variable, if it is called as secrets are. */
  hideNamed(name: string, value: string): void {
    if (isConfidentialName(name)) this.hide(value)
  }

  /** The values of headers, and of variables that are called as secrets are. */
  hideOf(target: McpTarget): void {
    if (target.kind === 'stdio') {
      for (const [name, value] of Object.entries(target.env)) this.hideNamed(name, value)
      return
    }
    if (target.client?.secret !== undefined) this.hide(target.client.secret)
    for (const value of Object.values(target.headers)) {
      this.hide(value)
      // Without the word for its kind, such as Bearer.
      this.hide(value.slice(value.indexOf(' ') + 1))
    }
  }

  /** What a sign-in gave, as it is kept. */
  hideSignIn(kept: string): void {
    for (const [, value = ''] of kept.matchAll(/"(?:access_token|refresh_token|id_token|client_secret)"\s*:\s*"([^"]+)"/g)) this.hide(value)
  }

  /** `text` without them. */
  redact(text: string): string {
    // The longest first: one may be a part of another.
    const values = [...this.#values].toSorted((a, b) => b.length - a.length)
    return redactSecrets(values.reduce((left, value) => left.replaceAll(value, '[left out]'), text))
  }
}
