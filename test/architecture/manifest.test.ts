import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commandSpecs } from '../../extension/host/command-specs.ts'
import { manifestParts, manifestTexts } from '../../extension/host/manifest.ts'
import { languageModelTools, offeredTools } from '../../extension/host/offered-tools.ts'
import { localizedTexts } from '../../scripts/localized-texts.ts'
import { toolDefinitions } from '../../scripts/offered-definitions.ts'
import { root } from '../../scripts/root.ts'

const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8')) as Record<string, unknown>

describe('the manifest', () => {
  it('says what the code says; `npm run manifest` writes it', async () => {
    const definitions = await toolDefinitions()
    const parts = manifestParts(languageModelTools((tool) => definitions.get(tool)))
    const manifest = read('package.json')
    expect(Object.fromEntries(Object.keys(parts).map((key) => [key, manifest[key]]))).toEqual(parts)
    expect(read('package.nls.json')).toEqual(manifestTexts())
  })

  it('names every text of the host for translators', async () => {
    expect(read('l10n/bundle.l10n.json')).toEqual(await localizedTexts(root))
  })

  it('has a text for every key that it names', () => {
    const keys = [...JSON.stringify(read('package.json')).matchAll(/"%([^%]+)%"/g)].map(([, key]) => key)
    expect(keys.filter((key) => key === undefined || manifestTexts()[key] === undefined)).toEqual([])
  })

  it('names icons that are there', () => {
    const codicons = readFileSync(join(root, 'node_modules/@vscode/codicons/dist/codicon.css'), 'utf8')
    expect([...commandSpecs, ...offeredTools].flatMap(({ icon }) => (icon === undefined || codicons.includes(`.codicon-${icon}:before`) ? [] : [icon]))).toEqual([])
    expect(['media/bosun.svg', 'media/bosun.png'].filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})
