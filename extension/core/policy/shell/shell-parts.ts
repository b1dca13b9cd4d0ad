import type { ShellNode } from '../../../capabilities/shell-syntax.ts'

/** A shell command taken apart: every program it may start, every file it redirects to, every variable it sets. */
export interface ShellScript {
  /** In order of appearance, those in substitutions and functions too. */
  readonly commands: readonly ShellCommand[]
  readonly redirects: readonly ShellRedirect[]
  /** Values that variables get, and the lists that loops go through: what a command may get to see by a name. */
  readonly values: readonly ShellWord[]
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
  /** As far as reading tells: the text with `x` in the place of each part that only running tells. */
  readonly guess: string
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
  const script = { commands: [] as ShellCommand[], redirects: [] as ShellRedirect[], values: [] as ShellWord[], assigned: [] as string[], unknown: [] as string[] }

  const walk = (node: ShellNode): void => {
    switch (node.type) {
      case 'command':
        return command(node)
      case 'file_redirect':
        return redirect(node)
      case 'variable_assignment':
        script.assigned.push(assignedName(node))
        values(node)
        return node.children.forEach(walk)
      case 'for_statement':
        values(node)
        return node.children.forEach(walk)
      default:
        if (!structure.has(node.type) && !isWord(node)) script.unknown.push(node.type)
        node.children.forEach(walk)
    }
  }
  const values = ({ children }: ShellNode): void => {
    for (const child of children) {
      if (child.type === 'array') values(child)
      else if (isWord(child)) script.values.push(word(child, homeFolder))
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
  const { text, guess, isPattern } = valueOf(node)
  const isHome = node.type !== 'string' && node.type !== 'raw_string' && /^~(\/|$)/.test(guess)
  // `~name` is another's home, known to the shell alone.
  const isOtherHome = node.type === 'word' && text !== null && /^~[^/]/.test(text)
  const atHome = (path: string) => (isHome ? `${homeFolder}${path.slice(1)}` : path)
  return { text: text === null || isOtherHome ? null : atHome(text), guess: atHome(guess), isPattern, source: node.text }
}

type Value = Pick<ShellWord, 'text' | 'guess' | 'isPattern'>
const known = (text: string, isPattern = false): Value => ({ text, guess: text, isPattern })

function valueOf(node: ShellNode): Value {
  switch (node.type) {
    case 'word':
      return known(node.text.replace(/\\\n/g, '').replace(/\\(.)/gs, '$1'), /(^|[^\\])[*?[{]/.test(node.text))
    case 'number':
      return known(node.text)
    case 'raw_string':
      return known(node.text.slice(1, -1))
    case 'string': {
      const isPlain = node.children.every(({ type }) => type === 'string_content')
      if (isPlain) return known(unescaped(node.text.replace(/^\$?"/, '').replace(/"$/, '')))
      const guess = node.children.map((child) => (child.type === 'string_content' ? unescaped(child.text) : 'x')).join('')
      return { text: null, guess, isPattern: false }
    }
    case 'concatenation': {
      const parts = node.children.map(valueOf)
      const text = parts.some((part) => part.text === null) ? null : parts.map((part) => part.text).join('')
      return { text, guess: parts.map(({ guess }) => guess).join(''), isPattern: parts.some((part) => part.isPattern) }
    }
    case 'brace_expression':
      return known(node.text, true)
    case 'ansi_c_string':
    case 'translated_string':
      return { text: null, guess: node.text.slice(2, -1), isPattern: false }
    default:
      return { text: null, guess: 'x', isPattern: false }
  }
}

const unescaped = (text: string) => text.replace(/\\\n/g, '').replace(/\\([$`"\\])/g, '$1')

/** `X`, also of `X[1]`. */
const assignedName = (node: ShellNode) => /^[A-Za-z_]\w*/.exec(node.text)?.[0] ?? node.text
