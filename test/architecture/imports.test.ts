import { describe, expect, it } from 'vitest'
import { ambientProblems, importProblems } from './import-rules.ts'
import { importsOf, sourceFiles } from './source-files.ts'

describe('the house', () => {
  it('keeps every import inside the import table', () => {
    expect(sourceFiles('extension', 'webview').flatMap(importProblems)).toEqual([])
  })
  it('takes time, chance and the network from capabilities', () => {
    expect(sourceFiles('extension').flatMap(ambientProblems)).toEqual([])
  })
})

describe('the import table', () => {
  const check = (path: string, text: string, problems: readonly string[]) =>
    expect(importProblems({ path, text })).toEqual(problems.map((problem) => `${path}:1 imports ${problem}`))

  const allowed: readonly (readonly [string, string])[] = [
    ['extension/base/json.ts', "import type { Brand } from './brand.ts'"],
    ['extension/core/loop/turn.ts', "import { createLog } from '../log/log.ts'"],
    ['extension/core/loop/turn.ts', "import type { FileSystem } from '../../capabilities/file-system.ts'"],
    ['extension/features/goal/service.ts', "import type { TodoService } from '../todo/service.ts'"],
    ['extension/features/goal/service.ts', "import { goalState } from './state.ts'"],
    ['extension/tools/files/read.ts', "import { defineTool } from '../../core/tools/define-tool.ts'"],
    ['extension/tools/files/plugin.ts', "import type { Plugin } from '../../core/kernel/plugin.ts'"],
    ['extension/models/scripted/adapter.ts', "import { readFile } from 'node:fs/promises'"],
    ['extension/platform/vscode/editor.ts', "import * as vscode from 'vscode'"],
    ['extension/platform/vscode/view.ts', "import type { ViewFeed } from '../../host/view-feed.ts'"],
    ['extension/main.ts', "import { VscodeEditor } from './platform/vscode/editor.ts'"],
    ['extension/headless.ts', "import { NodeFileSystem } from './platform/node/file-system.ts'"],
    ['webview/main.tsx', "import { render } from 'preact'"],
    ['webview/store/store.ts', "import type { View } from '../../extension/protocol/view.ts'"],
  ]
  it.each(allowed)('%s may say %s', (path, text) => check(path, text, []))

  const forbidden: readonly (readonly [string, string, string])[] = [
    ['extension/base/json.ts', "import { x } from '../protocol/card.ts'", '../protocol/card.ts: base holds helpers without an opinion and imports nothing'],
    [
      'extension/core/loop/turn.ts',
      "import { NodeFileSystem } from '../../platform/node/file-system.ts'",
      '../../platform/node/file-system.ts: core knows the outside world only through capabilities: it may import base, protocol and capabilities',
    ],
    [
      'extension/core/loop/turn.ts',
      "import { readFile } from 'node:fs/promises'",
      "node:fs/promises: Node's own modules are behind capabilities, so that this runs under a fake in tests and in any host",
    ],
    [
      'extension/core/loop/turn.ts',
      "import type { Uri } from 'vscode'",
      'vscode: only extension/platform/vscode, extension/main.ts and extension/editor-root.ts may know the editor; ask for a capability instead',
    ],
    [
      'extension/features/goal/service.ts',
      "import { createTodo } from '../todo/service.ts'",
      '../todo/service.ts: features may import base to core, and of each other only types: a feature that calls another asks for its service',
    ],
    [
      'extension/tools/files/read.ts',
      "import { createLog } from '../../core/log/log.ts'",
      '../../core/log/log.ts: tools may import base to capabilities, of core only core/tools (and types of the rest), of features only types',
    ],
    [
      'extension/tools/todo/write.ts',
      "import { createTodo, type Todo } from '../../features/todo/service.ts'",
      '../../features/todo/service.ts: tools may import base to capabilities, of core only core/tools (and types of the rest), of features only types',
    ],
    [
      'extension/models/compatible/adapter.ts',
      "export { runLoop } from '../../core/loop/loop.ts'",
      '../../core/loop/loop.ts: a model adapter may import base, capabilities and core/model: the loop must not depend on who answers',
    ],
    [
      'extension/platform/vscode/view.ts',
      "import { createViewFeed } from '../../host/view-feed.ts'",
      '../../host/view-feed.ts: editor providers may import base, protocol, capabilities and types of host',
    ],
    [
      'extension/compose.ts',
      "import { VscodeEditor } from './platform/vscode/editor.ts'",
      "./platform/vscode/editor.ts: the composition must run without an editor; editor-root.ts hands the editor's providers in",
    ],
    [
      'webview/main.tsx',
      "const core = await import('../extension/core/log/log.ts')",
      '../extension/core/log/log.ts: the webview runs in a browser and gets everything by message: it may import extension/protocol and extension/base',
    ],
    ['extension/base/json.ts', "import { x } from './text'", './text: a relative import names its file with the extension'],
  ]
  it.each(forbidden)('%s may not say %s', (path, text, problem) => check(path, text, [problem]))
})

describe('ambient facts', () => {
  const check = (path: string, text: string, names: readonly string[]) =>
    expect(ambientProblems({ path, text })).toEqual(
      names.map((name) => `${path}:1 uses ${name}: time, chance and the network come from capabilities, so that tests decide them`),
    )

  it('are refused in the core', () => check('extension/core/loop/turn.ts', 'const at = Date.now(), day = new Date()', ['Date.now', 'new Date()']))
  it('are refused in tools', () => check('extension/tools/a.ts', 'setTimeout(f, 1); fetch(url)', ['setTimeout', 'fetch']))
  it('may come from a capability', () => check('extension/core/loop/turn.ts', 'clock.setTimeout(f, 1); http.fetch(url); new Date(at)', []))
  it('are what platforms are for', () => check('extension/platform/node/clock.ts', 'Date.now()', []))
})

describe('reading imports', () => {
  const check = (text: string, imports: ReturnType<typeof importsOf>) => expect(importsOf(text)).toEqual(imports)

  it('reads an import over several lines', () =>
    check("\nimport {\n  a,\n  type B,\n} from './a.ts'\n", [{ specifier: './a.ts', isTypeOnly: false, line: 2 }]))
  it('knows a type import by its keyword', () => check("import type { B } from './a.ts'", [{ specifier: './a.ts', isTypeOnly: true, line: 1 }]))
  it('knows a type import by its names', () =>
    check("import { type A, type B } from './a.ts'", [{ specifier: './a.ts', isTypeOnly: true, line: 1 }]))
  it('takes a side-effect import for a value', () => check("import './a.ts'", [{ specifier: './a.ts', isTypeOnly: false, line: 1 }]))
  it('reads re-exports', () => check("export * from './a.ts'", [{ specifier: './a.ts', isTypeOnly: false, line: 1 }]))
  it('leaves plain exports alone', () => check("export const a = 'from'\nexport type B = 'b'", []))
})
