import { build } from 'esbuild'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export const headlessBundle = join(root, 'out/headless-test/headless.js')

/** Bundles the headless root once for the suites that start it as a program. */
export async function setup(): Promise<void> {
  await build({
    entryPoints: [join(root, 'extension/headless.ts')],
    outfile: headlessBundle,
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    external: ['vscode', '@lydell/node-pty', '@vscode/ripgrep', 'web-tree-sitter', 'tree-sitter-bash'],
    banner: { js: "import{createRequire as bundleRequire}from'node:module';const require=bundleRequire(import.meta.url);" },
    logLevel: 'error',
  })
}
