import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { contractText } from './contract-text.ts'
import { root } from './root.ts'

/* Write `docs/runtime-contract.md` from the code. Usage: `npm run contract`, after a change of an extension point, an event or an error code. */
await writeFile(join(root, 'docs/runtime-contract.md'), await contractText(root))
