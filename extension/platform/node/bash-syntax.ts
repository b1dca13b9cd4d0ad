import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { setFlagsFromString } from 'node:v8'
import type { Node, Parser } from 'web-tree-sitter'
import type { ShellNode, ShellSyntax } from '../../capabilities/shell-syntax.ts'

/** A command longer than this is not worth reading: nobody could judge it on a card either. Characters. */
const MAX_COMMAND_LENGTH = 100_000

/** The bash grammar by tree-sitter, loaded with the first command. */
export function createBashSyntax(): ShellSyntax {
  let loading: Promise<Parser> | undefined
  return {
    async parseBash(command) {
      if (command.length > MAX_COMMAND_LENGTH) return null
      loading ??= load()
      const parser = await loading.catch((error: unknown) => {
        // The next command tries again.
        loading = undefined
        throw error
      })
      const tree = withoutOptimizing(() => parser.parse(command))
      if (tree === null) return null
      try {
        return tree.rootNode.hasError ? null : plain(tree.rootNode)
      } finally {
        tree.delete()
      }
    },
  }
}

/**
 * Run `work` while V8 compiles WebAssembly plainly. Its optimizing compiler needs 500 MB and seconds of all cores for the one
 * giant function of the grammar, and a command is read in a millisecond without.
 *
 * Functions are compiled when first called, so the flags are set around loading and around each parse, and put back at once:
 * what others compile is not touched. Electron's V8 takes no flags after its start.
 * Source: measured, November 2026: peak of a headless run 119 MB with this, 580 MB without.
 */
function withoutOptimizing<T>(work: () => T): T {
  if (process.versions['electron'] !== undefined) return work()
  for (const flag of optimizing) setFlagsFromString(`--no-${flag}`)
  try {
    return work()
  } finally {
    for (const flag of optimizing) setFlagsFromString(`--${flag}`)
  }
}

const optimizing = ['wasm-tier-up', 'wasm-dynamic-tiering'] as const

async function load(): Promise<Parser> {
  const { Parser, Language } = await import('web-tree-sitter')
  const find = createRequire(import.meta.url)
  await Parser.init({ locateFile: () => find.resolve('web-tree-sitter/web-tree-sitter.wasm') })
  const grammar = await readFile(find.resolve('tree-sitter-bash/tree-sitter-bash.wasm'))
  const parser = new Parser()
  parser.setLanguage(await withoutOptimizing(() => Language.load(grammar)))
  return parser
}

function plain(node: Node): ShellNode {
  return { type: node.type, text: node.text, children: node.namedChildren.flatMap((child) => (child === null ? [] : [plain(child)])) }
}
