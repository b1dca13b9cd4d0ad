import { describe, expect, it } from 'vitest'
import { createKernel } from '../../../../extension/core/kernel/kernel.ts'
import { createSettings, settingsPlugin, type SettingProblem } from '../../../../extension/core/settings/service.ts'
import { settings as specs } from '../../../../extension/core/settings/specs.ts'
import { memorySettings, type SettingValues } from '../../../support/memory-settings.ts'
import { createRecordingLogger } from '../../../support/quiet-logger.ts'

const setUp = (user: SettingValues = {}, workspace: SettingValues = {}) => {
  const source = memorySettings(user, workspace)
  const reported: SettingProblem[] = []
  const changed: unknown[] = []
  const settings = createSettings({
    source,
    logger: createRecordingLogger(),
    onProblem: (problem) => reported.push(problem),
    onChange: (...change) => changed.push(change),
  })
  return { source, settings, reported, changed }
}

describe('settings', () => {
  it('give the default where nobody set anything', () => {
    const { settings } = setUp()
    expect([settings.get(specs.agentMaxStepsPerTurn), settings.get(specs.modelName), settings.problems()]).toEqual([200, 'deepseek-v4-pro', []])
  })

  it('give what the person set, and the workspace over it where it may speak', () => {
    const { settings } = setUp({ 'model.name': 'mine', 'shell.path': '/bin/bash' }, { 'model.name': 'ours', 'shell.path': '/tmp/evil' })
    expect([settings.get(specs.modelName), settings.get(specs.shellPath)]).toEqual(['ours', '/bin/bash'])
  })

  it('hold the last good value when a bad one comes, report it once, and go on when it is mended', async () => {
    const { settings, source, reported, changed } = setUp({ 'agent.maxStepsPerTurn': 7 })
    await source.set('agent.maxStepsPerTurn', 'many', 'user')
    expect(settings.get(specs.agentMaxStepsPerTurn)).toBe(7)
    expect(settings.get(specs.agentMaxStepsPerTurn)).toBe(7)
    const problem = {
      key: 'agent.maxStepsPerTurn',
      message: 'bosun.agent.maxStepsPerTurn must be a whole number of 0 or more, but is "many". Until it is corrected, 7 holds.',
    }
    expect([settings.problems(), reported]).toEqual([[problem], [problem]])
    await source.set('agent.maxStepsPerTurn', 9, 'user')
    expect([settings.get(specs.agentMaxStepsPerTurn), settings.problems(), reported.length]).toEqual([9, [], 1])
    expect(changed).toEqual([['agent.maxStepsPerTurn', 9, 7, 'document']])
  })

  it('start with the default when the first value is bad', () => {
    const { settings, reported } = setUp({ 'llm.retry.jitter': 2 })
    expect([settings.get(specs.llmRetryJitter), reported.map(({ key }) => key)]).toEqual([0.1, ['llm.retry.jitter']])
  })

  it('tell listeners of changed values and of problems, until they leave', async () => {
    const { settings, source } = setUp()
    const heard: string[] = []
    const leave = settings.onDidChange((key) => heard.push(key))
    await source.set('ui.showReasoning', 'open', 'user')
    await source.set('ui.showReasoning', 'loud', 'user')
    await source.set('ui.showReasoning', 'loud', 'user')
    leave()
    await source.set('ui.showReasoning', 'hidden', 'user')
    expect(heard).toEqual(['ui.showReasoning', 'ui.showReasoning'])
  })

  const rows: readonly [key: string, bad: unknown, words: string][] = [
    ['model.provider', '', 'the name of a provider'],
    ['model.maxTokens', 0, 'a whole number of 1 or more, or null'],
    ['model.temperature', 3, 'a number from 0 to 2, or null'],
    ['providers', { mine: { baseUrl: 'ftp://x' } }, 'at mine.baseUrl'],
    ['providers', { mine: { baseURL: 'http://x' } }, 'at mine'],
    ['llm.idleTimeoutMs', 5, 'a whole number of 100 or more'],
    ['llm.retry.mode', 'never', '"normal" or "always"'],
    ['agent.maxParallelToolCalls', 1.5, 'a whole number of 1 or more'],
    ['tools.maxInlineBytes', 10, '0, or 1000 or more'],
    ['tools.repeatReminder.thresholds', [3, 3], 'different whole numbers of 2 or more'],
    ['tools.repeatReminder.thresholds', [1], 'different whole numbers of 2 or more'],
    ['permissions.defaultPreset', 'all', '"danger-full-access"'],
    ['permissions.rules', [{ tool: 'bash', decision: 'maybe' }], 'at 0.decision'],
    ['permissions.sensitivePaths', '.env', 'a list of path patterns'],
    ['notifications.whenHidden', ['never'], 'a list of "approvals"'],
  ]
  it.each(rows)('say what %s must be instead of %j', (key, bad, words) => {
    const { reported } = setUp({ [key]: bad })
    expect(reported.map(({ message }) => message)).toEqual([expect.stringContaining(words)])
  })

  it('are a service that emits changes and leaves the source alone once it is gone', async () => {
    const logger = createRecordingLogger()
    const kernel = createKernel({ logger })
    const source = memorySettings()
    const fiber = kernel.root.plugin(settingsPlugin({ source, logger, dispatch: kernel.dispatch }))
    await fiber.ready
    const updates: unknown[] = []
    kernel.root.on('settings/updated', (...update) => void updates.push(update))
    kernel.root.scoped(kernel.createScope('a preset', null)).on('settings/updated', (key) => void updates.push(`${key} in a layer`))
    await source.set('model.name', 'other', 'user')
    expect(kernel.root.settings.get(specs.modelName)).toBe('other')
    await fiber.dispose()
    await source.set('model.name', 'third', 'user')
    expect(updates).toEqual([['model.name', 'other', 'deepseek-v4-pro', 'document'], 'model.name in a layer'])
    expect(kernel.root.get('settings')).toBeUndefined()
  })
})
