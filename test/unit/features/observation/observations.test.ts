import { describe, expect, it } from 'vitest'
import type { FileKey, FileStat, FileTarget, FileVersion } from '../../../../extension/capabilities/file-system.ts'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import { createObservations } from '../../../../extension/features/observation/observations.ts'
import { observationPlugin } from '../../../../extension/features/observation/plugin.ts'
import { createFakeAgent } from '../../../support/fake-agent.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'
import type { HarnessError } from '../../../../extension/base/harness-error.ts'

const target = (path: string, over: Partial<FileTarget> = {}): FileTarget => ({ key: path.toLowerCase() as FileKey, path, spelling: path, isDanglingLink: false, exists: true, ...over })
const missing = (path: string) => target(path, { exists: false })
const stat: FileStat = { kind: 'file', size: 1, modifiedAt: 0, isReadonly: false }
const at = (version: string) => ({ version: version as FileVersion })

const setUp = () => {
  const logger = createRecordingLogger()
  const told: unknown[] = []
  return { logger, told, observations: createObservations({ logger, onObserved: ({ target: { path }, version }) => told.push([path, version]) }) }
}
const codeOf = (act: () => unknown) => {
  try {
    return act()
  } catch (error) {
    return (error as HarnessError).code
  }
}

describe('what a write may rely on', () => {
  const { observations } = setUp()
  const agent = createFakeAgent()
  observations.observe(agent, target('/seen'), at('v1'))
  observations.observe(agent, missing('/absent'), 'absent')
  const check = (path: string, fileStat: FileStat | null, intent: unknown, who: typeof agent | undefined = agent) =>
    expect(codeOf(() => observations.writeIntent(who, target(path), fileStat))).toEqual(intent)

  it('creates an unseen file only if absent', () => check('/new', null, { kind: 'absent' }))
  it('refuses an unseen file that exists', () => check('/old', stat, 'FS_NOT_OBSERVED'))
  it('replaces a seen file at its version', () => check('/seen', stat, { kind: 'version', version: 'v1' }))
  it('calls a seen file that is gone stale', () => check('/seen', null, 'FS_STALE_VERSION'))
  it('creates after a read that found nothing', () => check('/absent', null, { kind: 'absent' }))
  it('refuses a file that appeared since it was seen absent', () => check('/absent', stat, 'FS_NOT_OBSERVED'))
  it('knows a file by its key, not its spelling', () => check('/SEEN', stat, { kind: 'version', version: 'v1' }))
  it('lets a call without an agent create only', () => {
    expect(observations.writeIntent(undefined, missing('/new'), null)).toEqual({ kind: 'absent' })
    expect(codeOf(() => observations.writeIntent(undefined, target('/seen'), stat))).toBe('FS_NOT_OBSERVED')
  })
  it('keeps sessions apart', () => check('/seen', stat, 'FS_NOT_OBSERVED', createFakeAgent({ id: 'other' })))
})

describe('what an edit may rely on', () => {
  const { observations } = setUp()
  const agent = createFakeAgent()
  observations.observe(agent, target('/seen'), at('v1'))
  observations.observe(agent, missing('/absent'), 'absent')
  const check = (where: FileTarget, intent: unknown) => expect(codeOf(() => observations.editIntent(agent, where))).toEqual(intent)

  it('refuses an unread file', () => check(target('/unread'), 'FS_NOT_OBSERVED'))
  it('refuses an unread file that is not there the same way', () => check(missing('/unread'), 'FS_NOT_OBSERVED'))
  it('says that a file seen absent does not exist', () => check(missing('/absent'), 'FS_NOT_FOUND'))
  it('asks to read a file that appeared', () => check(target('/absent'), 'FS_NOT_OBSERVED'))
  it('calls a read file that is gone stale', () => check(missing('/seen'), 'FS_STALE_VERSION'))
  it('gives the version seen last', () => check(target('/seen'), { version: 'v1' }))
  it('says what to do next', () => expect(() => observations.editIntent(agent, target('/unread'))).toThrow('Read it first, then try again.'))
})

describe('the log', () => {
  it('gets an ignorable event on first sight and on change only, while listeners hear every sight', () => {
    const { observations, told } = setUp()
    const agent = createFakeAgent()
    for (const state of [at('v1'), at('v1'), 'absent', 'absent', at('v1')] as const) observations.observe(agent, target('/A'), state)
    expect(agent.log).toEqual(['v1', null, 'v1'].map((version) => ({ type: 'fs/observed', data: { path: '/A', version }, ignorable: true })))
    expect(told).toHaveLength(5)
  })
  it('lets a resumed session edit what it had read, at the last version', () => {
    const { observations } = setUp()
    const agent = createFakeAgent({
      events: [
        { type: 'fs/observed', data: { path: '/A', version: 'v1' }, ignorable: true },
        { type: 'turn/start', data: { turn: 1 } },
        { type: 'fs/observed', data: { path: '/A', version: 'v2' }, ignorable: true },
      ],
    })
    expect(observations.editIntent(agent, target('/A'))).toEqual({ version: 'v2' })
    observations.observe(agent, target('/A'), at('v3'))
    expect(observations.editIntent(agent, target('/A'))).toEqual({ version: 'v3' })
  })
  it('does not fail the call when it cannot take the event', () => {
    const { observations, logger } = setUp()
    const agent = createFakeAgent()
    agent.session.append = () => {
      throw new Error('closed')
    }
    observations.observe(agent, target('/a'), at('v1'))
    expect(observations.editIntent(agent, target('/a'))).toEqual({ version: 'v1' })
    expect(logger.lines).toHaveLength(1)
  })
})

describe('renames in the editor', () => {
  it('keep what was seen, for files and whole folders, and in the log', () => {
    const { observations } = setUp()
    const agent = createFakeAgent()
    for (const path of ['/a', '/dir/b', '/dirt/c']) observations.observe(agent, target(path), at(`v${path}`))
    observations.rename('/a', '/z')
    observations.rename('/dir', '/moved')
    expect(['/z', '/moved/b', '/dirt/c'].map((path) => observations.editIntent(agent, target(path)).version)).toEqual(['v/a', 'v/dir/b', 'v/dirt/c'])
    expect(codeOf(() => observations.editIntent(agent, target('/a')))).toBe('FS_NOT_OBSERVED')
    expect(agent.log.slice(3).map(({ data }) => data)).toEqual([{ path: '/z', version: 'v/a' }, { path: '/moved/b', version: 'v/dir/b' }])
  })
})

describe('renames where upper and lower case are one', () => {
  const folded = (path: string) => ({ ...target(path), key: path.toLowerCase() as FileKey })

  it('keep what was seen', () => {
    const { observations } = setUp()
    const agent = createFakeAgent()
    observations.observe(agent, folded('/Dir/A'), at('v1'))
    observations.rename('/Dir', '/Moved')
    expect(observations.editIntent(agent, folded('/Moved/A'))).toEqual({ version: 'v1' })
    expect(codeOf(() => observations.editIntent(agent, folded('/Dir/A')))).toBe('FS_NOT_OBSERVED')
  })
  it('onto a file that was seen forget that one', () => {
    const { observations } = setUp()
    const agent = createFakeAgent()
    observations.observe(agent, folded('/A'), at('v1'))
    observations.observe(agent, folded('/B'), at('v2'))
    observations.rename('/A', '/B')
    expect(observations.editIntent(agent, folded('/B'))).toEqual({ version: 'v1' })
  })
})

describe('the plugin', () => {
  it('offers the service, emits sights, follows renames, and takes all of it back', async () => {
    const logger = createRecordingLogger()
    const kernel = createKernel({ logger })
    let renamed: ((from: string, to: string) => void) | undefined
    const files = {
      onDidRename: (listener: (from: string, to: string) => void) => {
        renamed = listener
        return () => void (renamed = undefined)
      },
    }
    const fiber = kernel.root.plugin(observationPlugin({ files, dispatch: kernel.dispatch, logger }))
    await fiber.ready
    const sights: unknown[] = []
    kernel.root.on('fs/observed', ({ version }) => void sights.push(version))
    const agent = createFakeAgent()
    kernel.root.observations.observe(agent, target('/a'), at('v1'))
    renamed?.('/a', '/b')
    expect([sights, await kernel.root.observations.editIntent(agent, target('/b'))]).toEqual([['v1'], { version: 'v1' }])
    await fiber.dispose()
    expect([renamed, kernel.root.get('observations')]).toEqual([undefined, undefined])
  })
})
