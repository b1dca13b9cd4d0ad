import type { Capabilities } from './compose.ts'
import { extensionPoints } from './extension-points.ts'
import { costCommand } from './core/cost/command.ts'
import { costPlugin } from './core/cost/plugin.ts'
import type { Kernel, Plugin } from './core/kernel/plugin.ts'
import { createCommandsPlugin } from './core/commands/registry.ts'
import { compactCommand } from './core/compaction/command.ts'
import { compactionPlugin } from './core/compaction/plugin.ts'
import { createAgentsPlugin } from './core/loop/agents.ts'
import { durableTools } from './core/loop/durable-tools.ts'
import { createModelRoutesPlugin } from './core/loop/model-routes.ts'
import { createRetryPlugin } from './core/loop/retry.ts'
import { unreadableCalls } from './core/loop/unreadable-calls.ts'
import { adapterPlugin } from './core/model/adapter-plugin.ts'
import { credentialsPlugin } from './core/model/credentials-plugin.ts'
import type { ModelAdapter } from './core/model/contract.ts'
import { modelProvidersPlugin } from './core/model/providers-plugin.ts'
import { modelsPlugin } from './core/model/registry.ts'
import { policyPlugin } from './core/policy/plugin.ts'
import { policyRequired } from './core/policy/required.ts'
import { secretRedaction } from './core/policy/redact-secrets.ts'
import { searchWithoutSecrets } from './core/policy/search-without-secrets.ts'
import { createPresetsPlugin } from './core/presets/service.ts'
import { createPromptSectionsPlugin } from './core/prompt/sections.ts'
import { createSurroundingsPlugin } from './core/prompt/surroundings.ts'
import { createSystemPromptPlugin } from './core/prompt/service.ts'
import { sessionArchivesPlugin } from './core/session/archive/plugin.ts'
import { retentionPlugin } from './core/session/retention.ts'
import { sessionsPlugin } from './core/session/sessions.ts'
import { titlesPlugin } from './core/session/titles-plugin.ts'
import { settingsPlugin } from './core/settings/service.ts'
import type { Settings } from './core/settings/settings.ts'
import { settings as specs } from './core/settings/specs.ts'
import { repeatReminder } from './core/tools/guards/repeat-reminder.ts'
import { spillGuard } from './core/tools/guards/spill.ts'
import { timeOutGuard } from './core/tools/guards/time-out.ts'
import { createToolsPlugin } from './core/tools/registry.ts'
import type { PresentationMode } from './core/tools/service.ts'
import { checkpointsPlugin } from './features/checkpoints/plugin.ts'
import { codeModePlugin } from './features/code-mode/plugin.ts'
import { dynamicPluginsPlugin } from './features/dynamic-plugins/plugin.ts'
import { editorToolsPlugin } from './features/editor-tools/plugin.ts'
import { extensionsPlugin } from './features/extensions/plugin.ts'
import { featureEvents } from './features/event-types.ts'
import { goalsPlugin } from './features/goals/plugin.ts'
import { historyPlugin } from './features/history/plugin.ts'
import { hooksCommand } from './features/hooks/command.ts'
import { createCommandEnvironment } from './features/command-environment/command-environment.ts'
import { hooksPlugin } from './features/hooks/plugin.ts'
import { instructionsPlugin } from './features/instructions/plugin.ts'
import { initCommandPlugin } from './features/instructions/init-command.ts'
import { backgroundCommand } from './features/jobs/command.ts'
import { jobsPlugin } from './features/jobs/plugin.ts'
import { mcpCommand } from './features/mcp/command.ts'
import { mcpPlugin } from './features/mcp/plugin.ts'
import { newProblemsPlugin } from './features/new-problems/plugin.ts'
import { observationPlugin } from './features/observation/plugin.ts'
import { planPlugin } from './features/plan/plugin.ts'
import { questionsPlugin } from './features/questions/plugin.ts'
import { sessionCommands } from './features/commands/plugin.ts'
import { referencesPlugin } from './features/references/plugin.ts'
import { schedulesPlugin } from './features/schedule/plugin.ts'
import { terminalEffects } from './features/terminals/effects.ts'
import { noTerminals } from './features/terminals/no-terminals.ts'
import { terminalsPlugin } from './features/terminals/plugin.ts'
import { skillsPlugin } from './features/skills/plugin.ts'
import { cliProvidersPlugin } from './features/subagents/clis/plugin.ts'
import { subagentsPlugin } from './features/subagents/plugin.ts'
import { worktreesPlugin } from './features/subagents/worktree/plugin.ts'
import { workflowPlugin } from './features/workflow/plugin.ts'
import { teamsPlugin } from './features/teams/plugin.ts'
import { todoPlugin } from './features/todo/plugin.ts'
import { webPlugin } from './features/web/plugin.ts'
import { createEditorAdapter } from './models/editor/adapter.ts'
import { createProviderAdapter } from './models/provider-adapter.ts'
import { createScriptedTour } from './models/scripted-tour/adapter.ts'
import { agentTools } from './tools/agents/plugin.ts'
import { codeTools } from './tools/code/plugin.ts'
import { cordisTools } from './tools/cordis/plugin.ts'
import { keepBeforeImage } from './tools/files/file-change.ts'
import { fileTools } from './tools/files/plugin.ts'
import { goalTools } from './tools/goals/plugin.ts'
import { historyTools } from './tools/history/plugin.ts'
import { jobTools } from './tools/jobs/plugin.ts'
import { languageTools } from './tools/language/plugin.ts'
import { planTools } from './tools/plan/plugin.ts'
import { questionTools } from './tools/questions/plugin.ts'
import { scheduleTools } from './tools/schedule/plugin.ts'
import { searchTools } from './tools/search/plugin.ts'
import { shownPath } from './tools/shown-path.ts'
import { persistentShell } from './persistent-shell-plugin.ts'
import { shellTools } from './tools/shell/plugin.ts'
import { absentTerminalTools, terminalTools } from './tools/terminals/plugin.ts'
import { skillTools } from './tools/skills/plugin.ts'
import { teamTools } from './tools/teams/plugin.ts'
import { todoTools } from './tools/todo/plugin.ts'
import { webTools } from './tools/web/plugin.ts'
import { workflowTools } from './tools/workflow/plugin.ts'

export interface MountOptions {
  /** Adapters beside the guided tour and the configured providers. */
  readonly adapters: readonly ModelAdapter[]
  /** It ends with the person's turn: nothing begins by itself behind it. */
  readonly isOneTurn?: boolean
}

/** Where the code of plugins of a session is kept, beside its spilled output. */
const pluginsFolder = (spill: string) => spill.replace(/[\\/]spill$/, '/plugins')

/** Every plugin of the application, in the order in which they start; they stop in reverse. */
export function mountAll(kernel: Kernel, world: Capabilities, options: MountOptions): void {
  for (const plugin of plugins(kernel, world, options)) kernel.root.plugin(plugin)
}

function plugins(kernel: Kernel, world: Capabilities, { adapters, isOneTurn = false }: MountOptions): readonly Plugin[] {
  const { blobs, clock, editorModels, files, logger, machine, processes, search, workspace } = world
  const { dispatch } = kernel
  const logPath = (sessionId: string) => blobs.spillFolder(sessionId).replace(/[\\/]spill$/, '/events.jsonl')
  const noTerminal = world.terminals?.problem ?? 'There is nothing here that opens terminals.'
  const environment = createCommandEnvironment({ dispatch, machine, logPath, ...(world.terminalSettings && { ofPerson: world.terminalSettings.environment }) })
  const setting = <Name extends keyof typeof specs>(name: Name) => (): ReturnType<(typeof specs)[Name]['parse']> => {
    const settings: Settings = kernel.root.settings
    // One table holds all specs; each entry's parser gives that entry's type.
    return settings.get<unknown>(specs[name]) as ReturnType<(typeof specs)[Name]['parse']>
  }
  return [
    settingsPlugin({ source: world.settings, logger, dispatch }),
    sessionsPlugin({ events: world.events, blobs, clock, machine, logger, dispatch, patienceMs: 2_000 }),
    featureEvents,
    costPlugin({ clock, logger }),
    retentionPlugin({ blobs, clock, logger, dispatch }),
    historyPlugin({ events: world.events, files, index: world.searchIndex, clock, logger }),
    sessionArchivesPlugin({ events: world.events, blobs, clock, machine }),
    costCommand({ now: () => clock.now() }),
    createCommandsPlugin({ dispatch, machine, logger }),
    titlesPlugin({ logger, clock, machine }),
    createToolsPlugin({ dispatch, randomId: () => machine.randomId(), order: setting('toolsOrder'), mode: () => presentationOf(setting('toolsPresentation')()) }),
    createSystemPromptPlugin({ dispatch, includeRuntimeContext: setting('promptIncludeRuntimeContext'), toolOrder: setting('toolsOrder') }),
    createPromptSectionsPlugin({
      machine,
      options: () => ({ includeHarnessIdentity: setting('promptIncludeHarnessIdentity')(), persona: setting('promptPersona')() }),
    }),
    createSurroundingsPlugin({ clock, machine, workspace, include: setting('contextInclude') }),

    modelsPlugin({ dispatch }),
    credentialsPlugin({ secrets: world.secrets, dispatch }),
    modelProvidersPlugin({
      source: world.settings,
      logger,
      builtIn: [createScriptedTour({ clock }), ...adapters],
      modelFile: { files, path: `${machine.userFolder}/models.json` },
      createAdapter: (config) =>
        createProviderAdapter({
          config, http: world.http, secrets: world.secrets, clock, logger, idleTimeoutMs: setting('llmIdleTimeoutMs'),
        }),
    }),

    ...(editorModels
      ? [adapterPlugin({ adapter: createEditorAdapter({ models: editorModels, clock, idleTimeoutMs: setting('llmIdleTimeoutMs') }), onDidChange: editorModels.onDidChange })]
      : []),

    policyRequired,
    policyPlugin({
      dispatch, source: world.settings, workspace, files, machine, logger,
      shellSyntax: world.shellSyntax,
      ...(world.sandbox && { sandbox: world.sandbox }),
      ...(world.worktrees && { walledFolder: world.worktrees.folder }),
      readableFolders: (sessionId) => [
        ...[sessionId, ...(kernel.root.get('sessions')?.ancestors(sessionId) ?? [])].flatMap((id) => [blobs.spillFolder(id), pluginsFolder(blobs.spillFolder(id))]),
        ...(kernel.root.get('skills')?.resourceFolders(sessionId) ?? []),
      ],
    }),
    secretRedaction({ sensitivePaths: setting('permissionsSensitivePaths'), machine }),
    timeOutGuard({ clock }),
    durableTools,
    spillGuard({ blobs, logger, maxInlineBytes: setting('toolsMaxInlineBytes') }),

    observationPlugin({ files, dispatch, logger }),
    newProblemsPlugin({ feed: world.problemFeed, files, clock, waitMs: setting('toolsNewProblemsWaitMs') }),
    checkpointsPlugin({
      files, blobs, processes, shellSyntax: world.shellSyntax, changeWatch: world.changeWatch, sensitivePaths: setting('permissionsSensitivePaths'), clock, logger, machine, isEnabled: setting('checkpointsEnabled'), maxAgeDays: setting('checkpointsMaxAgeDays'),
    }),
    todoPlugin({ logger, machine }),
    referencesPlugin({
      facts: world.editorFacts, clock, files, logger, machine, processes, search, workspace,
      maxResults: setting('referencesMaxResults'), sensitivePaths: setting('permissionsSensitivePaths'),
      shown: (path, cwd) => shownPath(path, cwd, workspace.folders()),
    }),
    jobsPlugin({ clock, logger, machine, processes, maxConsecutiveWakes: setting('jobsMaxConsecutiveWakes') }),
    dynamicPluginsPlugin({ kernel, codeRuntime: world.codeRuntime, clock, machine, files, blobs, logger, workspace, points: extensionPoints }),
    planPlugin({ logger, machine }),
    goalsPlugin({ clock, files, logger, machine, workspace, dispatch, problemFeed: world.problemFeed, isOneTurn }),
    schedulesPlugin({ clock, logger, machine, workspace, isOneTurn }),
    webPlugin({ http: world.http, pages: world.webPages, documents: world.documents, secrets: world.secrets, clock, logger }),

    fileTools({ files, blobs, clock, documents: world.documents, pictures: world.pictures, languages: world.languages, ...(world.notebooks && { notebooks: world.notebooks }) }),
    searchTools({ search: searchWithoutSecrets(search, { sensitivePaths: setting('permissionsSensitivePaths'), machine, workspace, rules: () => kernel.root.permissions.rules() }), files, workspace, blobs, logger }),
    shellTools({
      processes, files, blobs, clock, machine, shellPath: setting('shellPath'), timeoutMs: setting('shellTimeoutMs'), offered: setting('shellOffered'), environment,
    }),
    languageTools({ languages: world.languages, files, blobs, clock }),
    jobTools,
    ...(world.terminals?.problem === null
      ? [terminalsPlugin({ terminals: world.terminals, createScreen: world.createScreen, ...(world.terminalViews && { views: world.terminalViews }), ...(world.personTerminals && { personTerminals: world.personTerminals }), mayAdopt: setting('terminalsAdopt'), clock, logger, machine, shellPath: setting('shellPath'), environment, profiles: () => (world.terminalSettings?.profiles() ?? []).filter(({ name }) => setting('terminalsProfiles')().includes(name)) }), terminalEffects, terminalTools({ files, offersAdoption: world.personTerminals === undefined ? () => false : setting('terminalsAdopt') })]
      : [absentTerminalTools({ files, terminals: noTerminals(noTerminal), problem: noTerminal })]),
    todoTools({ allowParallelInProgress: true }),
    questionTools,
    planTools,
    goalTools,
    scheduleTools,
    webTools,
    skillTools,
    workflowTools({ maxRounds: setting('ralphMaxRounds') }),
    teamTools,
    cordisTools,
    agentTools({ machine, forkMode: setting('subagentsForkMode') }),
    historyTools,

    hooksPlugin({ files, processes, clock, machine, workspace, logger, logPath }),
    hooksCommand,
    mcpPlugin({ connector: world.mcp, files, blobs, clock, logger, machine, secrets: world.secrets, settings: world.settings, workspace, ...(world.mcpInput && { askInput: world.mcpInput }), ...(world.mcpSignIn && { signIn: world.mcpSignIn }) }),
    mcpCommand,
    ...(world.editorTools ? [editorToolsPlugin({ tools: world.editorTools, blobs, logger, machine })] : []),
    ...(world.contributions ? [extensionsPlugin({ contributions: world.contributions, clock, logger, fileChanges: { files, machine, sensitivePaths: setting('permissionsSensitivePaths'), keepBeforeImage: (target, exec) => keepBeforeImage({ files, blobs }, target, exec) } })] : []),
    createPresetsPlugin({ kernel, workspace, stored: { files, userFolder: `${machine.userFolder}/presets` } }),
    ...(world.terminals?.problem === null ? [persistentShell({ terminals: world.terminals, ...(world.terminalViews && { views: world.terminalViews }), blobs, clock, machine, workspace, shellPath: setting('shellPath'), offered: setting('shellOffered'), environment })] : []),
    createRetryPlugin({ clock, machine }),
    createModelRoutesPlugin({ logger }),
    unreadableCalls,
    createAgentsPlugin({ kernel, clock, logger, machine, blobs }),
    ...(world.worktrees ? [worktreesPlugin({ store: world.worktrees, processes, clock, logger, machine })] : []),
    subagentsPlugin({ dispatch, clock, logger, machine }),
    teamsPlugin({ clock, logger, machine, files, shellSyntax: world.shellSyntax, workspace, isOneTurn }),
    cliProvidersPlugin({ processes, clock, logger, machine, workspace }),
    workflowPlugin({
      codeRuntime: world.codeRuntime, dispatch, clock, logger, machine, workspace,
      settings: { concurrency: setting('workflowConcurrency'), maxTotalAgents: setting('workflowMaxTotalAgents'), maxItemsPerCall: setting('workflowMaxItemsPerCall'), syncTimeoutMs: setting('workflowSyncTimeoutMs') },
    }),
    codeModePlugin({
      codeRuntime: world.codeRuntime, dispatch, clock, machine, workspace,
      settings: {
        computeMs: setting('codeComputeMs'), maxWallMs: setting('codeMaxWallMs'), memoryBytes: () => setting('codeMaxMemory')() * 1_048_576, outputBytes: setting('codeMaxOutputBytes'),
        calls: setting('codeMaxCalls'), maxParallelSubCalls: setting('agentMaxParallelSubCalls'),
      },
    }),
    codeTools,
    compactionPlugin({ clock, machine, logger, dispatch, blobs }),
    compactCommand,
    backgroundCommand,
    questionsPlugin({ machine, logger, clock }),
    instructionsPlugin({ files, logger, machine, workspace }),
    initCommandPlugin(),
    skillsPlugin({ dispatch, files, logger, machine, workspace }),
    sessionCommands({ secrets: world.secrets, clock }),
    {
      // Its thresholds are fixed for the life of the plugin, and a bad list must not take the rest with it.
      name: 'repeat-reminder-settings',
      inject: ['settings'],
      apply: (ctx) =>
        void ctx.plugin(
          repeatReminder({ thresholds: ctx.settings.get(specs.toolsRepeatReminderThresholds), newId: () => machine.randomId() }),
        ),
    },
  ]
}

/** Where no preset says otherwise, tools are as the model knows them. */
const presentationOf = (chosen: 'preset' | PresentationMode): PresentationMode => (chosen === 'preset' ? 'native' : chosen)
