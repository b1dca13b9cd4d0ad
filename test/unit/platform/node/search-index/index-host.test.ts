import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSearchIndexHost } from '../../../../../extension/platform/node/search-index/index-host.ts'
import { databaseName } from '../../../../../extension/platform/node/search-index/sqlite-index.ts'
import { createRecordingLogger } from '../../../../support/quiet-logger.ts'

const entry = new URL('../../../../../extension/platform/node/search-index/index-main.ts', import.meta.url)

it.each<[string, string, (folder: string) => Promise<void>, readonly string[]]>([
  ['is kept in SQLite', 'sqlite', async () => {}, []],
  ['is kept in memory where the file is not ours, which is said', 'memory', (folder) => writeFile(join(folder, databaseName), 'notes'), ['FOREIGN_DATABASE']],
])('the index %s', async (_, engine, prepare, codes) => {
  const folder = await mkdtemp(join(tmpdir(), 'bosun-index-host-'))
  try {
    await prepare(folder)
    const logger = createRecordingLogger()
    const index = await createSearchIndexHost({ entry, folder, isKeptUp: false, logger }).open()
    expect([index.engine, logger.lines.map(({ facts }) => facts?.['code'])]).toEqual([engine, codes])
    await index.close()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
