import { describe, expect, it, vi } from 'vitest'
import type { ExtensionContext } from '../../bosun.d.ts'
import { API_VERSION, ExportedApi } from '../../extension/exported-api.ts'
import type { Contribution } from '../../extension/capabilities/contributions.ts'
import { countTool } from '../support/extension-rig.ts'
import { createRecordingLogger } from '../support/quiet-logger.ts'

function rig() {
  const installed = new Set(['acme.sample', 'other.one'])
  const logger = createRecordingLogger()
  const listeners = new Set<() => void>()
  const api = new ExportedApi({
    logger,
    isInstalled: (id) => installed.has(id),
    onDidChangeExtensions(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  })
  const taken: string[] = []
  const take = ({ extensionId, kind }: Contribution) => {
    taken.push(`+ ${extensionId} ${kind}`)
    return { ready: Promise.resolve(), dispose: async () => void taken.push(`- ${extensionId} ${kind}`) }
  }
  const contextOf = (id: string) => {
    const subscriptions: { dispose(): unknown }[] = []
    return { extension: { id }, subscriptions } satisfies ExtensionContext
  }
  const uninstall = (id: string) => {
    installed.delete(id)
    for (const listener of listeners) listener()
  }
  return { api, exports: api.exports, logger, listeners, taken, take, contextOf, uninstall }
}

describe('what the extension exports', () => {
  it('says its version and gives the API for it', async () => {
    const { exports, contextOf } = rig()
    expect([exports.apiVersion, Object.isFrozen(exports)]).toEqual([API_VERSION, true])
    expect(API_VERSION).toMatch(/^1\.\d+\.\d+$/)
    expect((await exports.getApi(1, contextOf('acme.sample'))).version).toBe(API_VERSION)
  })
  it.each([
    ['another version', 2, (context: unknown) => context, 'UNSUPPORTED_VERSION', 'acme.sample asks for version 2 of the API of Bosun; this one gives 1'],
    ['no version', undefined, (context: unknown) => context, 'UNSUPPORTED_VERSION', 'acme.sample asks for version undefined'],
    ['no context', 1, () => undefined, 'UNKNOWN_EXTENSION', 'Hand over the context that your activate was given: getApi(1, context).'],
    ['a context without subscriptions', 1, () => ({ extension: { id: 'acme.sample' } }), 'UNKNOWN_EXTENSION', 'Hand over the context'],
    ['an extension that is not installed', 1, () => ({ extension: { id: 'no.body' }, subscriptions: [] }), 'UNKNOWN_EXTENSION', 'Hand over the context'],
  ])('refuses %s', async (_what, version, alter, code, words) => {
    const { exports, contextOf } = rig()
    await expect(exports.getApi(version as 1, alter(contextOf('acme.sample')) as ExtensionContext)).rejects.toMatchObject({ name: 'ExtensionApiError', code, message: expect.stringContaining(words) as string })
  })
  it.each(['before', 'after'])('hands what is registered to the application that starts %s the API was asked for', async (order) => {
    const { api, exports, contextOf, take, taken } = rig()
    if (order === 'after') await exports.getApi(1, contextOf('other.one'))
    const detach = api.attach(take)
    ;(await exports.getApi(1, contextOf('acme.sample'))).registerTool(countTool())
    expect(taken).toEqual(['+ acme.sample tool'])
    detach()
    detach()
    api.attach(take)
    expect(taken).toEqual(['+ acme.sample tool', '+ acme.sample tool'])
  })
  it('takes everything back with the subscriptions of the extension', async () => {
    const { api, exports, contextOf, take, taken } = rig()
    api.attach(take)
    const context = contextOf('acme.sample')
    ;(await exports.getApi(1, context)).registerTool(countTool())
    for (const { dispose } of context.subscriptions) await dispose()
    expect(taken).toEqual(['+ acme.sample tool', '- acme.sample tool'])
  })
  it('takes everything back of an extension that is not there any more, and of no other', async () => {
    const { api, exports, contextOf, take, taken, uninstall } = rig()
    api.attach(take)
    ;(await exports.getApi(1, contextOf('acme.sample'))).registerTool(countTool())
    ;(await exports.getApi(1, contextOf('other.one'))).observeResults(() => {})
    uninstall('acme.sample')
    await vi.waitFor(() => expect(taken).toEqual(['+ acme.sample tool', '+ other.one results', '- acme.sample tool']), 50_000)
  })
  it('takes everything back at its own end, and listens no more', async () => {
    const { api, exports, contextOf, take, taken, listeners } = rig()
    api.attach(take)
    ;(await exports.getApi(1, contextOf('acme.sample'))).registerTool(countTool())
    await api.dispose()
    expect([taken.at(-1), listeners.size]).toEqual(['- acme.sample tool', 0])
  })
  it('logs what cannot be taken back cleanly', async () => {
    const { api, exports, contextOf, logger } = rig()
    api.attach(() => ({ ready: Promise.resolve(), dispose: () => Promise.reject(new Error('stuck')) }))
    ;(await exports.getApi(1, contextOf('acme.sample'))).registerTool(countTool())
    await api.dispose()
    expect(logger.lines.map(({ facts }) => facts?.['extension'])).toEqual(['acme.sample'])
  })
})
