import * as z from 'zod'
import { clipped } from '../../base/text.ts'
import { wireApis } from '../model/provider-config.ts'
import type { SettingSpec } from './settings.ts'

/**
 * A setting with everything the manifest says about it.
 *
 * Source: runtime specification 24.2. `manifest.ts` turns these into `contributes.configuration`.
 */
export interface SettingEntry<T = unknown> extends SettingSpec<T> {
  /** Who may set it: a workspace too (`window`), the person on this machine, or the person everywhere. */
  readonly scope: 'window' | 'machine' | 'application'
  /** For the settings page. */
  readonly description: string
  /** What a good value is, in words: "a whole number of 1 or more". */
  readonly expects: string
  readonly schema: z.ZodType<T>
  /** Ignored in a folder that is not trusted: where the talk goes, what it may spend, what may run. */
  readonly isRestricted: boolean
  /** When a change takes hold; absent: at once. */
  readonly applies?: 'restart'
  /** Places in the value that reports mask, `*` for any key. */
  readonly secretPaths?: readonly (readonly string[])[]
}

type Draft<T> = Omit<SettingEntry<T>, 'parse' | 'isRestricted'> & { readonly isRestricted?: true }

function setting<T>(draft: Draft<T>): SettingEntry<T> {
  return {
    isRestricted: false,
    ...draft,
    parse(raw) {
      const outcome = draft.schema.safeParse(raw)
      if (outcome.success) return outcome.data
      const at = outcome.error.issues[0]?.path ?? []
      const where = at.length > 0 ? ` at ${at.join('.')}` : ''
      // Secrets do not go into messages.
      const found = draft.secretPaths === undefined ? `, but is ${shown(raw)}` : ''
      throw new TypeError(`bosun.${draft.key} must be ${draft.expects}${where}${found}.`)
    },
  }
}

const count = (least: number) => z.int().min(least)
/** Not blank; the pattern says so to the settings page, which does not trim. */
const text = z.string().trim().min(1).regex(/\S/)
const names = z.array(text)
/** Source: RFC 9110, 5.1 and 5.5. */
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/)
const headerValue = z.string().regex(/^[^\r\n\0]*$/)
/** A file below a folder: no step out of it. */
const fileNames = z.array(text.regex(/^(?!.*(^|\/)\.\.(\/|$))[^/\\:][^\\:]*$/))

const dollars = z.number().min(0)

/** Facts about one model that the person knows better than the catalogue. */
export const modelFactsSchema = z.strictObject({
  name: text.optional(),
  /** Tokens. */
  contextWindow: count(1).optional(),
  maxOutputTokens: count(1).optional(),
  images: z.boolean().optional(),
  reasoningEfforts: names.optional(),
  /** Dollars per million tokens. What is not said of the cache costs as much as other input. */
  price: z.strictObject({ input: dollars, cacheRead: dollars.optional(), cacheWrite: dollars.optional(), output: dollars }).optional(),
})
export type ModelFactsSetting = z.infer<typeof modelFactsSchema>

/** One entry of `languageServers`. */
export const languageServerSchema = z
  .strictObject({
    command: text,
    args: z.array(z.string()).default([]),
    /** The editor's ids. */
    languages: names.default([]),
    files: names.default([]),
    initializationOptions: z.json().exactOptional(),
    env: z.record(text, z.string()).default({}),
  })
  .refine(({ languages, files }) => languages.length + files.length > 0, { message: 'languages or files is missing' })
export type LanguageServerSetting = z.infer<typeof languageServerSchema>

/** One entry of `providers`. */
export const providerSchema = z.strictObject({
  name: text.optional(),
  /** The protocol its server speaks. */
  api: z.enum(wireApis).default('openai-compatible'),
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** Models to offer, or facts by model. */
  models: z.union([names, z.record(text, modelFactsSchema)]).optional(),
  headers: z.record(headerName, headerValue).optional(),
  /** Name of the key in the secrets or the environment; null: the server wants none. */
  keyName: text.nullable().optional(),
  contextWindow: count(1).optional(),
  maxOutputTokens: count(1).optional(),
  images: z.boolean().optional(),
  reasoningEfforts: names.optional(),
  /** It runs on this machine. */
  isLocal: z.boolean().optional(),
  /** How the effort is told. */
  effortStyle: z.enum(['reasoning_effort', 'deepseek', 'openrouter']).optional(),
  /** In the place of `llm.retry.*` for this provider, field by field. */
  retry: z
    .strictObject({
      mode: z.enum(['normal', 'always']).optional(),
      maxRetries: count(0).optional(),
      initialDelayMs: count(0).optional(),
      maxDelayMs: count(0).optional(),
      jitter: z.number().min(0).max(1).optional(),
    })
    .optional(),
  /** The model's reasoning goes back with later requests: always, while it calls tools, or never. */
  reasoningPassback: z.enum(['always', 'never']).optional(),
})
export type ProviderSetting = z.infer<typeof providerSchema>

/** One entry of `permissions.rules`. */
export const permissionRuleSchema = z.strictObject({
  tool: text,
  match: text.optional(),
  path: text.optional(),
  /** For commands and tools that reach the network. */
  host: text.optional(),
  /** The folder whose sessions it holds in. */
  folder: text.optional(),
  decision: z.enum(['allow', 'ask', 'deny']),
})
export type PermissionRuleSetting = z.infer<typeof permissionRuleSchema>

const webProviderSchema = z.strictObject({
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  keyName: text.optional(),
  model: text.optional(),
})
/** `tools.web.providers`, by the provider. */
export const webProvidersSchema = z.strictObject({
  searxng: webProviderSchema.optional(),
  brave: webProviderSchema.optional(),
  tavily: webProviderSchema.optional(),
  exa: webProviderSchema.optional(),
  deepseek: webProviderSchema.optional(),
})
export type WebProviderName = keyof z.infer<typeof webProvidersSchema>

const share = z.number().gt(0).lt(1)

/** One entry of `compaction.modelPolicies`: what is other for these models. */
export const compactionPolicySchema = z.strictObject({
  /** Of all providers when absent. */
  provider: text.optional(),
  model: text,
  auto: z.boolean().optional(),
  thresholdRatio: share.optional(),
  retainRatio: share.optional(),
  /** In the place of the ratio. */
  retainTokens: count(0).optional(),
  maxTokens: count(1).optional(),
})
export type CompactionPolicySetting = z.infer<typeof compactionPolicySchema>

/** Every setting by name. `providers` and `permissions.rules` are read entry by entry where they are used, so that a bad entry spoils no good one. */
export const settings = {
  modelProvider: setting({
    key: 'model.provider',
    fallback: 'deepseek-official',
    scope: 'window',
    description: 'Which provider answers: one of Bosun’s own, or one that `#bosun.providers#` names.',
    expects: 'the name of a provider',
    schema: text,
    isRestricted: true,
  }),
  modelName: setting({
    key: 'model.name',
    fallback: 'deepseek-v4-pro',
    scope: 'window',
    description: 'The model, as its provider spells it.',
    expects: 'the name of a model',
    schema: text,
    isRestricted: true,
  }),
  modelReasoningEffort: setting<string | null>({
    key: 'model.reasoningEffort',
    fallback: 'high',
    scope: 'window',
    description: 'How hard the model thinks, in the provider’s words, such as `low`, `high` or `max`. Left out for models that know no efforts; `null` leaves the choice to the provider.',
    expects: 'one word, or null',
    schema: text.nullable(),
    isRestricted: true,
  }),
  modelMaxTokens: setting<number | null>({
    key: 'model.maxTokens',
    fallback: null,
    scope: 'window',
    description: 'Tokens one answer may have. `null`: as many as the model can.',
    expects: 'a whole number of 1 or more, or null',
    schema: count(1).nullable(),
    isRestricted: true,
  }),
  modelTemperature: setting<number | null>({
    key: 'model.temperature',
    fallback: null,
    scope: 'window',
    description: 'Spread of the model’s choices, 0 to 2. `null`: as the provider does by itself.',
    expects: 'a number from 0 to 2, or null',
    schema: z.number().min(0).max(2).nullable(),
  }),
  modelFallback: setting<readonly string[]>({
    key: 'model.fallback',
    fallback: [],
    scope: 'window',
    description: 'Models that take over for the rest of a turn when the chosen one is out (no answer, its own failure, a long rate limit, a used-up quota), as `provider/model`, in order. The chat says so when it happens.',
    expects: 'a list of texts such as "deepseek-official/deepseek-v4-flash"',
    schema: z.array(z.string().regex(/^[^/\s]+\/\S+$/)),
    isRestricted: true,
  }),
  modelFacts: setting<Readonly<Record<string, ModelFactsSetting>>>({
    key: 'model.facts',
    fallback: {},
    scope: 'machine',
    description: 'What you know better about a model, by its name or `provider/name`: `{"my-server/my-model": {"contextWindow": 131072, "maxOutputTokens": 8192, "images": true, "reasoningEfforts": ["low", "high"], "price": {"input": 1, "cacheRead": 0.1, "cacheWrite": 1.25, "output": 4}}}`, prices in dollars per million tokens. The same object may stand in `~/.bosun/models.json`; what is said here counts for more.',
    expects: 'an object of facts by model: contextWindow, maxOutputTokens, images, reasoningEfforts, name, price {input, cacheRead, cacheWrite, output}',
    schema: z.record(text, modelFactsSchema),
  }),
  providers: setting<Readonly<Record<string, ProviderSetting>>>({
    key: 'providers',
    fallback: {},
    scope: 'machine',
    description: 'Model servers by a name of your own: `{"my-server": {"baseUrl": "http://127.0.0.1:8000/v1", "models": ["my-model"], "keyName": null}}`. `api` names the protocol: `openai-compatible` (when it is left out), `anthropic`, `openai-responses` or `google`; the last three are at home at their makers’, so `{"claude": {"api": "anthropic"}}` is enough. An entry named like one of Bosun’s own providers changes that one.',
    expects: 'an object of providers, each with an api that Bosun speaks or a baseUrl that starts with http:// or https://',
    schema: z.record(text, providerSchema),
    isRestricted: true,
    secretPaths: [['*', 'headers', '*']],
  }),
  languageServers: setting<Readonly<Record<string, LanguageServerSetting>>>({
    key: 'languageServers',
    fallback: {},
    scope: 'window',
    description: 'Language servers by a name of your own, for languages that the editor does not know: `{"zls": {"command": "zls", "args": [], "languages": ["zig"], "files": ["**/*.zig"]}}`, also with `initializationOptions` and `env`. A server is started when a file of its languages is first asked about and no extension answers for it.',
    expects: 'an object of servers, each with a command and with languages or files',
    schema: z.record(text, languageServerSchema),
    isRestricted: true,
  }),
  llmIdleTimeoutMs: setting({
    key: 'llm.idleTimeoutMs',
    fallback: 300_000,
    scope: 'machine',
    description: 'Milliseconds a model may be silent before the request ends.',
    expects: 'a whole number of 100 or more',
    schema: count(100),
  }),
  llmRetryMode: setting<'normal' | 'always'>({
    key: 'llm.retry.mode',
    fallback: 'normal',
    scope: 'machine',
    description: '`normal` gives up after `#bosun.llm.retry.maxRetries#`, `always` never does.',
    expects: '"normal" or "always"',
    schema: z.enum(['normal', 'always']),
  }),
  llmRetryMaxRetries: setting({
    key: 'llm.retry.maxRetries',
    fallback: 5,
    scope: 'machine',
    description: 'How often a request that failed for a passing reason is sent again.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
  }),
  llmRetryInitialDelayMs: setting({
    key: 'llm.retry.initialDelayMs',
    fallback: 500,
    scope: 'machine',
    description: 'Milliseconds before the first retry; each further wait is twice as long.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
  }),
  llmRetryMaxDelayMs: setting({
    key: 'llm.retry.maxDelayMs',
    fallback: 10_000,
    scope: 'machine',
    description: 'The longest wait before a retry, in milliseconds. A provider that asks for more ends the turn in `normal` mode.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
  }),
  llmRetryJitter: setting({
    key: 'llm.retry.jitter',
    fallback: 0.1,
    scope: 'machine',
    description: 'Share by which a wait is spread to both sides, 0 to 1.',
    expects: 'a number from 0 to 1',
    schema: z.number().min(0).max(1),
  }),
  agentDefaultPreset: setting({
    key: 'agent.defaultPreset',
    fallback: 'editor',
    scope: 'window',
    description: 'The preset of a new session.',
    expects: 'the name of a preset',
    schema: text,
    isRestricted: true,
  }),
  agentMaxParallelToolCalls: setting({
    key: 'agent.maxParallelToolCalls',
    fallback: 10,
    scope: 'window',
    description: 'How many tools that do not disturb each other run at once.',
    expects: 'a whole number of 1 or more',
    schema: count(1),
  }),
  agentMaxStepsPerTurn: setting({
    key: 'agent.maxStepsPerTurn',
    fallback: 200,
    scope: 'window',
    description: 'Steps after which a turn pauses and asks whether to go on. 0: no limit.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
    isRestricted: true,
  }),
  agentMaxMinutesPerTurn: setting({
    key: 'agent.maxMinutesPerTurn',
    fallback: 0,
    scope: 'window',
    description: 'Minutes after which a turn pauses, before its next step, and asks whether to go on; waiting for your answers counts too. 0: no limit.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
    isRestricted: true,
  }),
  sessionsRetentionDays: setting({
    key: 'sessions.retentionDays',
    fallback: 0,
    scope: 'machine',
    description: 'Days after which a session that nobody touched is deleted. Sessions that you named, that are open, or that others were forked from and are still used, stay. 0: every session is kept.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
  }),
  checkpointsEnabled: setting({
    key: 'checkpoints.enabled',
    fallback: true,
    scope: 'machine',
    description: 'Keep what the agent changes, so that you can review it, keep it or take it back.',
    expects: 'true or false',
    schema: z.boolean(),
  }),
  checkpointsMaxAgeDays: setting({
    key: 'checkpoints.maxAgeDays',
    fallback: 14,
    scope: 'machine',
    description: 'Days after which what stood in files before a change is given up. It can be seen and taken back until then. 0: kept as long as its session.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
  }),
  sessionsMaxSpillMb: setting({
    key: 'sessions.maxSpillMb',
    fallback: 500,
    scope: 'machine',
    description: 'Megabytes that output too long for the talk may take for all sessions together. More makes that of the sessions untouched for longest go; the talks themselves stay. 0: no limit. “Bosun: Show Storage” lists what takes how much.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
  }),
  titlesEnabled: setting({
    key: 'titles.enabled',
    fallback: true,
    scope: 'machine',
    description: 'A model gives each session its title. Off: the title is the first words of the first message.',
    expects: 'true or false',
    schema: z.boolean(),
  }),
  titlesModel: setting<string | null>({
    key: 'titles.model',
    fallback: null,
    scope: 'machine',
    description: 'Which model makes titles, as `provider/model`. `null`: the one that answers.',
    expects: 'a text such as "deepseek-official/deepseek-v4-flash", or null',
    schema: z.string().regex(/^[^/\s]+\/\S+$/).nullable(),
  }),
  agentCostLimit: setting({
    key: 'agent.costLimit',
    fallback: 0,
    scope: 'window',
    description: 'Dollars after which a session pauses and asks whether to go on; agents that it starts are counted in. Holds where the price of the model is known. 0: no limit.',
    expects: 'a number of 0 or more',
    schema: dollars,
    isRestricted: true,
  }),
  agentTurnCostLimit: setting({
    key: 'agent.turnCostLimit',
    fallback: 0,
    scope: 'window',
    description: 'The same for one turn, in dollars. 0: no limit.',
    expects: 'a number of 0 or more',
    schema: dollars,
    isRestricted: true,
  }),
  agentDayCostLimit: setting({
    key: 'agent.dayCostLimit',
    fallback: 0,
    scope: 'window',
    description: 'The same for all sessions of a day, in dollars. 0: no limit.',
    expects: 'a number of 0 or more',
    schema: dollars,
    isRestricted: true,
  }),
  agentTokenLimit: setting({
    key: 'agent.tokenLimit',
    fallback: 0,
    scope: 'window',
    description: 'Tokens, cached ones too, after which a session pauses and asks whether to go on; agents that it starts are counted in. 0: no limit.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
    isRestricted: true,
  }),
  agentTurnTokenLimit: setting({
    key: 'agent.turnTokenLimit',
    fallback: 0,
    scope: 'window',
    description: 'The same for one turn, in tokens. 0: no limit.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
    isRestricted: true,
  }),
  agentDayTokenLimit: setting({
    key: 'agent.dayTokenLimit',
    fallback: 0,
    scope: 'window',
    description: 'The same for all sessions of a day, in tokens. 0: no limit.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
    isRestricted: true,
  }),
  toolsDisabled: setting<readonly string[]>({
    key: 'tools.disabled',
    fallback: [],
    scope: 'window',
    description: 'Tools that models are not offered.',
    expects: 'a list of tool names',
    schema: names,
  }),
  toolsOrder: setting<readonly string[]>({
    key: 'tools.order',
    fallback: ['<unlisted-tools>'],
    scope: 'window',
    description: 'The order in which tools are declared to the model. `<unlisted-tools>` stands for all that are not named, by name. A change makes the provider read the whole conversation anew once.',
    expects: 'a list of different tool names with "<unlisted-tools>" once',
    schema: names.refine((list) => list.includes('<unlisted-tools>') && new Set(list).size === list.length),
  }),
  promptIncludeHarnessIdentity: setting({
    key: 'prompt.includeHarnessIdentity',
    fallback: true,
    scope: 'window',
    description: 'Tell the model that it is Bosun.',
    expects: 'true or false',
    schema: z.boolean(),
    isRestricted: true,
  }),
  promptIncludeRuntimeContext: setting({
    key: 'prompt.includeRuntimeContext',
    fallback: true,
    scope: 'window',
    description: 'Tell the model about its surroundings: permissions, trust, and what `#bosun.context.include#` names.',
    expects: 'true or false',
    schema: z.boolean(),
    isRestricted: true,
  }),
  promptPersona: setting({
    key: 'prompt.persona',
    fallback: '',
    scope: 'window',
    description: 'Your own words in the system prompt of every conversation: how the model should work and speak. `{{cwd}}`, `{{provider}}` and `{{model}}` are filled in. Presets with a prompt of their own leave it out.',
    expects: 'a text of at most 20000 characters',
    schema: z.string().max(20_000),
    isRestricted: true,
  }),
  contextInclude: setting<readonly ('workspace' | 'activeEditor' | 'openEditors' | 'problems' | 'git' | 'time')[]>({
    key: 'context.include',
    fallback: ['workspace', 'activeEditor', 'openEditors', 'problems', 'git'],
    scope: 'window',
    description: 'What the model is told about the editor at the start of a turn, when it changed: further workspace folders, the file in front, open editors and unsaved files, counts of problems, the Git branch. `time` adds the local time, which changes with every turn.',
    expects: 'a list of "workspace", "activeEditor", "openEditors", "problems", "git" and "time"',
    schema: z.array(z.enum(['workspace', 'activeEditor', 'openEditors', 'problems', 'git', 'time'])),
  }),
  toolsMaxInlineBytes: setting({
    key: 'tools.maxInlineBytes',
    fallback: 50_000,
    scope: 'window',
    description: 'Bytes of a tool’s output that go to the model; the whole of a longer one is kept in a file. 0: no limit.',
    expects: 'a whole number: 0, or 1000 or more',
    schema: count(0).refine((value) => value === 0 || value >= 1000),
    isRestricted: true,
  }),
  searchRipgrepPath: setting<string | null>({
    key: 'search.ripgrepPath',
    fallback: null,
    scope: 'machine',
    description: 'The ripgrep that searches for `glob` and `grep`. `null`: the one that ships with Bosun, else the editor’s own, else the one on PATH.',
    expects: 'an absolute path or null',
    schema: z.string().regex(/^([\\/]|[A-Za-z]:[\\/])/).nullable(),
    isRestricted: true,
  }),
  toolsNewProblemsWaitMs: setting({
    key: 'tools.newProblems.waitMs',
    fallback: 1_500,
    scope: 'window',
    description: 'Milliseconds to wait, after the agent changed a file, for what the language services find wrong with it; only what is new is told. 0: do not wait.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
  }),
  toolsRepeatReminderThresholds: setting<readonly number[]>({
    key: 'tools.repeatReminder.thresholds',
    fallback: [3, 5, 8],
    scope: 'window',
    description: 'After how many equal calls in a row the model is reminded that it repeats itself.',
    expects: 'a list of different whole numbers of 2 or more',
    schema: z.array(count(2)).refine((list) => new Set(list).size === list.length),
    applies: 'restart',
  }),
  shellPath: setting<string | null>({
    key: 'shell.path',
    fallback: null,
    scope: 'machine',
    description: 'The `bash` (or `pwsh`) that runs commands. `null`: the one found on the system.',
    expects: 'a path, or null',
    schema: text.nullable(),
    isRestricted: true,
  }),
  shellOffered: setting<'auto' | 'bash' | 'pwsh' | 'both'>({
    key: 'shell.offered',
    fallback: 'auto',
    scope: 'machine',
    description: 'Which shells the model gets. `auto`: PowerShell on Windows, bash elsewhere. Two at once confuse models.',
    expects: '"auto", "bash", "pwsh" or "both"',
    schema: z.enum(['auto', 'bash', 'pwsh', 'both']),
    applies: 'restart',
    isRestricted: true,
  }),
  terminalsAdopt: setting({
    key: 'terminals.adopt',
    fallback: false,
    scope: 'machine',
    description: 'Whether the model learns of your own terminals (name, shell, folder) and may ask to read and type in one of them. Each is asked for.',
    expects: 'true or false',
    schema: z.boolean(),
    applies: 'restart',
    isRestricted: true,
  }),
  terminalsProfiles: setting<readonly string[]>({
    key: 'terminals.profiles',
    fallback: [],
    scope: 'machine',
    description: 'Names of your terminal profiles (`terminal.integrated.profiles`) that the model may open terminals with, beside bash, sh and PowerShell. What it types there is always asked for.',
    expects: 'a list of names',
    schema: names,
    applies: 'restart',
    isRestricted: true,
  }),
  shellTimeoutMs: setting({
    key: 'shell.timeoutMs',
    fallback: 120_000,
    scope: 'machine',
    description: 'Milliseconds a command may run when the model names no limit.',
    expects: 'a whole number of 1000 or more',
    schema: count(1000),
    isRestricted: true,
  }),
  jobsMaxConsecutiveWakes: setting({
    key: 'jobs.maxConsecutiveWakes',
    fallback: 3,
    scope: 'machine',
    description: 'How many turns commands in the background may start in a row, by their end, a line that is waited for or a question, before you say something again. `0`: none; the model hears of it in its next turn.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
    isRestricted: true,
  }),
  jobsPorts: setting<'offer' | 'open' | 'ignore'>({
    key: 'jobs.ports',
    fallback: 'offer',
    scope: 'machine',
    description: 'What becomes of a port that a command in the background listens at: `offer` shows it in the tree of jobs and in the chat, and in a notification when neither is seen; `open` opens it in the browser at once; `ignore` does neither.',
    expects: '"offer", "open" or "ignore"',
    schema: z.enum(['offer', 'open', 'ignore']),
  }),
  jobsProblems: setting({
    key: 'jobs.problems',
    fallback: true,
    scope: 'window',
    description: 'Put the problems that a command in the background names in its output, such as a watching compiler, into the editor’s list of problems.',
    expects: 'true or false',
    schema: z.boolean(),
  }),
  toolsWebSearchProvider: setting<WebProviderName | null>({
    key: 'tools.web.searchProvider',
    fallback: null,
    scope: 'machine',
    description: 'Who searches the web for the tool `web_search`: `searxng` (your own server, whose address stands in `#bosun.tools.web.providers#`), `brave`, `tavily`, `exa`, or `deepseek`, where each search costs a turn of a small model. `null`: the one of the first four that has its key or address; without any, models are not offered the tool.',
    expects: '"searxng", "brave", "tavily", "exa", "deepseek", or null',
    schema: z.enum(['searxng', 'brave', 'tavily', 'exa', 'deepseek']).nullable(),
    isRestricted: true,
  }),
  toolsWebProviders: setting<z.infer<typeof webProvidersSchema>>({
    key: 'tools.web.providers',
    fallback: {},
    scope: 'machine',
    description: 'Where providers of web searches are, and the names of their keys: `{"searxng": {"baseUrl": "https://search.example.com"}}`. Keys themselves are set with **Bosun: Set API Key**, or in the environment as `BRAVE_API_KEY`, `TAVILY_API_KEY`, `EXA_API_KEY` or `DEEPSEEK_API_KEY`.',
    expects: 'an object with "searxng", "brave", "tavily", "exa" or "deepseek", each with baseUrl (http:// or https://), keyName or model',
    schema: webProvidersSchema,
    isRestricted: true,
  }),
  toolsWebFetchEnabled: setting({
    key: 'tools.web.fetchEnabled',
    fallback: true,
    scope: 'window',
    description: 'Offer models the tool `web_fetch`, in presets that have it: it reads single pages, asks once for each host, and stays out of private networks.',
    expects: 'true or false',
    schema: z.boolean(),
    isRestricted: true,
  }),
  toolsWebAllowedPrivateHosts: setting<readonly string[]>({
    key: 'tools.web.allowedPrivateHosts',
    fallback: [],
    scope: 'machine',
    description: 'Hosts of this machine or of private networks that `web_fetch` may read as it reads public ones, such as `localhost:3000` or `wiki.corp.example`; a port narrows it to that port. All other private networks are closed; `localhost` is asked for by its port.',
    expects: 'a list of host names or addresses, each with or without a port',
    schema: z.array(text.regex(/^(?!.*\/\/)[^\s/@]+$/)),
    isRestricted: true,
  }),
  toolsWebTimeoutMs: setting({
    key: 'tools.web.timeoutMs',
    fallback: 60_000,
    scope: 'window',
    description: 'Milliseconds a web search may take; a page has at most 29 seconds of them.',
    expects: 'a whole number from 1000 to 600000',
    schema: z.int().min(1_000).max(600_000),
  }),
  sandboxUse: setting<'auto' | 'off' | 'require'>({
    key: 'sandbox.use',
    fallback: 'auto',
    scope: 'machine',
    description: 'Whether the system holds the model’s commands to what the session may write (`bubblewrap` on Linux, Seatbelt on macOS). `auto`: where it can; `require`: nothing runs where it cannot; `off`: never. It confines files, not the network.',
    expects: '"auto", "off" or "require"',
    schema: z.enum(['auto', 'off', 'require']),
    isRestricted: true,
  }),
  sandboxWritableFolders: setting<readonly string[]>({
    key: 'sandbox.writableFolders',
    fallback: [],
    scope: 'machine',
    description: 'Folders beside the workspace in which confined commands may write, such as `~/.npm` or `~/.cache`, where package managers keep what they load.',
    expects: 'a list of paths that begin with / or ~/',
    schema: z.array(z.string().regex(/^(~?\/|[A-Za-z]:[\\/])/)),
    isRestricted: true,
  }),
  sandboxAllowConfined: setting({
    key: 'sandbox.allowConfined',
    fallback: false,
    scope: 'machine',
    description: 'Whether commands that the system confines to the workspace run without a question. Your rules that deny or ask, and commands that throw work away, keep their say. Such a command can still use the network.',
    expects: 'true or false',
    schema: z.boolean(),
    isRestricted: true,
  }),
  permissionsDefaultPreset: setting<'read-only' | 'workspace-write' | 'danger-full-access'>({
    key: 'permissions.defaultPreset',
    fallback: 'workspace-write',
    scope: 'machine',
    description: 'What a new session may do: only read, change files of the workspace after asking, or everything without asking.',
    expects: '"read-only", "workspace-write" or "danger-full-access"',
    schema: z.enum(['read-only', 'workspace-write', 'danger-full-access']),
    isRestricted: true,
  }),
  permissionsRules: setting<readonly PermissionRuleSetting[]>({
    key: 'permissions.rules',
    fallback: [],
    scope: 'window',
    description: 'Standing answers: `{"tool": "bash", "match": "npm test *", "decision": "allow"}` or `{"tool": "edit", "path": "src/**", "decision": "allow"}`, or `{"tool": "web_fetch", "host": "*.example.com", "decision": "allow"}`. In a workspace’s settings only `ask` and `deny` count.',
    expects: 'a list of rules {tool, match?, path?, host?, folder?, decision: "allow" | "ask" | "deny"}',
    schema: z.array(permissionRuleSchema),
    isRestricted: true,
  }),
  permissionsSensitivePaths: setting<readonly string[]>({
    key: 'permissions.sensitivePaths',
    fallback: [
      '**/.env',
      '**/.env.*',
      '!**/.env.example',
      '!**/.env.sample',
      '!**/.env.template',
      '**/*.pem',
      '**/*.key',
      '**/*.p12',
      '**/*.pfx',
      '**/*.keystore',
      '**/*.jks',
      '**/id_rsa',
      '**/id_dsa',
      '**/id_ecdsa',
      '**/id_ed25519',
      '**/.ssh/**',
      '**/.gnupg/**',
      '**/.aws/credentials',
      '**/.netrc',
      '**/.npmrc',
      '**/.pypirc',
      '**/.git-credentials',
      '**/.docker/config.json',
      '**/.kube/config',
      '**/.git/**',
    ],
    scope: 'machine',
    description: 'Paths that no tool may read or change, shell commands included. A later line that begins with `!` takes paths out again.',
    expects: 'a list of path patterns',
    schema: names,
    isRestricted: true,
  }),
  referencesMaxResults: setting({
    key: 'references.maxResults',
    fallback: 20,
    scope: 'window',
    description: 'How many files, folders, symbols and sessions the menu behind an `@` offers.',
    expects: 'a whole number from 5 to 100',
    schema: z.int().min(5).max(100),
  }),
  instructionsFiles: setting<readonly string[]>({
    key: 'instructions.files',
    fallback: ['AGENTS.md', 'CLAUDE.md'],
    scope: 'window',
    description: 'Files with standing instructions for the model, looked for in every folder from the project’s root down to the workspace folder, and in folders below it that are worked in.',
    expects: 'a list of file names without `..`',
    schema: fileNames,
  }),
  instructionsLocalFiles: setting<readonly string[]>({
    key: 'instructions.localFiles',
    fallback: ['AGENTS.local.md', 'CLAUDE.local.md'],
    scope: 'window',
    description: 'The same for instructions of your own that are not shared; they go before the others of their folder.',
    expects: 'a list of file names without `..`',
    schema: fileNames,
  }),
  instructionsAlsoRead: setting<readonly ('.github/copilot-instructions.md' | '.cursor/rules')[]>({
    key: 'instructions.alsoRead',
    fallback: [],
    scope: 'window',
    description: 'Instruction files of other tools to read as well.',
    expects: 'a list of ".github/copilot-instructions.md" and ".cursor/rules"',
    schema: z.array(z.enum(['.github/copilot-instructions.md', '.cursor/rules'])),
  }),
  instructionsMaxBytes: setting({
    key: 'instructions.maxBytes',
    fallback: 65_536,
    scope: 'window',
    description: 'Bytes that one message with instruction files may have. Broader files are left out first, then the most specific one is cut; **Bosun: Show Instruction Files** tells which. 0: no instruction files are read.',
    expects: 'a whole number: 0, or 1000 or more',
    schema: count(0).refine((value) => value === 0 || value >= 1000),
  }),
  instructionsRootMarkers: setting<readonly string[]>({
    key: 'instructions.rootMarkers',
    fallback: ['.git'],
    scope: 'window',
    description: 'What stands in the root folder of a project. The nearest folder above a workspace folder that holds one of these is where instruction files begin.',
    expects: 'a list of file or folder names without `..`',
    schema: fileNames,
  }),
  skillsAlsoRead: setting<readonly ('.claude/skills' | '.github/skills')[]>({
    key: 'skills.alsoRead',
    fallback: ['.claude/skills'],
    scope: 'window',
    description: 'Folders of other tools to look for skills in, beside `.bosun/skills` and `.agents/skills`.',
    expects: 'a list of ".claude/skills" and ".github/skills"',
    schema: z.array(z.enum(['.claude/skills', '.github/skills'])),
  }),
  skillsFolders: setting<readonly string[]>({
    key: 'skills.folders',
    fallback: [],
    scope: 'machine',
    description: 'More folders with skills of your own, absolute or below `~/`. Skills of a project go before them.',
    expects: 'a list of absolute paths, or of paths that begin with ~/',
    schema: z.array(z.string().regex(/^(~?\/|[A-Za-z]:[\\/]|\\\\)/)),
  }),
  skillsMaxCatalogueBytes: setting({
    key: 'skills.maxCatalogueBytes',
    fallback: 16_384,
    scope: 'window',
    description: 'Bytes that the list of skills may have which the model is told. Descriptions are shortened first, then the last skills are left out. 0: the model is told of none; you can still call them with `/`.',
    expects: 'a whole number: 0, or 1000 or more',
    schema: count(0).refine((value) => value === 0 || value >= 1000),
  }),
  compactionAuto: setting({
    key: 'compaction.auto',
    fallback: true,
    scope: 'window',
    description: 'Make room by itself when a conversation is about to outgrow the model’s window: old tool output is shortened, and the older part is replaced by a summary. You still see all of it.',
    expects: 'true or false',
    schema: z.boolean(),
  }),
  compactionModel: setting<string | null>({
    key: 'compaction.model',
    fallback: null,
    scope: 'machine',
    description: 'Which model writes the summaries, as `provider/model`; when it fails, the one that answers does. `null`: the one that answers, which has the conversation in its cache and so is often the cheapest.',
    expects: 'a text such as "deepseek-official/deepseek-v4-flash", or null',
    schema: z.string().regex(/^[^/\s]+\/\S+$/).nullable(),
  }),
  compactionThresholdRatio: setting({
    key: 'compaction.thresholdRatio',
    fallback: 0.8,
    scope: 'window',
    description: 'Share of the model’s window, room for the answer left out, at which a conversation is compacted.',
    expects: 'a number between 0 and 1',
    schema: share,
  }),
  compactionRetainRatio: setting({
    key: 'compaction.retainRatio',
    fallback: 0.16,
    scope: 'window',
    description: 'Share of the model’s window that keeps the newest messages as they are when the older ones are summarised.',
    expects: 'a number between 0 and 1',
    schema: share,
  }),
  compactionMaxTokens: setting({
    key: 'compaction.maxTokens',
    fallback: 8_192,
    scope: 'window',
    description: 'Tokens a summary may have.',
    expects: 'a whole number of 256 or more',
    schema: count(256),
  }),
  compactionRetries: setting({
    key: 'compaction.retries',
    fallback: 1,
    scope: 'window',
    description: 'How often a summary that failed is asked for again.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
    isRestricted: true,
  }),
  compactionMaxOverflowRetries: setting({
    key: 'compaction.maxOverflowRetries',
    fallback: 1,
    scope: 'window',
    description: 'How often a step is sent again after the provider found it too long and room was made.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
    isRestricted: true,
  }),
  compactionModelPolicies: setting<readonly CompactionPolicySetting[]>({
    key: 'compaction.modelPolicies',
    fallback: [],
    scope: 'window',
    description: 'Other values for single models: `[{"model": "my-model", "thresholdRatio": 0.6}]`. An entry may name its `provider`, and set `auto`, `thresholdRatio`, `retainRatio` or `retainTokens`, and `maxTokens`; the first that fits counts.',
    expects: 'a list of entries, each with a model',
    schema: z.array(compactionPolicySchema),
  }),
  compactionPruneTrigger: setting({
    key: 'compaction.prune.trigger',
    fallback: 8_192,
    scope: 'window',
    description: 'Characters from which on old tool output is shortened when room is needed.',
    expects: 'a whole number of 256 or more',
    schema: count(256),
  }),
  compactionPruneHead: setting({
    key: 'compaction.prune.head',
    fallback: 4_096,
    scope: 'window',
    description: 'Characters that shortened tool output keeps of its beginning.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
  }),
  compactionPruneTail: setting({
    key: 'compaction.prune.tail',
    fallback: 1_024,
    scope: 'window',
    description: 'Characters that shortened tool output keeps of its end.',
    expects: 'a whole number of 0 or more',
    schema: count(0),
  }),
  hooksEnabled: setting({
    key: 'hooks.enabled',
    fallback: true,
    scope: 'machine',
    description: 'Run the commands that agent configurations name for moments of a session. Each file’s commands run only after you let them.',
    expects: 'true or false',
    schema: z.boolean(),
    isRestricted: true,
  }),
  hooksSources: setting<readonly ('claude' | 'codex' | 'bosun')[]>({
    key: 'hooks.sources',
    fallback: ['claude', 'bosun'],
    scope: 'machine',
    description: 'Whose configurations are read: `.claude/settings.json`, `.codex/hooks.json`, `.bosun/hooks.json`, in the home folder and in the project.',
    expects: 'a list of "claude", "codex" and "bosun"',
    schema: z.array(z.enum(['claude', 'codex', 'bosun'])),
    isRestricted: true,
  }),
  hooksTimeoutMs: setting({
    key: 'hooks.timeoutMs',
    fallback: 600_000,
    scope: 'machine',
    description: 'Milliseconds one hook may run.',
    expects: 'a whole number of 100 or more',
    schema: count(100),
    isRestricted: true,
  }),
  hooksAllowed: setting<readonly string[]>({
    key: 'hooks.allowed',
    fallback: [],
    scope: 'machine',
    description: 'Digests of the configuration files whose commands you let run. Written by the command “Review Hooks…”; a file that changes waits again.',
    expects: 'a list of digests',
    schema: names,
    isRestricted: true,
  }),
  uiShowReasoning: setting<'collapsed' | 'open' | 'hidden'>({
    key: 'ui.showReasoning',
    fallback: 'collapsed',
    scope: 'application',
    description: 'How the model’s thinking is shown in the chat.',
    expects: '"collapsed", "open" or "hidden"',
    schema: z.enum(['collapsed', 'open', 'hidden']),
  }),
  uiDiffMode: setting<'editor' | 'chat'>({
    key: 'ui.diffMode',
    fallback: 'editor',
    scope: 'application',
    description: 'Where changes of the agent are marked for review: in the editor’s gutter with Keep and Undo over each of them, or in the chat and the Changes view only.',
    expects: '"editor" or "chat"',
    schema: z.enum(['editor', 'chat']),
  }),
  uiFollowAlong: setting({
    key: 'ui.followAlong',
    fallback: false,
    scope: 'application',
    description: 'Show each file that the agent changes as a preview, without taking the focus.',
    expects: 'true or false',
    schema: z.boolean(),
  }),
  notificationsWhenHidden: setting<readonly ('approvals' | 'questions' | 'turnEnd')[]>({
    key: 'notifications.whenHidden',
    fallback: ['approvals', 'questions', 'turnEnd'],
    scope: 'application',
    description: 'What the editor notifies you of while the chat is hidden.',
    expects: 'a list of "approvals", "questions" and "turnEnd"',
    schema: z.array(z.enum(['approvals', 'questions', 'turnEnd'])),
  }),
} as const

/** Every setting, in the order of the settings page. */
export const settingEntries: readonly SettingEntry[] = Object.values(settings)

function shown(raw: unknown): string {
  const json = JSON.stringify(raw) ?? String(raw)
  return clipped(json, 80)
}
