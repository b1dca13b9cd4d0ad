import { becomeScript, ensureInstalled } from './bootstrap.mjs'

/* `npm start` on a fresh clone: installs what is missing, then opens an editor with the installed Node. */
await ensureInstalled()
await becomeScript('scripts/start.ts', process.argv.slice(2))
