import type { Clock } from '../../capabilities/clock.ts'
import type { Logger } from '../../capabilities/logger.ts'
import { isErrorOf } from '../../base/harness-error.ts'
import type { RequestHeader, SessionEvent } from '../log/event.ts'
import type { UserMessage } from '../log/message.ts'
import { routed, routeNamed, type KnownRoute, type ModelRoutes } from '../loop/model-routes.ts'
import { policyFrom } from '../loop/retry.ts'
import type { CallConfiguration, ModelInfo, ModelRegistry, ModelRequest } from '../model/contract.ts'
import { estimateMessageTokens } from '../model/token-estimate.ts'
import { SUMMARY_PLUGIN } from '../projections/context-fold.ts'
import type { Agent } from '../session/agent.ts'
import { SessionError } from '../session/session.ts'
import type { Session } from '../session/session.ts'
import type { Settings } from '../settings/settings.ts'
import { settings as specs } from '../settings/specs.ts'
import { carriedFacts } from './carried.ts'
import { commitFailed, CompactionError, compactionBusy, compactionCancelled, compactionChanged, persistenceFailed, persistenceFailedBefore, summaryFailed } from './error.ts'
import { roomFor, type CompactionPolicy } from './policy.ts'
import { pruneResults, type PruneCaps } from './prune.ts'
import type { CompactionOutcome } from './service.ts'
import { pressureOf, sameRoute, situationOf, type Need, type Situation } from './situation.ts'
import { summarise, type Summary, type SummaryRoute } from './summarise.ts'
import { isSummary, messageOfNode, unitsOf, type Unit } from './units.ts'
import { summaryText } from './words.ts'

export interface CompactorParts {
  readonly models: ModelRegistry
  readonly settings: Settings
  readonly clock: Clock
  readonly newId: () => string
  readonly loadAttachment: (sessionId: string, attachmentId: string) => Promise<Uint8Array>
  readonly nextRoute: ModelRoutes['next']
  readonly logger: Pick<Logger, 'warn'>
  /** What the next request of an agent is made with. */
  readonly configurationOf: (agent: Agent) => CallConfiguration
}

export interface CompactionRun {
  readonly agent: Agent
  readonly cause: 'pressure' | 'overflow' | 'manual'
  readonly turn: number | null
  readonly config: CallConfiguration
  readonly info: ModelInfo
  readonly policy: CompactionPolicy
  /** Tokens of what is about to come in. */
  readonly incoming: number
  readonly signal: AbortSignal
  readonly sourceCommandId?: string | undefined
}

/** Results are cut this far only when nothing else makes the request fit. */
const tightCaps: PruneCaps = { trigger: 2_048, head: 1_024, tail: 512 }
/** Share of the threshold under which room has been made for a while. */
const relief = 0.75
/** Tokens below which a summary is not worth its request, and the share of the room that is when nobody asked for it. */
const minTokens = 300
const minShare = 0.05

/**
 * Make room once: shorten old tool results, then, if that is not enough or a person asked, replace the older part of the talk by a
 * summary.
 *
 * Errors: `CompactionError`; the surface is as the shortening left it then.
 * Source: runtime specification 13.
 */
export async function makeRoom(parts: CompactorParts, run: CompactionRun): Promise<CompactionOutcome> {
  const { agent, cause, policy, info, config } = run
  const { session } = agent
  const newest = newestHeader(session)
  if (newest === undefined) return { kind: 'nothing' }
  const need: Need = { room: roomFor(info, config), policy, header: newest, isOverflow: cause === 'overflow', isManual: cause === 'manual' }
  const before = situationOf(session, need)
  const results = prune(session, run, before)
  if (results > 0 && cause !== 'manual' && isRelieved(session, run, before)) return { kind: 'pruned', results }
  const situation = results > 0 ? situationOf(session, need) : before
  if (!isWorthIt(run, situation)) return results > 0 ? { kind: 'pruned', results } : { kind: 'nothing' }
  return replaceBySummary(parts, { ...run, newest, situation })
}

/**
 * Old results first. The newest ones too when they alone fill half of the room, or when an overflow leaves nothing to summarise; and
 * after an overflow further than the settings say, as long as they fill a good part of a room that was thought larger than it is.
 */
function prune(session: Session, run: CompactionRun, before: Situation): number {
  const { policy, cause } = run
  const { units, cut, room, scale } = before
  const kept = (from: readonly Unit[]) => scale * from.slice(cut).reduce((sum, { tokens }) => sum + tokens, 0)
  const isLast = cause === 'overflow' && !isWorthIt(run, before)
  const results = pruneResults(session, policy.prune, isLast || kept(units) > room / 2 ? undefined : units[cut]?.start)
  const isTight = cause === 'overflow' && ((isLast && results === 0) || kept(unitsOf(session.surface())) > room * 0.4)
  return isTight ? results + pruneResults(session, tightCaps) : results
}

function isRelieved(session: Session, { policy, incoming }: CompactionRun, { used, projected, room }: Situation): boolean {
  const left = pressureOf(session).projectedTokens / Math.max(1, projected)
  return used * left + incoming <= room * policy.thresholdRatio * relief
}

function isWorthIt({ cause }: CompactionRun, { units, cut, surface, room, scale }: Situation): boolean {
  const tokens = units.slice(0, cut).reduce((sum, unit) => (isSummary(surface.nodes[unit.start]!.event) ? sum : sum + unit.tokens), 0)
  return cut > 0 && tokens >= (cause === 'pressure' ? Math.max(minTokens, (room / scale) * minShare) : minTokens)
}

interface SummaryRun extends CompactionRun {
  readonly newest: RequestHeader
  readonly situation: Situation
}

/** The bracket in the log: whatever happens inside, a started compaction ends. */
async function replaceBySummary(parts: CompactorParts, run: SummaryRun): Promise<CompactionOutcome> {
  const { agent, turn, cause, sourceCommandId } = run
  const { session } = agent
  const place = { compactionId: parts.newId(), ...(sourceCommandId !== undefined && { sourceCommandId }), turn }
  try {
    session.append({ type: 'compaction/start', data: place })
  } catch (error) {
    throw isErrorOf(SessionError, error, 'INVARIANT') ? compactionBusy(error) : commitFailed(error)
  }
  let outcome: CompactionOutcome
  try {
    outcome = await insideBracket(parts, run, place)
  } catch (error) {
    const failure = error instanceof CompactionError ? error : commitFailed(error)
    end(session, { ...place, error: { code: failure.code, message: failure.message } })
    throw failure
  }
  session.append({ type: 'compaction/end', data: place })
  if (cause === 'manual') await flushed(session, persistenceFailed)
  return outcome
}

function end(session: Session, data: SessionEvent<'compaction/end'>['data']): void {
  try {
    session.append({ type: 'compaction/end', data })
  } catch {
    // The log takes nothing more: the session is closed or another window has it. The next opening ends the bracket, and the failure
    // that came first is the one to report.
  }
}

async function insideBracket(parts: CompactorParts, run: SummaryRun, place: Bracket): Promise<CompactionOutcome> {
  const { agent, signal } = run
  // What the model is shown is on the disk first.
  await flushed(agent.session, persistenceFailedBefore)
  const summary = await summaryOf(parts, run)
  if (signal.aborted) throw compactionCancelled()
  if (hasChanged(parts, run)) throw compactionChanged()
  return commit(parts, run, { place, summary })
}

async function flushed(session: Session, failed: (cause: unknown) => CompactionError): Promise<void> {
  try {
    await session.flush()
  } catch (error) {
    throw failed(error)
  }
}

async function summaryOf(parts: CompactorParts, { agent, newest, config, info, policy, situation, signal }: SummaryRun): Promise<Summary> {
  const { surface, units, cut, scale } = situation
  const { models, clock, newId, settings } = parts
  const routeOf = (chosen: CallConfiguration, facts: ModelInfo): SummaryRoute => {
    const maxTokens = maxTokensOf(policy, facts)
    return {
      config: { ...chosen, maxTokens },
      room: Math.floor((facts.contextWindow - maxTokens) * 0.98),
      retryPolicy: models.get(chosen.provider)?.retryPolicy ?? policyFrom(settings),
    }
  }
  const own = routeOf(sameRoute(newest, config) ? newest.config : withKnownEffort(config, info), info)
  const named = await namedRoute(parts, config)
  const loadAttachment: ModelRequest['loadAttachment'] = (attachmentId) => parts.loadAttachment(agent.id, attachmentId)
  const shown = units.slice(0, cut).map(({ start, end: last }) =>
    surface.nodes.slice(start, last + 1).map(({ event }) => messageOfNode(event)).filter(({ content }) => content.length > 0),
  )
  return await summarise(
    {
      agent, models, clock, newId, loadAttachment, signal, scale,
      header: newest,
      retries: policy.retries,
      ...(named === null ? own : routeOf(routed(config, named), named.info)),
      async reroute(failure, asked) {
        const tried = named === null ? asked : asked.slice(1)
        if (tried.length === 0) return own
        const route = await parts.nextRoute({ failure, asked: tried, isFallback: tried.length > 1 })
        return route === null ? null : routeOf(routed(config, route), route.info)
      },
    },
    shown,
  )
}

/** The model that the settings name for summaries, when it is another one than the talk's and is there. */
async function namedRoute({ settings, models, logger }: CompactorParts, { provider, model }: CallConfiguration): Promise<KnownRoute | null> {
  const text = settings.get(specs.compactionModel)
  if (text === null || text === `${provider}/${model}`) return null
  try {
    return await routeNamed(models, text)
  } catch (error) {
    logger.warn('The model of bosun.compaction.model cannot be used.', { model: text, error: String(error) })
    return null
  }
}

const maxTokensOf = (policy: CompactionPolicy, info: ModelInfo) =>
  Math.max(1, Math.min(policy.maxTokens, info.maxOutputTokens, Math.floor(info.contextWindow / 8)))

function withKnownEffort({ reasoningEffort, ...rest }: CallConfiguration, info: ModelInfo): CallConfiguration {
  return reasoningEffort !== undefined && info.reasoningEfforts.includes(reasoningEffort) ? { ...rest, reasoningEffort } : rest
}

/** Something else was put before the model meanwhile, or another model is to see it, which counts and bills in its own way. */
function hasChanged(parts: CompactorParts, { agent, config, situation: { surface } }: SummaryRun): boolean {
  const now = agent.session.surface()
  const { provider, model } = parts.configurationOf(agent)
  return now.generation !== surface.generation || now.nodes.length !== surface.nodes.length || provider !== config.provider || model !== config.model
}

type Bracket = Pick<SessionEvent<'compaction/start'>['data'], 'compactionId' | 'sourceCommandId' | 'turn'>

function commit(parts: CompactorParts, run: SummaryRun, { place, summary }: { readonly place: Bracket; readonly summary: Summary }): CompactionOutcome {
  const { agent: { session }, situation: { surface, units, cut, room, scale, used } } = run
  const endPosition = units[cut - 1]!.end
  const shadowedTokenCount = units.slice(0, cut).reduce((sum, { tokens }) => sum + tokens, 0)
  const carried = carriedFacts(session, endPosition + 1, Math.floor(Math.min(room / scale / 16, shadowedTokenCount / 4)))
  const message: UserMessage = {
    id: parts.newId(),
    role: 'user',
    content: [{ type: 'text', text: summaryText(summary.text, carried) }],
    source: { kind: 'plugin', plugin: SUMMARY_PLUGIN, form: 'recall' },
  }
  if (estimateMessageTokens(message) >= shadowedTokenCount) throw summaryFailed('it is no shorter than what it would replace.')
  const shadowedRange = { start: 0, end: endPosition }
  const shadowedSeqs = surface.nodes.slice(0, endPosition + 1).map(({ seq }) => seq)
  const { compactionId, sourceCommandId } = place
  try {
    const { seq } = session.append({
      type: 'compaction/summary',
      data: {
        compactionId,
        ...(sourceCommandId !== undefined && { sourceCommandId }),
        summary: [{ type: 'text', text: summary.text }],
        shadowedRange, shadowedSeqs, shadowedTokenCount,
        provider: summary.config.provider,
        model: summary.config.model,
        maxTokens: summary.config.maxTokens,
        ...(summary.usage !== undefined && { usage: summary.usage }),
        ...(summary.pieces > 1 && { pieces: summary.pieces }),
      },
    })
    session.append({ type: 'user/message', surfaceOp: { op: 'replace', ...shadowedRange }, sourceEventSeqs: shadowedSeqs, data: message })
    return { kind: 'summarised', summarySeq: seq, tokensBefore: used, tokensAfter: pressureOf(session).projectedTokens }
  } catch (error) {
    throw commitFailed(error)
  }
}

function newestHeader(session: Session): RequestHeader | undefined {
  return session.milestones().findLast((event) => event.type === 'request/header')?.data.header
}
