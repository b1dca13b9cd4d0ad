import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createVSIX } from '@vscode/vsce'
import { build } from 'esbuild'
import { root } from './root.ts'

/** The id of the extension that uses Bosun's API in tests. */
export const sampleId = 'acme.sample'

/** Build the extension of `test/fixtures/<name>` into `folder`, as an editor loads it. */
export async function buildFixtureExtension(name: FixtureExtension, folder: string): Promise<void> {
  const source = join(root, 'test/fixtures', name)
  await mkdir(folder, { recursive: true })
  await copyFile(join(source, 'package.json'), join(folder, 'package.json'))
  await build({ absWorkingDir: root, entryPoints: [join(source, `${name}.ts`)], bundle: true, platform: 'node', target: 'node22', format: 'cjs', external: ['vscode'], logLevel: 'warning', outfile: join(folder, 'extension.cjs') })
}

/** Build and pack it below `folder`. Gives the path of the package. */
export async function packFixtureExtension(name: FixtureExtension, folder: string): Promise<string> {
  const stage = join(folder, name)
  await buildFixtureExtension(name, stage)
  await writeFile(join(stage, 'LICENSE'), 'MIT\n')
  await writeFile(join(stage, '.vscodeignore'), '*.map\n')
  const packagePath = join(folder, `${name}.vsix`)
  await createVSIX({ cwd: stage, packagePath, dependencies: false, allowMissingRepository: true })
  return packagePath
}

/** `sample-extension` uses Bosun's API, `chat-model` gives the editor's own chat a model. */
export type FixtureExtension = 'sample-extension' | 'chat-model'
