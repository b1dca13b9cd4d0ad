import type { Capabilities } from './compose.ts'
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
import { checkpointsPlugin } from './features/checkpoints/plugin.ts'
import { featureEvents } from './features/event-types.ts'
import { hooksCommand } from './features/hooks/command.ts'
import { createCommandEnvironment } from './features/command-environment/command-environment.ts'
import { hooksPlugin } from './features/hooks/plugin.ts'
import { instructionsPlugin } from './features/instructions/plugin.ts'
import { initCommandPlugin } from './features/instructions/init-command.ts'
import { backgroundCommand } from './features/jobs/command.ts'
import { jobsPlugin } from './features/jobs/plugin.ts'
import { newProblemsPlugin } from './features/new-problems/plugin.ts'
import { observationPlugin } from './features/observation/plugin.ts'
import { planPlugin } from './features/plan/plugin.ts'
import { questionsPlugin } from './features/questions/plugin.ts'
import { sessionCommands } from './features/commands/plugin.ts'
import { referencesPlugin } from './features/references/plugin.ts'
import { terminalEffects } from './features/terminals/effects.ts'
import { terminalsPlugin } from './features/terminals/plugin.ts'
import { skillsPlugin } from './features/skills/plugin.ts'
import { todoPlugin } from './features/todo/projection.ts'
import { webPlugin } from './features/web/plugin.ts'
import { createEditorAdapter } from './models/editor/adapter.ts'
import { createProviderAdapter } from './models/provider-adapter.ts'
import { createScriptedTour } from './models/scripted-tour/adapter.ts'
import { fileTools } from './tools/files/plugin.ts'
import { jobTools } from './tools/jobs/plugin.ts'
import { languageTools } from './tools/language/plugin.ts'
import { questionTools } from './tools/questions/plugin.ts'
import { searchTools } from './tools/search/plugin.ts'
import { shownPath } from './tools/shown-path.ts'
import { persistentShell } from './persistent-shell-plugin.ts'
import { shellTools } from './tools/shell/plugin.ts'
import { terminalTools } from './tools/terminals/plugin.ts'
import { skillTools } from './tools/skills/plugin.ts'
import { todoTools } from './tools/todo/plugin.ts'
import { webTools } from './tools/web/plugin.ts'

export interface MountOptions {
  /** Adapters beside the guided tour and the configured providers. */
  readonly adapters: readonly ModelAdapter[]
}

/** Every plugin of the application, in the order in which they start; they stop in reverse. */
export function mountAll(kernel: Kernel, world: Capabilities, options: MountOptions): void {
  for (const plugin of plugins(kernel, world, options)) kernel.root.plugin(plugin)
}

function plugins(kernel: Kernel, world: Capabilities, { adapters }: MountOptions): readonly Plugin[] {
  const { blobs, clock, editorModels, files, logger, machine, processes, search, workspace } = world
  const { dispatch } = kernel
  const logPath = (sessionId: string) => blobs.spillFolder(sessionId).replace(/[\\/]spill$/, '/events.jsonl')
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
    sessionArchivesPlugin({ events: world.events, blobs, clock, machine }),
    costCommand({ now: () => clock.now() }),
    createCommandsPlugin({ dispatch, machine, logger }),
    titlesPlugin({ logger, clock, machine }),
    createToolsPlugin({ dispatch, randomId: () => machine.randomId(), order: setting('toolsOrder') }),
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
      readableFolders: (sessionId) => [
        ...[sessionId, ...(kernel.root.get('sessions')?.ancestors(sessionId) ?? [])].map((id) => blobs.spillFolder(id)),
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
    todoPlugin,
    referencesPlugin({
      facts: world.editorFacts, clock, files, logger, machine, processes, search, workspace,
      maxResults: setting('referencesMaxResults'), sensitivePaths: setting('permissionsSensitivePaths'),
      shown: (path, cwd) => shownPath(path, cwd, workspace.folders()),
    }),
    jobsPlugin({ clock, logger, machine, processes, maxConsecutiveWakes: setting('jobsMaxConsecutiveWakes') }),
    planPlugin({ logger, machine }),
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
      : []),
    todoTools({ allowParallelInProgress: true }),
    questionTools,
    webTools,
    skillTools,

    hooksPlugin({ files, processes, clock, machine, workspace, logger, logPath }),
    hooksCommand,
    createPresetsPlugin({ kernel, workspace, stored: { files, userFolder: `${machine.userFolder}/presets` } }),
    ...(world.terminals?.problem === null ? [persistentShell({ terminals: world.terminals, ...(world.terminalViews && { views: world.terminalViews }), blobs, clock, machine, workspace, shellPath: setting('shellPath'), offered: setting('shellOffered'), environment })] : []),
    createRetryPlugin({ clock, machine }),
    createModelRoutesPlugin({ logger }),
    unreadableCalls,
    createAgentsPlugin({ kernel, clock, logger, machine, blobs }),
    compactionPlugin({ clock, machine, logger, dispatch, blobs }),
    compactCommand,
    backgroundCommand,
    questionsPlugin({ machine, logger }),
    instructionsPlugin({ files, logger, machine, workspace }),
    initCommandPlugin({ machine }),
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
