import { existsSync } from 'node:fs'
import { cp, lstat, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { createVSIX } from '@vscode/vsce'
import { run } from './child-process.ts'
import { root } from './root.ts'

/*
 * Pack `dist/bosun-<version>[-<target>].vsix`.
 *
 * Usage: `npm run package [-- --target TARGET|all] [--no-build]`. Without a target the package carries the native
 * libraries of this machine; elsewhere it searches with the editor's ripgrep and has no terminals of its own. With
 * one it carries that target's, which npm fetches.
 */
const targets = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64', 'win32-arm64']

/** What stays outside the bundles, and which of its files run. */
const packages: readonly { readonly name: string; readonly files?: RegExp; readonly isPerTarget?: boolean }[] = [
  { name: '@lydell/node-pty', files: /\.js$|package\.json$|LICENSE/, isPerTarget: true },
  { name: '@vscode/ripgrep', files: /\.js$|package\.json$|LICENSE/, isPerTarget: true },
  { name: 'web-tree-sitter', files: /^(package\.json|LICENSE|web-tree-sitter\.(js|cjs|wasm))$/ },
  { name: '@silvia-odwyer/photon-node', files: /^(package\.json|LICENSE\.md|photon_rs\.js|photon_rs_bg\.wasm)$/ },
  { name: 'tree-sitter-bash', files: /^(package\.json|LICENSE|tree-sitter-bash\.wasm)$/ },
]

const { values } = parseArgs({ options: { target: { type: 'string' }, 'no-build': { type: 'boolean', default: false } } })
const { target } = values
if (target !== undefined && target !== 'all' && !targets.includes(target)) {
  console.error(`Unknown target ${target}. Choose ${targets.join(', ')} or all.`)
  process.exit(2)
}

if (!values['no-build']) await run(process.execPath, [join(root, 'scripts/build.ts')], { output: 'show' })
const scratch = await mkdtemp(join(tmpdir(), 'bosun-package-'))
try {
  for (const each of target === 'all' ? targets : [target]) console.log(await pack(each))
} finally {
  await rm(scratch, { recursive: true, force: true })
}

async function pack(target: string | undefined): Promise<string> {
  const stage = join(scratch, target ?? 'here')
  await mkdir(stage, { recursive: true })
  for (const name of ['media', 'l10n', 'package.json', 'package.nls.json', 'README.md', 'bosun.d.ts', 'CHANGELOG.md', 'LICENSE', '.vscodeignore']) {
    // The list of English texts is for translators: the editor looks texts up in those of other languages alone.
    if (existsSync(join(root, name))) await cp(join(root, name), join(stage, name), { recursive: true, filter: (path) => !path.endsWith('bundle.l10n.json') })
  }
  await writeFile(join(stage, 'package.json'), JSON.stringify(JSON.parse(await readFile(join(stage, 'package.json'), 'utf8'))))
  // What only the headless program loads stays out.
  await cp(join(root, 'dist'), join(stage, 'dist'), { recursive: true, filter: (path) => !/\.vsix$|headless(-program)?\.js$|language-protocol\.cjs$/.test(path) })
  for (const { name, files, isPerTarget } of packages) {
    await copyPackage(join(root, 'node_modules', name), stage, name, files)
    if (isPerTarget === true) {
      const native = `${name}-${target ?? `${process.platform}-${process.arch}`}`
      await copyPackage(await nativePackage(name, native), stage, native)
    }
  }
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const packagePath = join(root, 'dist', `bosun-${version}${target === undefined ? '' : `-${target}`}.vsix`)
  await createVSIX({
    cwd: stage,
    packagePath,
    dependencies: false,
    allowMissingRepository: true,
    rewriteRelativeLinks: false,
    ...(target === undefined ? {} : { target }),
  })
  return relative(root, packagePath)
}

async function copyPackage(from: string, stage: string, name: string, files = /./): Promise<void> {
  await cp(from, join(stage, 'dist/node_modules', name), {
    recursive: true,
    dereference: true,
    filter: async (path) => (await lstat(path)).isDirectory() || files.test(relative(from, path).replaceAll('\\', '/')),
  })
}

/** The folder of a native package: the installed one, else one that npm fetches for another machine. */
async function nativePackage(name: string, native: string): Promise<string> {
  const installed = join(root, 'node_modules', native)
  if (existsSync(installed)) return installed
  const fetched = join(scratch, 'fetched', native)
  await mkdir(fetched, { recursive: true })
  const { version } = createRequire(import.meta.url)(join(root, 'node_modules', name, 'package.json')) as { version: string }
  await run('npm', ['pack', `${native}@${version}`, '--pack-destination', dirname(fetched), '--loglevel=error'])
  const archive = join(dirname(fetched), `${native.replace('@', '').replace('/', '-')}-${version}.tgz`)
  await run('tar', ['-xzf', archive, '-C', fetched, '--strip-components=1'])
  return fetched
}
