/** What a message names with an `@` and what is looked up when it is sent. Files and folders are not: the model reads those. */
export type ParsedReference =
  | { readonly kind: 'selection' | 'problems' | 'terminal' | 'changes'; readonly raw: string }
  | { readonly kind: 'symbol' | 'session' | 'plugin'; readonly raw: string; readonly name: string }
  /** `name`: the server, a colon and an address. */
  | { readonly kind: 'mcp'; readonly raw: string; readonly name: string }

const pattern = /(?:^|[\s([{<,;'])(@(?:(selection|problems|terminal|changes)(?![\w/:-])|(symbol|session|mcp):(?:"([^"\n]+)"|([^\s"'`,;)\]}>]+))))/g

/** As plugins of a model are called; a file may be called so too. */
const pluginPattern = /(?:^|[\s([{<,;'])@([a-z]{3,6}-\d{1,9})(?![\w/-]|[.:]\w)/g

/** Each reference of a message once, in their order. `isPlugin`: the session has a plugin of that id. */
export function parseReferences(text: string, isPlugin: (id: string) => boolean = () => false): readonly ParsedReference[] {
  const found = new Map<string, ParsedReference>()
  for (const [, id = ''] of text.matchAll(pluginPattern)) if (isPlugin(id)) found.set(`plugin:${id}`, { kind: 'plugin', raw: `@${id}`, name: id })
  for (const [, whole = '', fact, named, quoted, plain = ''] of text.matchAll(pattern)) {
    // The full stop at the end of a sentence is not part of a name.
    const name = quoted ?? plain.replace(/[.!?:]+$/, '')
    if (fact !== undefined) found.set(whole, { kind: fact as 'selection', raw: whole })
    else if (name !== '') found.set(`${named}:${name}`, { kind: named as 'symbol', raw: quoted === undefined ? `@${named}:${name}` : whole, name })
  }
  return [...found.values()]
}

/** How a resource of an MCP server stands behind the `@`. */
export const resourceReference = (server: string, uri: string): string => (/[\s"'`,;()[\]{}<>]|[.!?:]$/.test(uri) ? `@mcp:"${server}:${uri}"` : `@mcp:${server}:${uri}`)

/** How a path stands behind the `@`. */
export const pathReference = (path: string): string => (/[\s"'`,;()[\]{}<>]/.test(path) ? `@"${path}"` : `@${path}`)
