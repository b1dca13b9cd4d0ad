import type { ShellNode } from '../../../capabilities/shell-syntax.ts'

/** A shell command taken apart: every program it may start, every file it redirects to, every variable it sets. */
export interface ShellScript {
  /** In order of appearance, those in substitutions and functions too. */
  readonly commands: readonly ShellCommand[]
  readonly redirects: readonly ShellRedirect[]
  /** Names of variables that are set, for the whole script or before one command. */
  readonly assigned: readonly string[]
  /** Kinds of syntax that nobody here understands; with one of them nothing can be said about the script. */
  readonly unknown: readonly string[]
}

export interface ShellCommand {
  /** The first is the program. */
  readonly words: readonly ShellWord[]
}

export interface ShellWord {
  /** What the program gets, quotes taken off; null when only running tells (a variable, a substitution). */
  readonly text: string | null
  /** The shell makes paths of it (`*`, `?`, `[…]`, `{…}`). */
  readonly isPattern: boolean
  /** As written. */
  readonly source: string
}

export interface ShellRedirect {
  readonly direction: 'read' | 'write'
  readonly target: ShellWord
}

/** Take the tree of a command apart. `~` is the person's home folder. */
export function shellScript(tree: ShellNode, homeFolder: string): ShellScript {
  const script = { commands: [] as ShellCommand[], redirects: [] as ShellRedirect[], assigned: [] as string[], unknown: [] as string[] }

  const walk = (node: ShellNode): void => {
    switch (node.type) {
      case 'command':
        return command(node)
      case 'file_redirect':
        return redirect(node)
      case 'variable_assignment':
        script.assigned.push(assignedName(node))
        return node.children.forEach(walk)
      default:
        if (!structure.has(node.type) && !isWord(node)) script.unknown.push(node.type)
        node.children.forEach(walk)
    }
  }
  const command = (node: ShellNode): void => {
    const words: ShellWord[] = []
    for (const child of node.children) {
      if (child.type === 'command_name') words.push(word(child.children[0] ?? child, homeFolder))
      else if (isWord(child)) words.push(word(child, homeFolder))
      // What stands inside a word or beside it may hold commands of its own.
      walk(child.type === 'command_name' ? (child.children[0] ?? child) : child)
    }
    if (words.length > 0) script.commands.push({ words })
  }
  const redirect = (node: ShellNode): void => {
    const target = node.children.find(({ type }) => type !== 'file_descriptor')
    const operator = /^\d*(&>>|&>|>>|>\||>&|<&|<>|>|<)/.exec(node.text)?.[1] ?? ''
    if (target === undefined) return
    walk(target)
    // `2>&1` and `>&-` name no file.
    if (operator.endsWith('&') && /^(\d+|-)$/.test(target.text)) return
    script.redirects.push({ direction: operator === '<' ? 'read' : 'write', target: word(target, homeFolder) })
  }

  walk(tree)
  return script
}

/** Syntax that holds commands and does nothing by itself. */
const structure = new Set([
  'program', 'list', 'pipeline', 'subshell', 'compound_statement', 'redirected_statement', 'negated_command', 'comment',
  'if_statement', 'elif_clause', 'else_clause', 'for_statement', 'c_style_for_statement', 'while_statement', 'do_group',
  'case_statement', 'case_item', 'function_definition', 'declaration_command', 'unset_command', 'test_command',
  'command_substitution', 'process_substitution', 'heredoc_redirect', 'heredoc_start', 'heredoc_body', 'heredoc_content', 'heredoc_end',
  'herestring_redirect', 'file_descriptor', 'variable_name', 'special_variable_name', 'subscript', 'array',
  'simple_expansion', 'expansion', 'arithmetic_expansion', 'string_content', 'test_operator', 'regex', 'extglob_pattern',
  'unary_expression', 'binary_expression', 'postfix_expression', 'ternary_expression', 'parenthesized_expression', 'negation_expression',
])

const wordTypes = new Set([
  'word', 'number', 'string', 'raw_string', 'ansi_c_string', 'translated_string', 'concatenation',
  'simple_expansion', 'expansion', 'command_substitution', 'process_substitution', 'arithmetic_expansion', 'brace_expression',
])
const isWord = ({ type }: ShellNode) => wordTypes.has(type)

function word(node: ShellNode, homeFolder: string): ShellWord {
  const { text, isPattern } = valueOf(node)
  const isHome = node.type !== 'string' && node.type !== 'raw_string' && text !== null && /^~(\/|$)/.test(text)
  // `~name` is another's home, known to the shell alone.
  const isOtherHome = node.type === 'word' && text !== null && /^~[^/]/.test(text)
  return { text: isHome ? `${homeFolder}${text.slice(1)}` : isOtherHome ? null : text, isPattern, source: node.text }
}

function valueOf(node: ShellNode): { readonly text: string | null; readonly isPattern: boolean } {
  switch (node.type) {
    case 'word':
      return { text: node.text.replace(/\\\n/g, '').replace(/\\(.)/gs, '$1'), isPattern: /(^|[^\\])[*?[{]/.test(node.text) }
    case 'number':
      return { text: node.text, isPattern: false }
    case 'raw_string':
      return { text: node.text.slice(1, -1), isPattern: false }
    case 'string': {
      const isPlain = node.children.every(({ type }) => type === 'string_content')
      const inner = node.text.replace(/^\$?"/, '').replace(/"$/, '')
      return { text: isPlain ? inner.replace(/\\\n/g, '').replace(/\\([$`"\\])/g, '$1') : null, isPattern: false }
    }
    case 'concatenation': {
      const parts = node.children.map(valueOf)
      const text = parts.some((part) => part.text === null) ? null : parts.map((part) => part.text).join('')
      return { text, isPattern: parts.some((part) => part.isPattern) }
    }
    case 'brace_expression':
      return { text: node.text, isPattern: true }
    default:
      return { text: null, isPattern: false }
  }
}

/** `X`, also of `X[1]`. */
const assignedName = (node: ShellNode) => /^[A-Za-z_]\w*/.exec(node.text)?.[0] ?? node.text
