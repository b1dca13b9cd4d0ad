import { existsSync } from 'node:fs'
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, context, type BuildOptions, type Metafile, type Plugin } from 'esbuild'
import { root } from './root.ts'

/*
 * Bundle the product into `dist/`.
 *
 * Usage: `node scripts/build.ts [--watch] [--dev]`; `--dev` leaves the code readable and adds source maps.
 * Sizes go to stderr, the metafiles to `out/build-meta.json`.
 */
const isWatch = process.argv.includes('--watch')
const isDev = isWatch || process.argv.includes('--dev')
const dist = join(root, 'dist')

const shared = {
  absWorkingDir: root,
  bundle: true,
  metafile: true,
  minify: !isDev,
  keepNames: true,
  sourcemap: isDev ? 'linked' : false,
  legalComments: 'none',
  logLevel: 'warning',
  define: { 'process.env.NODE_ENV': JSON.stringify(isDev ? 'development' : 'production') },
} satisfies BuildOptions

// Packages with native code or data files beside their code stay in node_modules, and are packaged as they are.
const external = ['vscode', '@lydell/node-pty', '@vscode/ripgrep', 'web-tree-sitter', 'tree-sitter-bash', '@silvia-odwyer/photon-node']

const node: BuildOptions = { platform: 'node', target: 'node22', external }

// A CommonJS dependency inside an ES module bundle asks for a `require` that such a module has not got by itself.
const esModule: BuildOptions = {
  ...node,
  format: 'esm',
  banner: { js: "import{createRequire as bundleRequire}from'node:module';const require=bundleRequire(import.meta.url);" },
}

type Bundle = { readonly name: string; readonly entry: string; readonly options: BuildOptions }

const commonJs: BuildOptions = {
  ...node,
  format: 'cjs',
  // Sources find files beside them by `import.meta.url`, which a CommonJS bundle has not got.
  define: { ...shared.define, 'import.meta.url': 'bundleUrl' },
  banner: { js: "const bundleUrl=require('node:url').pathToFileURL(__filename).href;" },
}

/** `main.ts` loads the rest of the editor's root on first use, from a bundle of its own. */
const laterBundle: Plugin = {
  name: 'later-bundle',
  setup({ onResolve }) {
    onResolve({ filter: /\/editor-root\.ts$/ }, ({ kind }) => (kind === 'dynamic-import' ? { path: './editor-root.cjs', external: true } : null))
    // What the first other extension that asks for the API needs.
    onResolve({ filter: /\/contribution-list\.ts$/ }, ({ kind }) => (kind === 'dynamic-import' ? { path: './extension-api.cjs', external: true } : null))
  },
}

const laterFiles: Readonly<Record<string, string>> = {
  undici: './undici.cjs',
  '@xterm/headless': './xterm.cjs',
  'vscode-languageclient/node': './language-client.cjs',
  'vscode-languageserver-protocol/node': './language-protocol.cjs',
}

/** A large package that few sessions need is a file of its own, loaded with the first use, so that a start does not read it. */
const laterPackages: Plugin = {
  name: 'later-packages',
  setup({ onResolve }) {
    onResolve({ filter: new RegExp(`^(${Object.keys(laterFiles).join('|')})$`) }, ({ kind, path }) => (kind === 'dynamic-import' ? { path: laterFiles[path] ?? path, external: true } : null))
    // A file of ours that stands over several such packages.
    onResolve({ filter: /\/calendar-engine\.ts$/ }, ({ kind }) => (kind === 'dynamic-import' ? { path: './calendar.cjs', external: true } : null))
    onResolve({ filter: /\/sdk-client\.ts$/ }, ({ kind }) => (kind === 'dynamic-import' ? { path: './mcp.cjs', external: true } : null))
  },
}

/** The protocol's library brings a validator for schemas, whose work Bosun's own pipeline does. */
const noSchemaValidator: Plugin = {
  name: 'no-schema-validator',
  setup: ({ onResolve }) => onResolve({ filter: /\/ajv-provider\.js$/ }, () => ({ path: join(root, 'scripts/no-schema-validator.ts') })),
}

/** What a page is read with knows a document already, so that no second parser comes along. */
const pageTextAliases = { '@mixmark-io/domino': join(root, 'scripts/no-second-parser.ts') }

const bundles: readonly Bundle[] = [
  { name: 'extension', entry: 'extension/main.ts', options: { ...commonJs, outfile: 'dist/extension.cjs', plugins: [laterBundle] } },
  { name: 'editor-root', entry: 'extension/editor-root.ts', options: { ...commonJs, outfile: 'dist/editor-root.cjs', plugins: [laterPackages] } },
  { name: 'extension-api', entry: 'extension/features/extensions/contribution-list.ts', options: { ...commonJs, outfile: 'dist/extension-api.cjs' } },
  { name: 'headless', entry: 'extension/headless-start.ts', options: { ...esModule, outfile: 'dist/headless.js' } },
  { name: 'headless-program', entry: 'extension/headless.ts', options: { ...esModule, outfile: 'dist/headless-program.js', plugins: [laterPackages] } },
  { name: 'undici', entry: 'scripts/later-undici.ts', options: { ...commonJs, outfile: 'dist/undici.cjs', keepNames: false } },
  { name: 'xterm', entry: 'scripts/later-xterm.ts', options: { ...commonJs, outfile: 'dist/xterm.cjs', keepNames: false } },
  { name: 'calendar', entry: 'scripts/later-calendar.ts', options: { ...commonJs, outfile: 'dist/calendar.cjs', keepNames: false } },
  { name: 'mcp', entry: 'extension/platform/node/mcp/sdk-client.ts', options: { ...commonJs, outfile: 'dist/mcp.cjs', plugins: [noSchemaValidator] } },
  { name: 'language-client', entry: 'scripts/later-language-client.ts', options: { ...commonJs, outfile: 'dist/language-client.cjs', keepNames: false } },
  { name: 'language-protocol', entry: 'scripts/later-language-protocol.ts', options: { ...commonJs, outfile: 'dist/language-protocol.cjs' } },
  { name: 'keeper', entry: 'extension/platform/node/keeper-main.ts', options: { ...esModule, outfile: 'dist/keeper.js' } },
  { name: 'page-text', entry: 'extension/platform/node/page-text-main.ts', options: { ...esModule, outfile: 'dist/page-text.js', alias: pageTextAliases, keepNames: false } },
  { name: 'pdf-text', entry: 'extension/platform/node/pdf-text-main.ts', options: { ...esModule, outfile: 'dist/pdf-text.js', keepNames: false } },
  { name: 'quickjs', entry: 'extension/platform/node/quickjs/isolate-main.ts', options: { ...esModule, outfile: 'dist/quickjs.js', keepNames: false } },
  { name: 'search-index', entry: 'extension/platform/node/search-index/index-main.ts', options: { ...esModule, outfile: 'dist/search-index.js' } },
  { name: 'scale-picture', entry: 'extension/platform/node/scale-picture-main.ts', options: { ...esModule, outfile: 'dist/scale-picture.js' } },
  {
    name: 'webview',
    entry: 'webview/main.tsx',
    options: {
      platform: 'browser',
      target: 'es2023',
      format: 'esm',
      splitting: true,
      // Nothing in the page asks for the name of a function, and the names are 12 KB.
      keepNames: false,
      outdir: 'dist',
      entryNames: 'webview',
      chunkNames: 'webview-[name]-[hash]',
      assetNames: '[name]',
      loader: { '.ttf': 'file', '.svg': 'dataurl' },
      jsx: 'automatic',
      jsxImportSource: 'preact',
    },
  },
]

await rm(dist, { recursive: true, force: true })
await mkdir(dist, { recursive: true })
// `dist/*.js` are ES modules wherever the folder ends up.
await writeFile(join(dist, 'package.json'), '{ "type": "module" }\n')
// The webview loads these by name.
for (const name of ['codicon.css', 'codicon.ttf']) await copyFile(join(root, 'node_modules/@vscode/codicons/dist', name), join(dist, name))

// Read when the first program runs.
await copyFile(join(root, 'node_modules/@jitl/quickjs-wasmfile-release-sync/dist/emscripten-module.wasm'), join(dist, 'quickjs.wasm'))

const present = bundles.filter((bundle) => existsSync(join(root, bundle.entry)))
for (const bundle of bundles) {
  if (!present.includes(bundle)) console.error(`skipped ${bundle.name}: ${bundle.entry} does not exist`)
}

if (isWatch) {
  await Promise.all(
    present.map(async ({ options, entry }) => (await context({ ...shared, ...options, entryPoints: [entry] })).watch()),
  )
  console.error('watching')
} else {
  const metafiles = await Promise.all(present.map(bundleOnce))
  await mkdir(join(root, 'out'), { recursive: true })
  await writeFile(join(root, 'out', 'build-meta.json'), JSON.stringify(Object.fromEntries(metafiles)))
}

async function bundleOnce({ name, options, entry }: Bundle): Promise<[string, Metafile]> {
  const { metafile } = await build({ ...shared, ...options, metafile: true, entryPoints: [entry] })
  const outputs = Object.entries(metafile.outputs).filter(([path]) => !path.endsWith('.map'))
  const isLoadedLater = (path: string) => path.startsWith(`dist/${name}-`)
  for (const [path, { bytes }] of outputs) if (!isLoadedLater(path)) console.error(sizeLine(path, bytes))
  const later = outputs.filter(([path]) => isLoadedLater(path))
  const laterBytes = later.reduce((sum, [, { bytes }]) => sum + bytes, 0)
  if (later.length > 0) console.error(sizeLine(`  ${later.length} parts loaded when needed`, laterBytes))
  return [name, metafile]
}

function sizeLine(what: string, bytes: number): string {
  return `${what.padEnd(34)} ${(bytes / 1024).toFixed(1).padStart(9)} KB`
}
