import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { manifestParts, manifestTexts } from '../extension/host/manifest.ts'
import { localizedTexts } from './localized-texts.ts'
import { root } from './root.ts'

/*
 * Write the parts of `package.json` that follow from the code (commands, views, settings), `package.nls.json`
 * and the texts to translate.
 *
 * Usage: `npm run manifest`, after a change of `extension/host/manifest.ts` or of a setting.
 */
const path = join(root, 'package.json')
const manifest = JSON.parse(await readFile(path, 'utf8')) as object
await writeFile(path, `${JSON.stringify({ ...manifest, ...manifestParts() }, null, 2)}\n`)
await writeFile(join(root, 'package.nls.json'), `${JSON.stringify(manifestTexts(), null, 2)}\n`)
await writeFile(join(root, 'l10n', 'bundle.l10n.json'), `${JSON.stringify(await localizedTexts(root), null, 2)}\n`)
