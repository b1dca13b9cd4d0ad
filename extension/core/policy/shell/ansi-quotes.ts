const plain: Readonly<Record<string, string>> = { a: '\x07', b: '\b', e: '\x1b', E: '\x1b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' }

/** What stands between `$'` and `'`, its escapes taken off. Source: the manual of bash, ANSI-C quoting. */
export function decodedAnsi(inner: string): string {
  return inner.replace(/\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c[\s\S]|[\s\S])/g, (_whole, escape: string) => {
    const digits = escape.slice(1)
    if (/^[xuU]/.test(escape) && digits !== '') return characterOf(Number.parseInt(digits, 16))
    if (/^[0-7]/.test(escape)) return characterOf(Number.parseInt(escape, 8) & 0xff)
    if (escape.startsWith('c') && digits !== '') return characterOf((digits.codePointAt(0) ?? 0) & 0x1f)
    return plain[escape] ?? escape
  })
}

const characterOf = (code: number) => (code > 0x10_ff_ff ? '\uFFFD' : String.fromCodePoint(code))
