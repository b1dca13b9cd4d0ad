import { becomeScript, ensureInstalled } from './bootstrap.mjs'

/* `npm test` on a fresh clone: installs what is missing, then runs everything with the installed Node. */
await ensureInstalled()
await becomeScript('scripts/test-all.ts', process.argv.slice(2))
