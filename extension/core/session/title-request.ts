import { orAbort } from '../../base/or-abort.ts'
import { fitBytes } from '../../base/text.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { ScopeKey } from '../kernel/plugin.ts'
import type { UserMessage } from '../log/message.ts'
import { failureFrom } from '../loop/failure.ts'
import type { ModelRoutes, Route } from '../loop/model-routes.ts'
import { failureOfRoutes, type FailedRoute } from '../loop/route-failure.ts'
import type { CallConfiguration, ModelRegistry } from '../model/contract.ts'
import { ModelError } from '../model/contract.ts'
import type { Session } from './session.ts'
import { titleFromAnswer } from './titles.ts'

/** UTF-8 bytes of the prompt that are shown, tokens of the answer, and how long it may take. Source: runtime specification 12.4. */
const MAX_PROMPT_BYTES = 4_096
const MAX_TOKENS = 64
const TIMEOUT_MS = 60_000
/** Characters of an answer that are looked at; a title is far shorter. */
const MAX_ANSWER = 4_000

const SYSTEM = [
  'You name conversations for a list.',
  'The user message below opens one. Answer with its title and nothing else: about five words, or ten characters in Chinese, Japanese or Korean.',
  'Use the language of the message. No quotes, no full stop, no markup. Do not answer the message.',
].join(' ')

/** The efforts that mean least thinking, best first. */
const QUIET_EFFORTS = ['off', 'none', 'minimal']

export interface TitleRequestParts {
  readonly models: ModelRegistry
  readonly clock: Pick<Clock, 'schedule'>
  readonly scope: ScopeKey | null
  readonly newId: () => string
  readonly route: Route
  /** Where to ask when the route before is out. */
  readonly nextRoute: ModelRoutes['next']
}

/**
 * Ask a model for a title and keep it; the next one when its route is out. The log says what was asked before it is.
 *
 * Errors: whatever goes wrong; the caller leaves the title as it is.
 */
export async function requestTitle(session: Session, prompt: { readonly text: string; readonly seq: number }, parts: TitleRequestParts, signal: AbortSignal): Promise<void> {
  const message: UserMessage = {
    id: parts.newId(),
    role: 'user',
    content: [{ type: 'text', text: fitBytes(prompt.text, MAX_PROMPT_BYTES).text }],
    source: { kind: 'plugin', plugin: 'titles' },
  }
  const limit = timeLimit(parts.clock, signal)
  try {
    const { text, provider } = await answerFromRoutes(session, { message, seq: prompt.seq }, { ...parts, signal: limit.signal })
    const title = titleFromAnswer(text)
    limit.signal.throwIfAborted()
    if (title === null || wasNamed(session)) return
    session.append({ type: 'session/title', data: { title, messageSeqs: [prompt.seq], source: { kind: 'provider', provider } } })
  } finally {
    limit.end()
  }
}

interface Asked {
  readonly message: UserMessage
  /** Of the prompt. */
  readonly seq: number
}

interface AskParts extends TitleRequestParts {
  readonly signal: AbortSignal
}

async function answerFromRoutes(session: Session, asked: Asked, parts: AskParts): Promise<{ readonly text: string; readonly provider: string }> {
  const routes = [parts.route]
  const failed: FailedRoute[] = []
  for (let route = parts.route; ; ) {
    try {
      return { text: await answerFrom(session, asked, { ...parts, route }), provider: route.provider }
    } catch (error) {
      if (parts.signal.aborted) throw error
      const last = { route, failure: failureFrom(error) }
      const next = await orAbort(parts.nextRoute({ failure: last.failure, asked: routes, isFallback: routes.length > 1 }), parts.signal)
      if (next === null) throw new ModelError(failureOfRoutes([...failed, last]), { cause: error })
      failed.push(last)
      route = { provider: next.provider, model: next.model }
      routes.push(route)
    }
  }
}

async function answerFrom(session: Session, { message, seq }: Asked, { models, scope, route, signal }: AskParts): Promise<string> {
  const config = await orAbort(configurationOf(models, route), signal)
  const asked = { titleProvider: route.provider, messageSeqs: [seq], route, system: SYSTEM, messages: [message], maxTokens: MAX_TOKENS }
  session.append({ type: 'session/title-llm-request', data: asked })
  await session.flush()
  const stream = models.prepareCall(route.provider, scope).stream({
    system: SYSTEM,
    tools: [],
    messages: [message],
    config,
    sessionId: session.id,
    purpose: 'title',
    signal,
    loadAttachment: () => Promise.reject(new Error('A title is made from words alone.')),
  })
  return await orAbort(readAnswer(stream), signal)
}

async function configurationOf(models: ModelRegistry, { provider, model }: Route): Promise<CallConfiguration> {
  const info = await models.get(provider)?.resolveModel(model)
  const effort = QUIET_EFFORTS.find((candidate) => info?.reasoningEfforts.includes(candidate) === true)
  return { provider, model, maxTokens: MAX_TOKENS, ...(effort !== undefined && { reasoningEffort: effort }) }
}

async function readAnswer(stream: ReturnType<ReturnType<ModelRegistry['prepareCall']>['stream']>): Promise<string> {
  let text = ''
  for await (const chunk of stream) {
    if (chunk.type === 'text-delta' && text.length < MAX_ANSWER) text += chunk.delta
    if (chunk.type === 'finish' && (chunk.reason.kind === 'error' || chunk.reason.kind === 'aborted')) throw new ModelError(chunk.reason.failure)
  }
  return text
}

/** A person gave it a name meanwhile, which wins. */
const wasNamed = (session: Session): boolean => session.milestones().some((event) => event.type === 'session/title' && event.data.source.kind === 'user')

function timeLimit(clock: Pick<Clock, 'schedule'>, outer: AbortSignal): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController()
  const end = clock.schedule(TIMEOUT_MS, () => controller.abort(new Error(`No title came within ${TIMEOUT_MS / 1000} s.`)))
  return { signal: AbortSignal.any([controller.signal, outer]), end }
}
