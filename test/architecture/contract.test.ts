import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { contractText } from '../../scripts/contract-text.ts'
import { root } from '../../scripts/root.ts'
import { toolsText } from '../../scripts/tools-text.ts'

it('the document of the runtime contract says what the code says; `npm run contract` writes it', async () =>
  expect(readFileSync(join(root, 'docs/runtime-contract.md'), 'utf8')).toBe(await contractText(root)))

it('the document of the tools says what the tools say; `npm run contract` writes it', async () =>
  expect(readFileSync(join(root, 'docs/tools.md'), 'utf8')).toBe(await toolsText()))
