import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contractText } from './contract-text.ts'
import { root } from './root.ts'
import { toolsText } from './tools-text.ts'

/* Write `docs/runtime-contract.md` and `docs/tools.md` from the code. Usage: `npm run contract`, after a change of an extension point, an event, an error code or what a tool takes and gives. */
await writeFile(join(root, 'docs/runtime-contract.md'), await contractText(root))
await writeFile(join(root, 'docs/tools.md'), await toolsText())
