import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestParts, manifestTexts } from '../extension/host/manifest.ts'
import { languageModelTools } from '../extension/host/offered-tools.ts'
import { localizedTexts } from './localized-texts.ts'
import { toolDefinitions } from './offered-definitions.ts'
import { root } from './root.ts'

/*
 * Write the parts of `package.json` that follow from the code (commands, views, settings), `package.nls.json`
 * and the texts to translate.
 *
 * Usage: `npm run manifest`, after a change of `extension/host/manifest.ts`, of a setting, or of a tool that the editor's chat is offered.
 */
const path = join(root, 'package.json')
const definitions = await toolDefinitions()
const manifest = JSON.parse(await readFile(path, 'utf8')) as object
await writeFile(path, `${JSON.stringify({ ...manifest, ...manifestParts(languageModelTools((tool) => definitions.get(tool))) }, null, 2)}\n`)
await writeFile(join(root, 'package.nls.json'), `${JSON.stringify(manifestTexts(), null, 2)}\n`)
await writeFile(join(root, 'l10n', 'bundle.l10n.json'), `${JSON.stringify(await localizedTexts(root), null, 2)}\n`)
