import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
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
      const tree = parser.parse(command)
      if (tree === null) return null
      try {
        return tree.rootNode.hasError ? null : plain(tree.rootNode)
      } finally {
        tree.delete()
      }
    },
  }
}

async function load(): Promise<Parser> {
  const { Parser, Language } = await import('web-tree-sitter')
  const find = createRequire(import.meta.url)
  await Parser.init({ locateFile: () => find.resolve('web-tree-sitter/web-tree-sitter.wasm') })
  const grammar = await readFile(find.resolve('tree-sitter-bash/tree-sitter-bash.wasm'))
  const parser = new Parser()
  parser.setLanguage(await Language.load(grammar))
  return parser
}

function plain(node: Node): ShellNode {
  return { type: node.type, text: node.text, children: node.namedChildren.flatMap((child) => (child === null ? [] : [plain(child)])) }
}
