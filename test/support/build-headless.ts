import { build, type BuildOptions } from 'esbuild'
import { cp } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export const headlessBundle = join(root, 'out/headless-test/headless.js')

const shared: BuildOptions = {
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  external: ['vscode', '@lydell/node-pty', '@vscode/ripgrep', 'web-tree-sitter', 'tree-sitter-bash', '@silvia-odwyer/photon-node'],
  banner: { js: "import{createRequire as bundleRequire}from'node:module';const require=bundleRequire(import.meta.url);" },
  logLevel: 'error',
}

/** Bundles the headless root, and what it starts beside itself, once for the suites that start it as a program. */
export async function setup(): Promise<void> {
  await Promise.all([
    build({ ...shared, entryPoints: [join(root, 'extension/headless-start.ts')], outfile: headlessBundle }),
    build({ ...shared, entryPoints: [join(root, 'extension/headless.ts')], outfile: join(dirname(headlessBundle), 'headless-program.js') }),
    build({ ...shared, entryPoints: [join(root, 'extension/platform/node/keeper-main.ts')], outfile: join(dirname(headlessBundle), 'keeper.js') }),
    build({ ...shared, entryPoints: [join(root, 'extension/platform/node/page-text-main.ts')], outfile: join(dirname(headlessBundle), 'page-text.js') }),
    build({ ...shared, entryPoints: [join(root, 'extension/platform/node/pdf-text-main.ts')], outfile: join(dirname(headlessBundle), 'pdf-text.js') }),
    build({ ...shared, entryPoints: [join(root, 'extension/platform/node/quickjs/isolate-main.ts')], outfile: join(dirname(headlessBundle), 'quickjs.js') }),
    cp(join(root, 'node_modules/@jitl/quickjs-wasmfile-release-sync/dist/emscripten-module.wasm'), join(dirname(headlessBundle), 'quickjs.wasm')),
    build({ ...shared, entryPoints: [join(root, 'extension/platform/node/scale-picture-main.ts')], outfile: join(dirname(headlessBundle), 'scale-picture.js') }),
  ])
}
