import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createFileSecrets } from '../../../../extension/platform/node/secrets.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

let folder: string
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'secrets-')), 'deep')
})
afterEach(() => rm(join(folder, '..'), { recursive: true }))

const create = (environment: Record<string, string> = {}) => {
  const logger = createRecordingLogger()
  return { secrets: createFileSecrets({ folder, logger, environment }), logger }
}

it('keeps a secret for the next start, readable by its owner alone, without leaving other files', async () => {
  await create().secrets.set('A_KEY', 'x')
  expect(await create().secrets.get('A_KEY')).toEqual({ value: 'x', source: 'store' })
  expect([(await stat(join(folder, 'secrets.json'))).mode & 0o777, (await stat(folder)).mode & 0o777, await readdir(folder)]).toEqual([0o600, 0o700, ['secrets.json']])
})

it('an unknown secret is null', async () => expect(await create().secrets.get('A_KEY')).toBeNull())

it('the environment wins and cannot be set', async () => {
  await create().secrets.set('A_KEY', 'stored')
  const { secrets } = create({ A_KEY: 'given', EMPTY: '' })
  expect(await secrets.get('A_KEY')).toEqual({ value: 'given', source: 'environment' })
  await expect(secrets.set('A_KEY', 'x')).rejects.toThrow('given by the environment')
  expect(await secrets.get('EMPTY')).toBeNull()
})

it('deletes', async () => {
  const { secrets } = create()
  await secrets.set('A', '1')
  await secrets.set('B', '2')
  await secrets.delete('A')
  expect(await Promise.all(['A', 'B'].map((name) => secrets.get(name)))).toEqual([null, { value: '2', source: 'store' }])
})

it('changes at the same time all arrive', async () => {
  const { secrets } = create()
  await Promise.all(['A', 'B', 'C'].map((name) => secrets.set(name, name)))
  expect(JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8'))).toEqual({ A: 'A', B: 'B', C: 'C' })
})

it('tells listeners, until they leave', async () => {
  const { secrets } = create()
  const heard: string[] = []
  const leave = secrets.onDidChange((name) => void heard.push(name))
  await secrets.set('A', '1')
  leave()
  await secrets.set('A', '2')
  expect(heard).toEqual(['A'])
})

it('a damaged store gives nothing, is reported without its text, and is not written over', async () => {
  await create().secrets.set('A', '1')
  await writeFile(join(folder, 'secrets.json'), '{"A": "hidden"')
  const { secrets, logger } = create()
  expect(await secrets.get('A')).toBeNull()
  await expect(secrets.set('B', '2')).rejects.toThrow(/does not hold a JSON object/)
  expect(await readFile(join(folder, 'secrets.json'), 'utf8')).toBe('{"A": "hidden"')
  expect(logger.lines).toHaveLength(1)
  expect(JSON.stringify(logger.lines)).not.toContain('hidden')
})
