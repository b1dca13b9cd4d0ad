import { describe, expect, it } from 'vitest'
import { manifestProperties, restrictedConfigurations } from '../../../../extension/core/settings/manifest.ts'
import { settingEntries } from '../../../../extension/core/settings/specs.ts'

describe('the settings in the manifest', () => {
  const properties = manifestProperties()

  it('are all there, each with scope, words and default', () => {
    expect(Object.keys(properties)).toEqual(settingEntries.map(({ key }) => `bosun.${key}`))
    for (const property of Object.values(properties))
      expect(property).toEqual(expect.objectContaining({ scope: expect.any(String), markdownDescription: expect.any(String) }))
  })

  it('have defaults that are themselves good values', () => {
    for (const entry of settingEntries) expect(entry.parse(entry.fallback)).toEqual(entry.fallback)
  })

  it('say the type as the editor can draw it', () => {
    const { scope, markdownDescription: _, ...rest } = properties['bosun.model.maxTokens'] ?? {}
    expect([scope, rest]).toEqual(['window', { default: null, type: ['integer', 'null'], minimum: 1 }])
    expect(properties['bosun.llm.retry.mode']).toMatchObject({ type: 'string', enum: ['normal', 'always'], default: 'normal' })
  })

  it('name what a folder that is not trusted may not set', () =>
    expect(restrictedConfigurations()).toEqual([
      ...['provider', 'name', 'reasoningEffort', 'maxTokens', 'fallback'].map((name) => `bosun.model.${name}`),
      'bosun.providers',
      'bosun.languageServers',
      'bosun.agent.defaultPreset',
      'bosun.agent.maxStepsPerTurn',
      'bosun.agent.maxMinutesPerTurn',
      ...['costLimit', 'turnCostLimit', 'dayCostLimit', 'tokenLimit', 'turnTokenLimit', 'dayTokenLimit'].map((name) => `bosun.agent.${name}`),
      'bosun.tools.fromEditor',
      'bosun.prompt.includeHarnessIdentity',
      'bosun.prompt.includeRuntimeContext',
      'bosun.prompt.persona',
      'bosun.tools.maxInlineBytes',
      'bosun.search.ripgrepPath',
      'bosun.shell.path',
      'bosun.shell.offered',
      'bosun.terminals.adopt',
      'bosun.terminals.profiles',
      'bosun.shell.timeoutMs',
      'bosun.history.tools',
      'bosun.jobs.maxConsecutiveWakes',
      'bosun.goals.defaultMaxRounds',
      'bosun.goals.blockedAfterRounds',
      ...['maxDepth', 'maxConcurrent', 'maxTotal', 'approvals'].map((name) => `bosun.subagents.${name}`),
      ...['computeMs', 'maxWallMs', 'maxMemory', 'maxOutputBytes', 'maxCalls'].map((name) => `bosun.code.${name}`),
      ...['concurrency', 'maxTotalAgents', 'maxItemsPerCall', 'syncTimeoutMs'].map((name) => `bosun.workflow.${name}`),
      'bosun.ralph.maxRounds',
      ...['searchProvider', 'providers', 'fetchEnabled', 'allowedPrivateHosts'].map((name) => `bosun.tools.web.${name}`),
      'bosun.editorChat.offerTools',
      'bosun.editorChat.model',
      'bosun.dynamicPlugins.enabled',
      ...['codex', 'claudeCode'].flatMap((cli) => ['enabled', 'path', 'permissionMode', 'env'].map((name) => `bosun.subagents.${cli}.${name}`)),
      ...['use', 'writableFolders', 'allowConfined'].map((name) => `bosun.sandbox.${name}`),
      'bosun.permissions.defaultPreset',
      'bosun.permissions.rules',
      'bosun.permissions.sensitivePaths',
      'bosun.compaction.retries',
      'bosun.compaction.maxOverflowRetries',
      'bosun.hooks.enabled',
      'bosun.hooks.sources',
      'bosun.hooks.timeoutMs',
      'bosun.hooks.allowed',
      'bosun.mcp.servers',
      'bosun.mcp.files',
      'bosun.mcp.allowed',
      'bosun.mcp.trusted',
    ]))
})
