const fence = /^\s{0,3}(`{3,}|~{3,})/
const codeSpan = /(`+)(?!`).*?(?<!`)\1(?!`)/g
/** UTF-16 units; a longer line is data, not prose. */
const MAX_LINE = 4000
const mention = /(^|[\s([{"'*])@("[^"\n]+"|[^\s"'()[\]{}<>`,;]+)/g

/**
 * The paths that a text names as `@path` or `@"path with spaces"`, each once, as they are spelled. Code is not looked at.
 *
 * What is no path (`@types/node`, `@param`) is left out: a path begins with `.`, `~` or `/`, or its last step has an extension.
 * Source: runtime specification 30.13.
 */
export function importsIn(text: string): readonly string[] {
  const found = new Set<string>()
  let open: string | null = null
  for (const line of text.split('\n')) {
    const mark = fence.exec(line)?.[1]
    if (mark !== undefined && (open === null || (mark[0] === open[0] && mark.length >= open.length))) open = open === null ? mark : null
    else if (open === null && line.length <= MAX_LINE && line.includes('@')) for (const path of mentionsIn(line)) found.add(path)
  }
  return [...found]
}

function mentionsIn(line: string): readonly string[] {
  return [...line.replace(codeSpan, ' ').matchAll(mention)].flatMap(([, , spelling = '']) => {
    const path = spelling.startsWith('"') ? spelling.slice(1, -1) : spelling.replace(/[.:!?*]+$/, '')
    return looksLikePath(path) ? [path] : []
  })
}

const looksLikePath = (path: string) => /^(\.{1,2}|~)?\//.test(path) || /[^/@]\.[a-z]\w{0,9}$/i.test(path)
