import type { LanguageFn } from 'highlight.js'

type Grammar = () => Promise<{ readonly default: LanguageFn }>

/** Grammars by name, each a file of its own that is loaded when the first such code is shown. */
const grammars: Readonly<Record<string, Grammar>> = {
  bash: () => import('highlight.js/lib/languages/bash'),
  c: () => import('highlight.js/lib/languages/c'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  dart: () => import('highlight.js/lib/languages/dart'),
  diff: () => import('highlight.js/lib/languages/diff'),
  dockerfile: () => import('highlight.js/lib/languages/dockerfile'),
  elixir: () => import('highlight.js/lib/languages/elixir'),
  go: () => import('highlight.js/lib/languages/go'),
  graphql: () => import('highlight.js/lib/languages/graphql'),
  haskell: () => import('highlight.js/lib/languages/haskell'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  javascript: () => import('highlight.js/lib/languages/javascript'),
  json: () => import('highlight.js/lib/languages/json'),
  julia: () => import('highlight.js/lib/languages/julia'),
  kotlin: () => import('highlight.js/lib/languages/kotlin'),
  less: () => import('highlight.js/lib/languages/less'),
  lua: () => import('highlight.js/lib/languages/lua'),
  makefile: () => import('highlight.js/lib/languages/makefile'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  objectivec: () => import('highlight.js/lib/languages/objectivec'),
  perl: () => import('highlight.js/lib/languages/perl'),
  php: () => import('highlight.js/lib/languages/php'),
  powershell: () => import('highlight.js/lib/languages/powershell'),
  protobuf: () => import('highlight.js/lib/languages/protobuf'),
  python: () => import('highlight.js/lib/languages/python'),
  r: () => import('highlight.js/lib/languages/r'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  scala: () => import('highlight.js/lib/languages/scala'),
  scss: () => import('highlight.js/lib/languages/scss'),
  sql: () => import('highlight.js/lib/languages/sql'),
  swift: () => import('highlight.js/lib/languages/swift'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
}

/** Other names of the same languages: fence words, language ids of the editor, file endings. */
const aliases: Readonly<Record<string, string>> = {
  cc: 'cpp',
  'c++': 'cpp',
  cjs: 'javascript',
  console: 'bash',
  cs: 'csharp',
  cts: 'typescript',
  docker: 'dockerfile',
  ex: 'elixir',
  exs: 'elixir',
  gql: 'graphql',
  h: 'c',
  hpp: 'cpp',
  hs: 'haskell',
  htm: 'xml',
  html: 'xml',
  javascriptreact: 'javascript',
  jl: 'julia',
  js: 'javascript',
  json5: 'json',
  jsonc: 'json',
  jsonl: 'json',
  jsx: 'javascript',
  kt: 'kotlin',
  make: 'makefile',
  md: 'markdown',
  mjs: 'javascript',
  mts: 'typescript',
  patch: 'diff',
  pl: 'perl',
  proto: 'protobuf',
  ps1: 'powershell',
  pwsh: 'powershell',
  py: 'python',
  rb: 'ruby',
  rs: 'rust',
  sh: 'bash',
  shell: 'bash',
  shellscript: 'bash',
  svg: 'xml',
  toml: 'ini',
  ts: 'typescript',
  tsx: 'typescript',
  typescriptreact: 'typescript',
  vue: 'xml',
  yml: 'yaml',
  zsh: 'bash',
}

/** Longer code stays plain: colouring it takes longer than a frame. */
const MAX_HIGHLIGHTED_CHARS = 40_000

/** The grammar for a language name, or undefined when there is none. */
const grammarFor = (language: string): string | undefined => {
  const name = aliases[language] ?? language
  return Object.hasOwn(grammars, name) ? name : undefined
}

/** Colours code, and remembers what it coloured last, so that a row drawn again looks the same at once. */
export interface Highlighter {
  /** HTML if it is known already. */
  known(text: string, language: string): string | undefined
  /**
   * HTML of coloured code, or null when it stays plain: unknown language, too long, or its grammar could not be loaded.
   *
   * The library escapes all text; its only tags are `span` with a class.
   */
  highlight(text: string, language: string): Promise<string | null>
}

const MAX_REMEMBERED = 300

export function createHighlighter(): Highlighter {
  const remembered = new Map<string, string>()
  const keyOf = (text: string, name: string) => `${name}\n${text}`
  return {
    known: (text, language) => remembered.get(keyOf(text, grammarFor(language) ?? '')),
    highlight: async (text, language) => {
      const name = grammarFor(language)
      if (name === undefined || text.length > MAX_HIGHLIGHTED_CHARS) return null
      try {
        const { default: engine } = await import('highlight.js/lib/core')
        if (engine.getLanguage(name) === undefined) engine.registerLanguage(name, (await grammars[name]!()).default)
        const html = engine.highlight(text, { language: name, ignoreIllegals: true }).value
        remembered.set(keyOf(text, name), html)
        if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!)
        return html
      } catch {
        // Colour is a nicety: code that could not get it is shown plain.
        return null
      }
    },
  }
}
