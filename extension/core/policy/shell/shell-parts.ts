import { braceExpand } from 'minimatch'
import type { ShellNode } from '../../../capabilities/shell-syntax.ts'
import { decodedAnsi } from './ansi-quotes.ts'
import { isCount, isKnownInScript } from './open-words.ts'

/** A shell command taken apart: every program it may start, every file it redirects to, every variable it sets. */
export interface ShellScript {
  /** In order of appearance, those in substitutions and functions too. Of one that only starts another, that other. */
  readonly commands: readonly ShellCommand[]
  /** What commands start in a way of its own: as another user, on another machine, from a text that they are fed. */
  readonly hidden: readonly ShellCommand[]
  /** Here-documents and here-strings. */
  readonly inputs: readonly string[]
  readonly redirects: readonly ShellRedirect[]
  /** Values that variables get, and the lists that loops go through: what a command may get to see by a name. */
  readonly values: readonly ShellWord[]
  /** Names of variables that are set, for the whole script or before one command. */
  readonly assigned: readonly string[]
  /** Names of variables whose values it uses. */
  readonly used: readonly string[]
  /** Syntax that nobody here understands or whose effect hangs on values; with one of them nothing can be said about the script. */
  readonly unknown: readonly string[]
}

export interface ShellCommand {
  /** The first is the program. */
  readonly words: readonly ShellWord[]
  /** The command as it stands in the script, when that one only starts this one. */
  readonly written?: ShellCommand
  /** What it prints becomes words of another. */
  readonly isSubstituted?: true
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
  /** The variables it is made of; null when something else has a say in it. */
  readonly variables?: readonly string[] | null
  /** The shell may make several words of it, or none. */
  readonly isSplit?: true
}

export interface ShellRedirect {
  readonly direction: 'read' | 'write'
  readonly target: ShellWord
}

/** Take the tree of a command apart. `~` is the person's home folder. */
export function shellScript(tree: ShellNode, homeFolder: string): ShellScript {
  const script = { commands: [] as ShellCommand[], hidden: [] as ShellCommand[], inputs: [] as string[], redirects: [] as ShellRedirect[], values: [] as ShellWord[], assigned: [] as string[], used: [] as string[], unknown: [] as string[] }
  const texts: Texts = { homeFolder, values: new Map() }
  const functions = new Set<string>()
  /** Programs that are started from inside of a function. */
  const calledInside: string[] = []
  /** Variables that hold numbers as far as the script says; false once one was given anything else. */
  const numeric = new Map<string, boolean>()
  /** What stands in brackets of which each word may be an operator. */
  const tested: ShellWord[] = []
  /** Variables that arithmetic looks into. */
  const computed: string[] = []
  let substitutions = 0

  const walk = (node: ShellNode, isInFunction: boolean): void => {
    if (hidesCommands(node)) script.unknown.push('a command inside of a pattern or of another in backquotes')
    const inner = (child: ShellNode) => walk(child, isInFunction || node.type === 'function_definition')
    switch (node.type) {
      case 'command':
        return command(node, isInFunction)
      case 'file_redirect':
        return redirect(node, isInFunction)
      case 'heredoc_redirect':
        if (hidesInHeredoc(node)) script.unknown.push('a command inside of a here-document')
        break
      case 'heredoc_body':
        script.inputs.push(node.text)
        break
      case 'herestring_redirect':
        script.inputs.push(...node.children.map((child) => word(child, texts).guess))
        break
      case 'variable_assignment':
        assign(node)
        values(node)
        break
      case 'for_statement':
        loop(node)
        values(node)
        break
      case 'function_definition':
        functions.add(node.children[0]?.text ?? '')
        break
      case 'simple_expansion':
        script.used.push(...node.children.map(({ text }) => text))
        break
      case 'expansion':
        expansion(node)
        break
      case 'arithmetic_expansion':
      case 'c_style_for_statement':
        compute(node)
        break
      case 'compound_statement':
        if (node.text.startsWith('((')) compute(node)
        break
      case 'test_command':
        script.unknown.push(...oddTests(node, computed))
        if (!node.text.startsWith('[[')) tested.push(...operandsIn(node).map((operand) => word(operand, texts)))
        break
      case 'declaration_command':
        script.unknown.push(...oddDeclaration(node))
        break
      case 'unset_command':
        if (node.children.some(({ type, text }) => type !== 'variable_name' && !/^-?\w+$/.test(text))) script.unknown.push('unset with a computed name')
        break
      default:
        if (!structure.has(node.type) && !isWord(node)) script.unknown.push(node.type)
    }
    if (node.type === 'command_substitution') substitutions += 1
    node.children.forEach(inner)
    if (node.type === 'command_substitution') substitutions -= 1
  }
  const values = ({ children }: ShellNode): void => {
    for (const child of children) {
      if (child.type === 'array') {
        if (child.children.some(({ text }) => /^\[(?!\d+\])/.test(text))) script.unknown.push('a computed index')
        values(child)
      }
      else if (isWord(child)) script.values.push(word(child, texts))
    }
  }
  const command = (node: ShellNode, isInFunction: boolean): void => {
    const words: ShellWord[] = []
    for (const child of node.children) {
      if (child.type === 'command_name') words.push(word(child.children[0] ?? child, texts))
      else if (isWord(child)) words.push(word(child, texts))
      // What stands inside a word or beside it may hold commands of its own.
      walk(child.type === 'command_name' ? (child.children[0] ?? child) : child, isInFunction)
    }
    if (words.length === 0) return
    script.commands.push({ words: filledProgram(words), ...(substitutions > 0 && { isSubstituted: true }) })
    const name = words[0]?.text ?? ''
    if (isInFunction) calledInside.push(name)
    if (name === 'read') for (const { text } of words.slice(1)) numeric.set(text ?? '', false)
  }
  const redirect = (node: ShellNode, isInFunction: boolean): void => {
    const target = node.children.find(({ type }) => type !== 'file_descriptor')
    const operator = /^\d*(&>>|&>|>>|>\||>&|<&|<>|>|<)/.exec(node.text)?.[1] ?? ''
    if (target === undefined) return
    walk(target, isInFunction)
    // `2>&1` and `>&-` name no file.
    if (operator.endsWith('&') && /^(\d+|-)$/.test(target.text)) return
    script.redirects.push({ direction: operator === '<' ? 'read' : 'write', target: word(target, texts) })
  }
  const setNumber = (name: string, isNumber: boolean) => void numeric.set(name, isNumber && numeric.get(name) !== false)
  const assign = (node: ShellNode): void => {
    const name = assignedName(node)
    script.assigned.push(name)
    const [, value] = node.children
    if (value !== undefined && isWord(value) && !texts.values.has(name)) texts.values.set(name, word(value, texts).guess)
    setNumber(name, node.children.slice(1).every(({ type }) => type === 'number' || type === 'arithmetic_expansion') && node.children.length === 2)
    if (node.children.some(isOddSubscript)) script.unknown.push('a computed index')
  }
  const loop = ({ children: [variable, ...values] }: ShellNode): void => {
    if (variable?.type !== 'variable_name') return
    script.assigned.push(variable.text)
    setNumber(variable.text, values.every(({ type, text }) => type === 'number' || type === 'do_group' || /^\{\d+\.\.\d+\}$/.test(text)))
  }
  const expansion = (node: ShellNode): void => {
    const name = node.children.find(({ type }) => type === 'variable_name')?.text ?? ''
    script.used.push(name, ...node.children.filter(({ type }) => type === 'subscript').map(assignedName))
    if (node.text.startsWith('${!')) script.unknown.push('a variable named by another')
    if (/@[A-Za-z]\}$/.test(node.text)) script.unknown.push('a value that is read as a script')
    if (/^\$\{\w+:?=/.test(node.text)) {
      script.assigned.push(name)
      script.values.push(word(node, texts))
      setNumber(name, false)
    }
    if (/^\$\{\w+(\[[^\]]*\])?:(?![-+=?])/.test(node.text) && !/:\s*-?\d+(:\s*-?\d+)?\}$/.test(node.text)) script.unknown.push('a computed part of a value')
    if (node.children.some(isOddSubscript)) script.unknown.push('a computed index')
  }
  const compute = (node: ShellNode): void => void computed.push(...namesIn(node))

  walk(tree, false)
  // Arithmetic runs what stands in brackets in the value of a variable; only numbers are safe from that.
  const odd = computed.find((name) => numeric.get(name) !== true)
  if (odd !== undefined) script.unknown.push(`arithmetic with ${odd}`)
  const loose = tested.find((one) => one.isSplit === true && !isCount(one) && !isKnownInScript(one, script))
  if (loose !== undefined) script.unknown.push(`a test of ${loose.source} without quotes`)
  if (calledInside.some((name) => functions.has(name))) script.unknown.push('a function that calls a function of the script')
  return script
}

/** Where the grammar sees plain text the shell may still see a command; inside backquotes a backslash opens further ones. */
function hidesCommands({ type, text, children }: ShellNode): boolean {
  if (type === 'command_substitution') return text.startsWith('`') && /\\[`$\\]/.test(text)
  return children.length === 0 && (type === 'word' || type === 'regex') && /`|[$<>]\(|\$\{/.test(text.replace(/\\[\s\S]/g, ''))
}

/** Without quotes around its end word the shell runs what stands in backquotes in a here-document; the grammar sees text there. */
function hidesInHeredoc({ children }: ShellNode): boolean {
  const start = children.find(({ type }) => type === 'heredoc_start')?.text ?? ''
  const body = children.find(({ type }) => type === 'heredoc_body')
  if (body === undefined || /['"\\]/.test(start)) return false
  const plain = body.text.replace(/\\[\s\S]/g, '')
  return plain.includes('`') || (plain.match(/\$\(/g)?.length ?? 0) > countOf(body, new Set(['command_substitution', 'arithmetic_expansion']))
}

const countOf = (node: ShellNode, types: ReadonlySet<string>): number => node.children.reduce((count, child) => count + countOf(child, types), types.has(node.type) ? 1 : 0)

const namesIn = (node: ShellNode): readonly string[] => {
  if (node.type === 'do_group' || node.type === 'command_substitution') return []
  if (node.type === 'variable_name' || (node.type === 'word' && /^[A-Za-z_]/.test(node.text))) return [node.text]
  // What cannot be taken apart is a value nobody knows.
  return node.children.length === 0 ? (node.type === 'number' || /^[^A-Za-z_]*$/.test(node.text) ? [] : [node.text]) : node.children.flatMap(namesIn)
}

const isOddSubscript = ({ type, children }: ShellNode) => type === 'subscript' && children.slice(1).some(({ text }) => !/^(\d+|@|\*)$/.test(text))

/** `[[ a -gt b ]]` computes both sides; `-v` looks into the brackets of a name. */
function oddTests(node: ShellNode, computed: string[]): readonly string[] {
  const [left, operator, right] = node.children
  const odd: string[] = []
  if (node.type === 'unary_expression' && /^-[vR]$/.test(left?.text ?? '') && !/^\w+$/.test(operator?.text ?? '')) odd.push('a computed name in a test')
  if (node.type === 'binary_expression' && /^-(eq|ne|lt|le|gt|ge)$/.test(operator?.text ?? '')) {
    for (const side of [left, right]) if (side !== undefined && !/^(-?\d+|\$[#?]|\$\{#\w+\})$/.test(side.text)) computed.push(...(namesIn(side).length > 0 ? namesIn(side) : [side.text]))
  }
  return [...odd, ...node.children.filter(({ type }) => /expression|test_command/.test(type)).flatMap((child) => oddTests(child, computed))]
}

/** The words of a test, however they are joined. */
const operandsIn = (node: ShellNode): readonly ShellNode[] => node.children.flatMap((child) => (isWord(child) ? [child] : operandsIn(child)))

/** Declarations that list every variable, or make one that stands for another or computes its value. */
function oddDeclaration({ children }: ShellNode): readonly string[] {
  const flags = children.filter(({ type, text }) => type === 'word' && /^[-+]/.test(text))
  const names = children.filter((child) => !flags.includes(child))
  if (flags.some(({ text }) => /[inp]/.test(text))) return ['a declaration that computes, renames or lists']
  if (names.length === 0) return ['a list of all variables']
  return names.some(({ type }) => type !== 'variable_name' && type !== 'variable_assignment') ? ['a declaration of a computed name'] : []
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

/** What words are filled in with, as far as reading tells. */
interface Texts {
  readonly homeFolder: string
  /** The first value that the script gives each variable. */
  readonly values: Map<string, string>
}

/** `{curl,-s} x` starts curl. */
function filledProgram(words: readonly ShellWord[]): readonly ShellWord[] {
  const [program, ...rest] = words
  if (program?.text == null || !program.isPattern || !program.text.includes(',')) return words
  const filled = program.text.length > 500 ? [] : braceExpand(program.text, { braceExpandMax: 51 })
  return filled.length < 2 || filled.length > 50 ? words : [...filled.map((text) => ({ ...program, text, guess: text, isPattern: /[*?[]/.test(text) })), ...rest]
}

function word(node: ShellNode, texts: Texts): ShellWord {
  const { text, guess, isPattern } = valueOf(node, texts)
  const isHome = node.type !== 'string' && node.type !== 'raw_string' && /^~(\/|$)/.test(guess)
  // `~name` is another's home, known to the shell alone.
  const isOtherHome = node.type === 'word' && text !== null && /^~[^/]/.test(text)
  const atHome = (path: string) => (isHome ? `${texts.homeFolder}${path.slice(1)}` : path)
  return { text: text === null || isOtherHome ? null : atHome(text), guess: atHome(guess), isPattern, source: node.text, ...(text === null && { variables: variablesOf(node) }), ...(isSplit(node) && { isSplit: true }) }
}

/** Without quotes each blank in a value begins a word; a whole list does so in quotes too. */
function isSplit({ type, children }: ShellNode): boolean {
  switch (type) {
    case 'simple_expansion':
    case 'expansion':
    case 'command_substitution':
      return true
    case 'concatenation':
      return children.some(isSplit)
    case 'string':
      return children.some((child) => (child.type === 'simple_expansion' || child.type === 'expansion') && child.text.includes('@'))
    default:
      return false
  }
}

type Value = Pick<ShellWord, 'text' | 'guess' | 'isPattern'>
const known = (text: string, isPattern = false): Value => ({ text, guess: text, isPattern })

function valueOf(node: ShellNode, texts: Texts): Value {
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
      const guess = node.children.map((child) => (child.type === 'string_content' ? unescaped(child.text) : valueOf(child, texts).guess)).join('')
      return { text: null, guess, isPattern: false }
    }
    case 'concatenation': {
      const parts = node.children.map((child) => valueOf(child, texts))
      const text = parts.some((part) => part.text === null) ? null : parts.map((part) => part.text).join('')
      return { text, guess: parts.map(({ guess }) => guess).join(''), isPattern: parts.some((part) => part.isPattern) }
    }
    case 'brace_expression':
      return known(node.text, true)
    case 'ansi_c_string':
      return known(decodedAnsi(node.text.slice(2, -1)))
    case 'translated_string':
      return { text: null, guess: node.text.slice(2, -1), isPattern: false }
    case 'simple_expansion':
      return { text: null, guess: texts.values.get(node.children[0]?.text ?? '') ?? 'x', isPattern: false }
    case 'expansion':
      return { text: null, guess: (node.children.length === 1 ? texts.values.get(node.children[0]?.text ?? '') : undefined) ?? 'x', isPattern: false }
    default:
      return { text: null, guess: 'x', isPattern: false }
  }
}

/** Null when a word is made of more than texts and plain variables. */
function variablesOf(node: ShellNode): readonly string[] | null {
  switch (node.type) {
    case 'simple_expansion':
    case 'expansion': {
      const [name] = node.children
      const isPlain = node.children.length === 1 && name?.type === 'variable_name'
      return isPlain ? [name.text] : null
    }
    case 'string':
    case 'concatenation': {
      const parts = node.children.map(variablesOf)
      return parts.some((part) => part === null) ? null : parts.flatMap((part) => part ?? [])
    }
    case 'word':
    case 'number':
    case 'raw_string':
    case 'string_content':
    case 'ansi_c_string':
      return []
    default:
      return null
  }
}

const unescaped = (text: string) => text.replace(/\\\n/g, '').replace(/\\([$`"\\])/g, '$1')

/** `X`, also of `X[1]`. */
const assignedName = (node: ShellNode) => /^[A-Za-z_]\w*/.exec(node.text)?.[0] ?? node.text
