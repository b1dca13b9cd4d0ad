import { describe, expect, it } from 'vitest'
import type { Contribution, TakeContribution } from '../../../../extension/capabilities/contributions.ts'
import { ContributionList } from '../../../../extension/features/extensions/contribution-list.ts'
import { countTool } from '../../../support/extension-rig.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

/** An application that writes down what it takes over and takes back. */
function rig() {
  const logger = createRecordingLogger()
  const list = new ContributionList({ version: '1.0.0', logger })
  const news: string[] = []
  const label = (contribution: Contribution) => `${contribution.extensionId} ${contribution.kind === 'tool' ? contribution.tool.name : contribution.kind}`
  const take: TakeContribution = (contribution) => {
    if (contribution.kind === 'tool' && contribution.tool.name === 'taken') throw new Error('taken already')
    news.push(`+ ${label(contribution)}`)
    const ready = contribution.kind === 'plugin' ? Promise.reject(new Error('apply failed')) : Promise.resolve()
    ready.catch(() => {})
    return { ready, dispose: async () => void news.push(`- ${label(contribution)}`) }
  }
  return { logger, list, news, take }
}
const stateOf = (promise: Promise<void>) => Promise.race([promise.then(() => 'ready', (error: unknown) => String(error)), new Promise((resolve) => void setImmediate(resolve, 'open'))])

describe('what extensions register', () => {
  it('before the application runs is handed over when it does', async () => {
    const { list, news, take } = rig()
    const { ready } = list.join('acme.sample').registerTool(countTool())
    expect([news, await stateOf(ready)]).toEqual([[], 'open'])
    list.attach(take)
    await ready
    expect(news).toEqual(['+ acme.sample acme_count'])
  })
  it('while it runs is handed over at once', async () => {
    const { list, news, take } = rig()
    list.attach(take)
    await list.join('acme.sample').registerPolicy(() => undefined).ready
    expect(news).toEqual(['+ acme.sample policy'])
  })
  it('is handed over again to the next application, from which the end of the one before takes nothing', async () => {
    const { list, news, take } = rig()
    const tool = list.join('acme.sample').registerTool(countTool())
    const endFirst = list.attach(take)
    const endSecond = list.attach((contribution) => take(contribution))
    endFirst()
    await list.join('acme.sample').registerPolicy(() => undefined).ready
    await tool.dispose()
    expect(news).toEqual(['+ acme.sample acme_count', '+ acme.sample acme_count', '+ acme.sample policy', '- acme.sample acme_count'])
    endSecond()
    list.attach(take)
    expect(news.slice(4)).toEqual(['+ acme.sample policy'])
  })
  it('goes alone, once, and is not handed over any more', async () => {
    const { list, news, take } = rig()
    const api = list.join('acme.sample')
    const tool = api.registerTool(countTool())
    api.observeResults(() => {})
    const detach = list.attach(take)
    await Promise.all([tool.dispose(), tool.dispose()])
    expect(news).toEqual(['+ acme.sample acme_count', '+ acme.sample results', '- acme.sample acme_count'])
    detach()
    news.length = 0
    list.attach(take)
    expect(news).toEqual(['+ acme.sample results'])
  })
  it('goes with its extension, and leaves those of others', async () => {
    const { list, news, take } = rig()
    list.attach(take)
    const api = list.join('acme.sample')
    api.registerTool(countTool())
    api.registerPromptSection({ name: 'tone', text: 'Be brief.' })
    list.join('other.one').registerTool(countTool({ name: 'other' }))
    news.length = 0
    await api.dispose()
    expect(news).toEqual(['- acme.sample acme_count', '- acme.sample section'])
    expect(() => api.registerTool(countTool())).toThrow(expect.objectContaining({ code: 'DISPOSED', extensionId: 'acme.sample' }))
  })
  it('and takes back before it was used says so', async () => {
    const { list } = rig()
    const tool = list.join('acme.sample').registerTool(countTool())
    await tool.dispose()
    expect(await stateOf(tool.ready)).toMatch(/acme\.sample took it back before Bosun was used/)
  })
})

describe('what cannot be taken over', () => {
  it('is thrown at once while the application runs, and not kept', () => {
    const { list, news, take, logger } = rig()
    const detach = list.attach(take)
    expect(() => list.join('acme.sample').registerTool(countTool({ name: 'taken' }))).toThrow('taken already')
    detach()
    list.attach(take)
    expect([news, logger.lines]).toEqual([[], []])
  })
  it('is told by ready and in the log when it comes to light later, and spoils no other', async () => {
    const { list, news, take, logger } = rig()
    const api = list.join('acme.sample')
    const bad = api.registerTool(countTool({ name: 'taken' }))
    api.registerTool(countTool())
    list.attach(take)
    expect(await stateOf(bad.ready)).toBe('Error: taken already')
    expect(news).toEqual(['+ acme.sample acme_count'])
    expect(logger.lines).toEqual([{ level: 'error', message: 'What another extension registered could not be taken over.', facts: { extension: 'acme.sample', what: 'tool', error: 'Error: taken already' } }])
  })
  it('by itself is told in the same way', async () => {
    const { list, take, logger } = rig()
    list.attach(take)
    const { ready } = list.join('acme.sample').registerPlugin({ name: 'all', apply: () => {} })
    await expect(ready).rejects.toThrow('apply failed')
    expect(logger.lines.map(({ facts }) => facts?.['error'])).toEqual(['Error: apply failed'])
  })
  it('is no failure that anybody is told of once it was taken back', async () => {
    const { list, take, logger } = rig()
    list.attach(take)
    const plugin = list.join('acme.sample').registerPlugin({ name: 'all', apply: () => {} })
    await plugin.dispose()
    await expect(plugin.ready).rejects.toThrow('apply failed')
    expect(logger.lines).toEqual([])
  })
  it('has its shape checked before anything', () => {
    const { list } = rig()
    expect(() => list.join('acme.sample').registerTool({ name: 'bad' } as never)).toThrow('acme.sample cannot register the tool "bad": it needs a description')
  })
})
