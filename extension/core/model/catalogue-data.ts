import type { ModelPrice } from './contract.ts'
import type { ModelFacts } from './provider-config.ts'

/** The models of one maker, as its own service sells them. */
export interface MakerRow {
  /** Provider ids and hosts of the maker's own service: only there its prices hold. */
  readonly providers: readonly string[]
  readonly hosts: readonly string[]
  /** When the price page was read, year and month. */
  readonly readIn: string
  /** By exact name; a name with a date at its end is the same model. */
  readonly models: Readonly<Record<string, ModelFacts>>
  /** By the beginning of a name, the longest counts: what all of a family have in common. Never a price. */
  readonly families: Readonly<Record<string, Omit<ModelFacts, 'price' | 'name'>>>
}

/*
 * What is known of well-known models. Dollars per million tokens; windows and caps in tokens.
 *
 * Source: the makers' model and price pages, read in the month each row names. A price that was not found there is absent, and
 *         what such a model costs is said to be unknown. People put right what is out of date in `bosun.model.facts` or
 *         `~/.bosun/models.json`.
 */

const anthropicEfforts = ['low', 'medium', 'high']
const adaptive = { contextWindow: 1_000_000, maxOutputTokens: 128_000, images: true, reasoningEfforts: [...anthropicEfforts, 'xhigh', 'max'] } satisfies ModelFacts
const wide4 = { contextWindow: 1_000_000, maxOutputTokens: 128_000, images: true, reasoningEfforts: [...anthropicEfforts, 'max'] } satisfies ModelFacts
const claude4 = { contextWindow: 200_000, maxOutputTokens: 64_000, images: true, reasoningEfforts: ['off', ...anthropicEfforts] } satisfies ModelFacts
const opus4 = { ...claude4, maxOutputTokens: 32_000 } satisfies ModelFacts
const claudePrice = (input: number, output: number, cacheRead = input / 10): ModelPrice => ({ currency: 'USD', input, cacheRead, cacheWrite: input * 1.25, output })

const gptEfforts = ['low', 'medium', 'high']
const gpt5 = { contextWindow: 400_000, maxOutputTokens: 128_000, images: true, reasoningEfforts: ['minimal', ...gptEfforts] } satisfies ModelFacts
const gpt51 = { ...gpt5, reasoningEfforts: ['none', ...gptEfforts] } satisfies ModelFacts
const gpt52 = { ...gpt5, reasoningEfforts: ['none', ...gptEfforts, 'xhigh'] } satisfies ModelFacts
const codex = { ...gpt5, reasoningEfforts: gptEfforts } satisfies ModelFacts
const gpt54 = { ...gpt52, contextWindow: 1_050_000 } satisfies ModelFacts
const gpt6 = { ...gpt54, reasoningEfforts: ['none', ...gptEfforts, 'xhigh', 'max'] } satisfies ModelFacts
const gpt41 = { contextWindow: 1_047_576, maxOutputTokens: 32_768, images: true, reasoningEfforts: [] } satisfies ModelFacts
const gpt4o = { contextWindow: 128_000, maxOutputTokens: 16_384, images: true, reasoningEfforts: [] } satisfies ModelFacts
const oSeries = { contextWindow: 200_000, maxOutputTokens: 100_000, images: true, reasoningEfforts: gptEfforts } satisfies ModelFacts
/** Writing to the cache costs what reading without it does, unless a price says otherwise. */
const flat = (input: number, cacheRead: number, output: number, cacheWrite = input): ModelPrice => ({ currency: 'USD', input, cacheRead, cacheWrite, output })
/** Above 272 000 tokens of input the whole request costs twice as much to read and half as much again to write. */
const openAiLong = (price: ModelPrice): ModelPrice => ({
  ...price,
  long: { aboveTokens: 272_000, input: price.input * 2, cacheRead: price.cacheRead * 2, cacheWrite: price.cacheWrite * 2, output: price.output * 1.5 },
})

const gemini = { contextWindow: 1_048_576, maxOutputTokens: 65_536, images: true, reasoningEfforts: ['low', 'medium', 'high'] } satisfies ModelFacts
const geminiPro = { ...gemini, reasoningEfforts: ['low', 'high'] } satisfies ModelFacts
const gemini2 = { ...gemini, maxOutputTokens: 8_192, reasoningEfforts: [] } satisfies ModelFacts
/** Above 200 000 tokens of input the whole request costs twice as much to read and half as much again to write. */
const googleLong = (price: ModelPrice): ModelPrice => ({
  ...price,
  long: { aboveTokens: 200_000, input: price.input * 2, cacheRead: price.cacheRead * 2, cacheWrite: price.cacheWrite * 2, output: price.output * 1.5 },
})

const deepseek = { contextWindow: 1_000_000, maxOutputTokens: 256_000, reasoningEfforts: ['off', 'low', 'high', 'max'] } satisfies ModelFacts
/** At peak hours; at all others half of it. The provider's own holidays count as other hours too, but cannot be known here. */
const deepseekPrice = (input: number, cacheRead: number, output: number): ModelPrice => ({
  ...flat(input, cacheRead, output),
  offPeak: { factor: 0.5, peakHours: [[1, 4], [6, 10]], peakDays: [1, 2, 3, 4, 5] },
})

export const catalogueRows: readonly MakerRow[] = [
  {
    providers: ['deepseek-official', 'deepseek'],
    hosts: ['api.deepseek.com'],
    readIn: '2026-11',
    models: {
      'deepseek-v4-pro': { ...deepseek, name: 'DeepSeek V4 Pro', price: deepseekPrice(1.32, 0.044, 3.96) },
      'deepseek-flash': { ...deepseek, name: 'DeepSeek Flash', images: true, price: deepseekPrice(0.3, 0.006, 1.2) },
      'deepseek-v4-flash': { ...deepseek, name: 'DeepSeek V4 Flash', price: deepseekPrice(0.3, 0.006, 1.2) },
    },
    families: { 'deepseek-v4': deepseek, 'deepseek-flash': deepseek },
  },
  {
    providers: ['anthropic'],
    hosts: ['api.anthropic.com'],
    readIn: '2026-11',
    models: {
      'claude-fable-5-2': { ...adaptive, name: 'Claude Fable 5.2' },
      'claude-fable-5-1': { ...adaptive, name: 'Claude Fable 5.1', price: claudePrice(10, 50, 0.25) },
      'claude-fable-5': { ...adaptive, name: 'Claude Fable 5', price: claudePrice(10, 50) },
      'claude-opus-5-5': { ...adaptive, name: 'Claude Opus 5.5', price: claudePrice(4, 20, 0.2) },
      'claude-opus-5': { ...adaptive, name: 'Claude Opus 5', price: claudePrice(5, 25) },
      'claude-opus-4-8': { ...adaptive, name: 'Claude Opus 4.8', price: claudePrice(5, 25) },
      'claude-opus-4-7': { ...adaptive, name: 'Claude Opus 4.7', price: claudePrice(5, 25) },
      'claude-opus-4-6': { ...wide4, name: 'Claude Opus 4.6', price: claudePrice(5, 25) },
      'claude-opus-4-5': { ...claude4, name: 'Claude Opus 4.5', price: claudePrice(5, 25) },
      'claude-opus-4-1': { ...opus4, name: 'Claude Opus 4.1', price: claudePrice(15, 75) },
      'claude-opus-4': { ...opus4, name: 'Claude Opus 4', price: claudePrice(15, 75) },
      'claude-sonnet-5-5': { ...adaptive, name: 'Claude Sonnet 5.5', price: claudePrice(2, 10, 0.1) },
      'claude-sonnet-5': { ...adaptive, name: 'Claude Sonnet 5', price: claudePrice(2, 10) },
      'claude-sonnet-4-6': { ...wide4, maxOutputTokens: 64_000, name: 'Claude Sonnet 4.6', price: claudePrice(3, 15) },
      'claude-sonnet-4-5': { ...claude4, name: 'Claude Sonnet 4.5', price: claudePrice(3, 15) },
      'claude-sonnet-4': { ...claude4, name: 'Claude Sonnet 4', price: claudePrice(3, 15) },
      'claude-haiku-5-5': {
        ...adaptive,
        name: 'Claude Haiku 5.5',
        price: { ...claudePrice(0.1, 0.5), long: { aboveTokens: 100_000, input: 0.5, cacheRead: 0.05, cacheWrite: 0.625, output: 2.5 } },
      },
      'claude-haiku-4-5': { ...claude4, name: 'Claude Haiku 4.5', price: claudePrice(1, 5) },
      'claude-3-5-haiku': { contextWindow: 200_000, maxOutputTokens: 8_192, images: true, reasoningEfforts: [], name: 'Claude Haiku 3.5', price: claudePrice(0.8, 4) },
    },
    families: {
      'claude-fable': adaptive,
      'claude-mythos': adaptive,
      'claude-opus-5': adaptive,
      'claude-sonnet-5': adaptive,
      'claude-haiku-5': adaptive,
      claude: { contextWindow: 200_000, images: true },
    },
  },
  {
    providers: ['openai'],
    hosts: ['api.openai.com'],
    readIn: '2026-11',
    models: {
      'gpt-6-astra': { ...gpt6, name: 'GPT-6 Astra', price: openAiLong(flat(10, 1, 50, 12.5)) },
      'gpt-6-sol': { ...gpt6, name: 'GPT-6 Sol', price: openAiLong(flat(2, 0.2, 10, 2.5)) },
      'gpt-6-luna': { ...gpt6, name: 'GPT-6 Luna', price: openAiLong(flat(0.1, 0.01, 0.5, 0.125)) },
      'gpt-5.6-sol': { ...gpt54, name: 'GPT-5.6 Sol' },
      'gpt-5.6-terra': { ...gpt54, name: 'GPT-5.6 Terra', price: openAiLong(flat(2, 0.2, 12, 2.5)) },
      'gpt-5.6-luna': { ...gpt54, name: 'GPT-5.6 Luna', price: openAiLong(flat(0.2, 0.02, 1.2, 0.25)) },
      'gpt-5.5': { ...gpt54, name: 'GPT-5.5', price: openAiLong(flat(5, 0.5, 30)) },
      'gpt-5.4': { ...gpt54, name: 'GPT-5.4', price: openAiLong(flat(2.5, 0.25, 15)) },
      'gpt-5.4-mini': { ...gpt52, name: 'GPT-5.4 mini', price: flat(0.75, 0.075, 4.5) },
      'gpt-5.4-nano': { ...gpt52, name: 'GPT-5.4 nano', price: flat(0.2, 0.02, 1.25) },
      'gpt-5.3-codex': { ...codex, name: 'GPT-5.3 Codex', reasoningEfforts: [...gptEfforts, 'xhigh'], price: flat(1.75, 0.175, 14) },
      'gpt-5.2-codex': { ...codex, name: 'GPT-5.2 Codex', reasoningEfforts: [...gptEfforts, 'xhigh'], price: flat(1.75, 0.175, 14) },
      'gpt-5.2': { ...gpt52, name: 'GPT-5.2', price: flat(1.75, 0.175, 14) },
      'gpt-5.1-codex-max': { ...codex, name: 'GPT-5.1 Codex Max', reasoningEfforts: [...gptEfforts, 'xhigh'], price: flat(1.25, 0.125, 10) },
      'gpt-5.1-codex-mini': { ...codex, name: 'GPT-5.1 Codex mini', price: flat(0.25, 0.025, 2) },
      'gpt-5.1-codex': { ...codex, name: 'GPT-5.1 Codex', price: flat(1.25, 0.125, 10) },
      'gpt-5.1': { ...gpt51, name: 'GPT-5.1', price: flat(1.25, 0.125, 10) },
      'gpt-5-codex': { ...codex, name: 'GPT-5 Codex', price: flat(1.25, 0.125, 10) },
      'gpt-5': { ...gpt5, name: 'GPT-5', price: flat(1.25, 0.125, 10) },
      'gpt-5-mini': { ...gpt5, name: 'GPT-5 mini', price: flat(0.25, 0.025, 2) },
      'gpt-5-nano': { ...gpt5, name: 'GPT-5 nano', price: flat(0.05, 0.005, 0.4) },
      'gpt-4.1': { ...gpt41, name: 'GPT-4.1', price: flat(2, 0.5, 8) },
      'gpt-4.1-mini': { ...gpt41, name: 'GPT-4.1 mini', price: flat(0.4, 0.1, 1.6) },
      'gpt-4.1-nano': { ...gpt41, name: 'GPT-4.1 nano', price: flat(0.1, 0.025, 0.4) },
      'gpt-4o': { ...gpt4o, name: 'GPT-4o', price: flat(2.5, 1.25, 10) },
      'gpt-4o-mini': { ...gpt4o, name: 'GPT-4o mini', price: flat(0.15, 0.075, 0.6) },
      o3: { ...oSeries, name: 'o3', price: flat(2, 0.5, 8) },
      'o3-mini': { ...oSeries, images: false, name: 'o3-mini', price: flat(1.1, 0.55, 4.4) },
      'o4-mini': { ...oSeries, name: 'o4-mini', price: flat(1.1, 0.275, 4.4) },
    },
    families: { 'gpt-6': gpt6, 'gpt-5': { contextWindow: 400_000, maxOutputTokens: 128_000, images: true, reasoningEfforts: gptEfforts }, 'gpt-4.1': gpt41, 'gpt-4o': gpt4o },
  },
  {
    providers: ['google', 'gemini'],
    hosts: ['generativelanguage.googleapis.com'],
    readIn: '2026-07',
    models: {
      'gemini-3.6-flash': { ...gemini, name: 'Gemini 3.6 Flash', price: flat(1.5, 0.15, 7.5) },
      'gemini-3.5-flash': { ...gemini, name: 'Gemini 3.5 Flash', price: flat(1.5, 0.15, 9) },
      'gemini-3.5-flash-lite': { ...gemini, name: 'Gemini 3.5 Flash-Lite', price: flat(0.3, 0.03, 2.5) },
      'gemini-3.1-pro-preview': { ...geminiPro, name: 'Gemini 3.1 Pro', price: googleLong(flat(2, 0.2, 12)) },
      'gemini-3.1-flash-lite': { ...gemini, name: 'Gemini 3.1 Flash-Lite', price: flat(0.25, 0.025, 1.5) },
      'gemini-3-pro-preview': { ...geminiPro, name: 'Gemini 3 Pro', price: googleLong(flat(2, 0.2, 12)) },
      'gemini-3-flash-preview': { ...gemini, name: 'Gemini 3 Flash', price: flat(0.5, 0.05, 3) },
      'gemini-2.5-pro': { ...gemini, name: 'Gemini 2.5 Pro', price: googleLong(flat(1.25, 0.125, 10)) },
      'gemini-2.5-flash': { ...gemini, name: 'Gemini 2.5 Flash', reasoningEfforts: ['off', 'low', 'medium', 'high'], price: flat(0.3, 0.03, 2.5) },
      'gemini-2.5-flash-lite': { ...gemini, name: 'Gemini 2.5 Flash-Lite', reasoningEfforts: ['off', 'low', 'medium', 'high'], price: flat(0.1, 0.01, 0.4) },
      'gemini-2.0-flash': { ...gemini2, name: 'Gemini 2.0 Flash', price: flat(0.1, 0.025, 0.4) },
    },
    families: { 'gemini-2.0': gemini2, gemini },
  },
  {
    providers: ['xai'],
    hosts: ['api.x.ai'],
    readIn: '2026-07',
    models: {
      'grok-4.5': { contextWindow: 500_000, images: true, name: 'Grok 4.5', price: flat(2, 0.5, 6) },
      'grok-4.3': { contextWindow: 1_000_000, images: true, name: 'Grok 4.3', price: flat(1.25, 0.2, 2.5) },
    },
    families: { 'grok-4': { contextWindow: 256_000, images: true } },
  },
  // Open weights: many serve them, each with its own caps and prices, so only what the weights themselves fix stands here.
  {
    providers: [],
    hosts: [],
    readIn: '2026-07',
    models: {
      'gpt-oss-120b': { contextWindow: 131_072, reasoningEfforts: gptEfforts },
      'gpt-oss-20b': { contextWindow: 131_072, reasoningEfforts: gptEfforts },
    },
    families: {
      'qwen3-coder': { contextWindow: 262_144 },
      'kimi-k2': { contextWindow: 262_144 },
      'glm-5': { contextWindow: 200_000 },
      'glm-4.7': { contextWindow: 200_000 },
      'glm-4.6': { contextWindow: 200_000 },
      'minimax-m2': { contextWindow: 196_608 },
      'gpt-oss': { contextWindow: 131_072, reasoningEfforts: gptEfforts },
      devstral: { contextWindow: 131_072 },
    },
  },
]
