import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createKernel } from '../../../extension/core/kernel/kernel.ts'
import { manifestProperties, restrictedConfigurations } from '../../../extension/core/settings/manifest.ts'
import { settingsPlugin } from '../../../extension/core/settings/service.ts'
import type { SettingChange } from '../../../extension/core/settings/settings.ts'
import { settingEntries, settings as specs } from '../../../extension/core/settings/specs.ts'
import { memorySettings, type SettingValues } from '../../support/memory-settings.ts'
import { createRecordingLogger } from '../../support/quiet-logger.ts'

function setUp(user: SettingValues = {}, workspace: SettingValues = {}) {
  const source = memorySettings(user, workspace)
  const logger = createRecordingLogger()
  const kernel = createKernel({ logger })
  kernel.root.plugin(settingsPlugin({ source, logger, dispatch: kernel.dispatch }))
  const heard: unknown[] = []
  kernel.root.on('settings/updated', (...news) => void heard.push(news))
  kernel.root.on('settings/document-updated', (...news) => void heard.push(news))
  return { source, settings: kernel.root.settings, heard, ctx: kernel.root, logger }
}
const of = (key: string) => settingEntries.find((entry) => entry.key === key)!

describe('layers', () => {
  it('are default, then the person, then the workspace where it may speak', () => {
    const { settings } = setUp({ 'model.name': 'mine' }, { 'model.name': 'ours', 'llm.idleTimeoutMs': 200 })
    expect([specs.modelProvider, specs.modelName, specs.llmIdleTimeoutMs].map((spec) => settings.get<unknown>(spec))).toEqual(['deepseek-official', 'ours', 300_000])
  })
  it('say for each setting what holds, where it was set and what is wrong with it', () => {
    const { settings } = setUp({ 'model.name': 'mine', 'llm.retry.jitter': 7 }, { 'model.temperature': 1 })
    const described = new Map(settings.describe().map(({ key, value, setIn, problem }) => [key, [value, setIn, problem !== undefined]]))
    expect(['model.provider', 'model.name', 'model.temperature', 'llm.retry.jitter'].map((key) => described.get(key))).toEqual([
      ['deepseek-official', null, false],
      ['mine', 'user', false],
      [1, 'workspace', false],
      [0.1, 'user', true],
    ])
  })
  it('say for each setting whether a change takes hold at once', () =>
    expect(setUp().settings.describe().filter(({ applies }) => applies === 'restart').map(({ key }) => key)).toContain('tools.repeatReminder.thresholds'))
  it('hide secrets in the description, not in the value', () => {
    const mine = { baseUrl: 'http://127.0.0.1/v1', headers: { authorization: 'Bearer abc' } }
    const { settings } = setUp({ providers: { mine } })
    expect(settings.describe().find(({ key }) => key === 'providers')?.value).toMatchObject({ mine: { baseUrl: mine.baseUrl, headers: { authorization: '••••' } } })
    expect(settings.get(specs.providers)['mine']?.headers).toEqual(mine.headers)
  })
})

describe('a change through the service', () => {
  it('is written and told with its source, the namespace’s revision first', async () => {
    const { settings, source, heard } = setUp()
    await settings.update({ key: 'model.name', value: 'mine', expectedRevision: 0 })
    await source.set('model.name', 'other', 'user')
    expect(source.user['model.name']).toBe('other')
    expect(heard).toEqual([['model', 1], ['model.name', 'mine', 'deepseek-v4-pro', 'update'], ['model', 2], ['model.name', 'other', 'mine', 'document']])
    expect(settings.revision('model')).toBe(2)
  })
  it('touches one path of a value and leaves the rest; undefined takes it away', async () => {
    const a = { baseUrl: 'http://a/v1' }
    const { settings, source } = setUp({ providers: { a } })
    await settings.update({ key: 'providers', path: ['b', 'baseUrl'], value: 'http://b/v1' })
    expect(source.user['providers']).toEqual({ a, b: { baseUrl: 'http://b/v1' } })
    await settings.update({ key: 'providers', path: ['a'], value: undefined })
    expect(source.user['providers']).toEqual({ b: { baseUrl: 'http://b/v1' } })
    await settings.update({ key: 'providers', value: undefined })
    expect(source.user['providers']).toBeUndefined()
  })

  const rows: readonly [why: string, change: SettingChange, code: string][] = [
    ['the namespace was changed meanwhile', { key: 'model.name', value: 'mine', expectedRevision: 4 }, 'SETTINGS_CONFLICT'],
    ['nobody knows it', { key: 'model.nome', value: 'mine' }, 'UNKNOWN_SETTING'],
    ['it is no good value', { key: 'model.maxTokens', value: 0 }, 'INVALID_SETTING'],
    ['a path makes it no good value', { key: 'providers', path: ['mine', 'baseUrl'], value: 'ftp://x' }, 'INVALID_SETTING'],
    ['a workspace may not say it', { key: 'shell.path', value: '/bin/bash', where: 'workspace' }, 'INVALID_SETTING'],
  ]
  it.each(rows)('is refused when %s, and nothing is written', async (_why, change, code) => {
    const { settings, source, heard } = setUp()
    await expect(settings.update(change)).rejects.toMatchObject({ code })
    expect([source.user, source.workspace, heard]).toEqual([{}, {}, []])
  })
})

describe('a bad edit', () => {
  it('keeps the last good value, and is told by name', async () => {
    const { settings, source, heard } = setUp({ 'agent.maxStepsPerTurn': 7 })
    await source.set('agent.maxStepsPerTurn', -1, 'user')
    expect(settings.get(specs.agentMaxStepsPerTurn)).toBe(7)
    expect(settings.problems()).toMatchObject([{ key: 'agent.maxStepsPerTurn', message: expect.stringContaining('7 holds') as unknown }])
    expect(heard).toEqual([['agent', 1]])
  })
})

describe('a bad value', () => {
  it('is told in the log with what is expected and what holds, for where no page shows it', () => {
    const { logger } = setUp({ 'agent.costLimit': 'lots', 'model.name': 7 })
    expect(logger.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { facts: { key: 'model.name', expected: 'the name of a model', holds: 'deepseek-v4-pro' } },
      { facts: { key: 'agent.costLimit', expected: 'a number of 0 or more', holds: 0 } },
    ])
  })
  it('of a setting that may hold secrets is not repeated, and neither is what holds', async () => {
    const good = { mine: { baseUrl: 'http://127.0.0.1/v1', headers: { authorization: 'Bearer abc' } } }
    const { settings, source, logger } = setUp({ providers: good })
    await source.set('providers', { mine: { ...good.mine, window: 'Bearer abc' } }, 'user')
    expect(settings.problems()).toMatchObject([{ key: 'providers', message: expect.stringMatching(/^bosun\.providers must be an object of providers.* at mine\. Until it is corrected, what stood there before holds\.$/) as unknown }])
    expect(JSON.stringify([settings.describe(), logger.lines])).not.toContain('abc')
  })
})

describe('a bad value of a workspace', () => {
  it('takes nothing from what the person set, from the start', () => {
    const { settings } = setUp({ 'agent.costLimit': 5 }, { 'agent.costLimit': -1 })
    expect(settings.get(specs.agentCostLimit)).toBe(5)
    expect(settings.problems()).toMatchObject([{ key: 'agent.costLimit', message: expect.stringContaining('Until it is corrected, 5 holds.') as unknown }])
  })
})

describe('24.2 the settings', () => {
  const rows: readonly [key: string, fallback: unknown, scope: string][] = [
    ['model.provider', 'deepseek-official', 'window'],
    ['model.name', 'deepseek-v4-pro', 'window'],
    ['model.reasoningEffort', 'high', 'window'],
    ['model.maxTokens', null, 'window'],
    ['model.temperature', null, 'window'],
    ['providers', {}, 'machine'],
    ['llm.idleTimeoutMs', 300_000, 'machine'],
    ['llm.retry.mode', 'normal', 'machine'],
    ['llm.retry.maxRetries', 5, 'machine'],
    ['llm.retry.initialDelayMs', 500, 'machine'],
    ['llm.retry.maxDelayMs', 10_000, 'machine'],
    ['llm.retry.jitter', 0.1, 'machine'],
    ['agent.defaultPreset', 'editor', 'window'],
    ['agent.maxParallelToolCalls', 10, 'window'],
    ['agent.maxParallelSubCalls', 10, 'window'],
    ['tools.presentation', 'preset', 'window'],
    ['code.computeMs', 60_000, 'machine'],
    ['code.maxWallMs', 600_000, 'machine'],
    ['code.maxMemory', 512, 'machine'],
    ['code.maxOutputBytes', 4_194_304, 'machine'],
    ['code.maxCalls', 10_000, 'machine'],
    ['agent.maxStepsPerTurn', 200, 'window'],
    ['agent.costLimit', 0, 'window'],
    ['tools.disabled', [], 'window'],
    ['tools.maxInlineBytes', 50_000, 'window'],
    ['tools.repeatReminder.thresholds', [3, 5, 8], 'window'],
    ['search.ripgrepPath', null, 'machine'],
    ['shell.path', null, 'machine'],
    ['shell.offered', 'auto', 'machine'],
    ['sandbox.use', 'auto', 'machine'],
    ['sandbox.writableFolders', [], 'machine'],
    ['sandbox.allowConfined', false, 'machine'],
    ['history.index', true, 'machine'],
    ['history.tools', false, 'machine'],
    ['jobs.maxConsecutiveWakes', 3, 'machine'],
    ['goals.defaultMaxRounds', 256, 'machine'],
    ['goals.blockedAfterRounds', 3, 'machine'],
    ['jobs.ports', 'offer', 'machine'],
    ['jobs.problems', true, 'window'],
    ['subagents.maxDepth', 3, 'machine'],
    ['subagents.maxConcurrent', 10, 'machine'],
    ['subagents.maxTotal', 1_000, 'machine'],
    ['subagents.approvals', 'ask', 'machine'],
    ['dynamicPlugins.enabled', false, 'machine'],
    ['workflow.concurrency', 0, 'machine'],
    ['workflow.maxTotalAgents', 1_000, 'machine'],
    ['workflow.maxItemsPerCall', 4_096, 'machine'],
    ['workflow.syncTimeoutMs', 5_000, 'machine'],
    ['ralph.maxRounds', 64, 'machine'],
    ['subagents.forkMode', 'one-shot', 'machine'],
    ['teams.writeScopes', 'deny', 'machine'],
    ['subagents.reportDelivery', 'next-step', 'machine'],
    ['subagents.isolation', 'none', 'window'],
    ['subagents.worktree.includeUncommitted', true, 'window'],
    ['subagents.codex.enabled', false, 'machine'],
    ['subagents.codex.path', null, 'machine'],
    ['subagents.codex.permissionMode', 'never', 'machine'],
    ['subagents.codex.env', {}, 'machine'],
    ['subagents.claudeCode.enabled', false, 'machine'],
    ['subagents.claudeCode.path', null, 'machine'],
    ['subagents.claudeCode.permissionMode', 'dontAsk', 'machine'],
    ['subagents.claudeCode.env', {}, 'machine'],
    ['terminals.adopt', false, 'machine'],
    ['terminals.profiles', [], 'machine'],
    ['permissions.defaultPreset', 'workspace-write', 'machine'],
    ['permissions.rules', [], 'window'],
    ['compaction.auto', true, 'window'],
    ['compaction.thresholdRatio', 0.8, 'window'],
    ['compaction.retainRatio', 0.16, 'window'],
    ['compaction.maxTokens', 8_192, 'window'],
    ['compaction.prune.trigger', 8_192, 'window'],
    ['compaction.prune.head', 4_096, 'window'],
    ['compaction.prune.tail', 1_024, 'window'],
    ['instructions.files', ['AGENTS.md', 'CLAUDE.md'], 'window'],
    ['instructions.localFiles', ['AGENTS.local.md', 'CLAUDE.local.md'], 'window'],
    ['instructions.maxBytes', 65_536, 'window'],
    ['instructions.rootMarkers', ['.git'], 'window'],
    ['context.include', ['workspace', 'activeEditor', 'openEditors', 'problems', 'git'], 'window'],
    ['references.maxResults', 20, 'window'],
    ['hooks.enabled', true, 'machine'],
    ['hooks.sources', ['claude', 'bosun'], 'machine'],
    ['hooks.timeoutMs', 600_000, 'machine'],
    ['sessions.retentionDays', 0, 'machine'],
    ['checkpoints.enabled', true, 'machine'],
    ['checkpoints.maxAgeDays', 14, 'machine'],
    ['sessions.maxSpillMb', 500, 'machine'],
    ['titles.enabled', true, 'machine'],
    ['titles.model', null, 'machine'],
    ['ui.showReasoning', 'collapsed', 'application'],
    ['ui.diffMode', 'editor', 'application'],
    ['ui.followAlong', false, 'application'],
    ['questions.timeOutSeconds', 0, 'application'],
    ['notifications.whenHidden', ['approvals', 'questions', 'planReviews', 'turnEnd', 'reminders'], 'application'],
  ]
  it.each(rows)('%s is %j by default, of the scope %s', (key, fallback, scope) => expect([of(key).fallback, of(key).scope]).toEqual([fallback, scope]))
  it('that say where the talk goes, what it may spend or what may run are not taken from a folder that is not trusted', () => {
    const isGuarded = (key: string) => /^(model\.(provider|name|fallback|reasoningEffort|maxTokens)|agent\.(defaultPreset|maxStepsPerTurn|maxMinutesPerTurn|.*Limit)|providers|shell\.|sandbox\.|search\.|hooks\.|permissions\.|prompt\.|compaction\.(retries|maxOverflowRetries)$|tools\.maxInlineBytes)/.test(key)
    expect(settingEntries.flatMap(({ key, isRestricted }) => (isGuarded(key) && !isRestricted ? [key] : []))).toEqual([])
    expect(restrictedConfigurations()).toEqual(settingEntries.flatMap(({ key, isRestricted }) => (isRestricted ? [`bosun.${key}`] : [])))
  })
})

describe('manifest and validator', () => {
  /** With rules the manifest’s language has no word for: the page lets through more, never less. */
  const isUnsayable = new Set(['tools.maxInlineBytes', 'tools.repeatReminder.thresholds', 'tools.order', 'instructions.maxBytes', 'skills.maxCatalogueBytes'])
  const samples: readonly unknown[] = [
    null, true, 0, 1, -1, 0.5, 2, 1e9, '', ' ', 'word', 'http://x/v1', [], [''], ['a'], ['a', 'a'], [1], [2], [3, 5], [3, 3], {}, { a: 1 }, 10,
    { mine: {} }, { mine: { baseUrl: 'http://x/v1' } }, { mine: { baseUrl: 7 } }, { mine: { unknown: 1 } },
    [{ tool: 'bash', decision: 'allow' }], [{ tool: 'bash', decision: 'maybe' }], [{ decision: 'ask' }],
  ]
  it.each(settingEntries.map(({ key }) => key))('agree about %s', (key) => {
    const { scope: _scope, markdownDescription: _text, default: fallback, ...schema } = manifestProperties()[`bosun.${key}`]!
    // The page's `default` is no rule.
    const page = z.fromJSONSchema(schema)
    const onPage = (sample: unknown) => page.safeParse(sample).success
    const disagree = [...samples, fallback].filter((sample) => onPage(sample) !== accepts(key, sample) && !(isUnsayable.has(key) && onPage(sample)))
    expect(disagree).toEqual([])
  })
  const accepts = (key: string, sample: unknown) => {
    try {
      of(key).parse(sample)
      return true
    } catch {
      // A refusal is what is asked for; its words are tested elsewhere.
      return false
    }
  }
})
