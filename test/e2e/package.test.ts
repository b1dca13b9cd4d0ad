import assert from 'node:assert/strict'
import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const [name] = readdirSync(process.env['BOSUN_TEST_EXTENSIONS']!).filter((entry) => entry.startsWith('bosun.'))
const folder = join(process.env['BOSUN_TEST_EXTENSIONS']!, name!)
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))

test('the package holds nothing but what runs', () => {
  const foreign = files.filter((file) => /\.(tsx?|map|md)$|\btest\b|headless|language-protocol/.test(file) && !/(readme|changelog|license)\.md$/i.test(file) && !file.endsWith('.d.ts'))
  assert.deepEqual(foreign, [])
})

test('the package holds the licence and what its programs need', () => {
  const native = `${process.platform}-${process.arch}`
  for (const path of [
    'LICENSE.txt',
    'bosun.d.ts',
    'dist/extension-api.cjs',
    'package.json',
    'dist/codicon.ttf',
    'dist/editor-root.cjs',
    'dist/extension.cjs',
    'dist/keeper.js',
    'dist/quickjs.js',
    'dist/quickjs.wasm',
    'dist/webview.css',
    'dist/webview.js',
    `dist/node_modules/@lydell/node-pty-${native}`,
    `dist/node_modules/@vscode/ripgrep-${native}`,
    'dist/node_modules/tree-sitter-bash/tree-sitter-bash.wasm',
    'dist/node_modules/web-tree-sitter/web-tree-sitter.wasm',
  ]) {
    assert.ok(statSync(join(folder, path), { throwIfNoEntry: false }), `${path} is missing`)
  }
})

test('ripgrep is executable after the editor has installed the package', { skip: process.platform === 'win32' }, () => {
  accessSync(join(folder, `dist/node_modules/@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`), constants.X_OK)
})

// Of these 1.6 MB read PDFs, 0.8 the web, 0.6 run programs of a model, 0.5 speak to language servers and 0.3 know calendars, each loaded with its first use.
test('the package stays under 8 MB unpacked, natives aside', () => {
  const bytes = files.filter((file) => !file.includes('node_modules')).reduce((sum, file) => sum + statSync(file).size, 0)
  assert.ok(bytes < 8_000_000, `${bytes} bytes`)
})
