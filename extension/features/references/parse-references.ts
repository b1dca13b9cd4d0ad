/** What a message names with an `@` and what is looked up when it is sent. Files and folders are not: the model reads those. */
export type ParsedReference =
  | { readonly kind: 'selection' | 'problems' | 'terminal' | 'changes'; readonly raw: string }
  | { readonly kind: 'symbol' | 'session'; readonly raw: string; readonly name: string }

const pattern = /(?:^|[\s([{<,;'])(@(?:(selection|problems|terminal|changes)(?![\w/:-])|(symbol|session):(?:"([^"\n]+)"|([^\s"'`,;)\]}>]+))))/g

/** Each reference of a message once, in their order. */
export function parseReferences(text: string): readonly ParsedReference[] {
  const found = new Map<string, ParsedReference>()
  for (const [, whole = '', fact, named, quoted, plain = ''] of text.matchAll(pattern)) {
    // The full stop at the end of a sentence is not part of a name.
    const name = quoted ?? plain.replace(/[.!?:]+$/, '')
    if (fact !== undefined) found.set(whole, { kind: fact as 'selection', raw: whole })
    else if (name !== '') found.set(`${named}:${name}`, { kind: named as 'symbol', raw: quoted === undefined ? `@${named}:${name}` : whole, name })
  }
  return [...found.values()]
}

/** How a path stands behind the `@`. */
export const pathReference = (path: string): string => (/[\s"'`,;()[\]{}<>]/.test(path) ? `@"${path}"` : `@${path}`)
