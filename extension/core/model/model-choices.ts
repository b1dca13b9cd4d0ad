import { messageOf } from '../../base/message-of.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Secrets } from '../../capabilities/secrets.ts'
import { checkedInfo } from './checked-info.ts'
import type { ConnectionReport, ModelAdapter, ModelInfo, ModelRegistry } from './contract.ts'

/** A provider as the picker offers it. */
export interface ProviderChoice {
  readonly adapter: ModelAdapter
  /** Empty when there is a problem. */
  readonly models: readonly ModelInfo[]
  readonly needsKey: boolean
  /** Why its models are not known, with what to do next; null when they are. */
  readonly problem: string | null
}

interface Parts {
  readonly models: Pick<ModelRegistry, 'get' | 'list'>
  readonly secrets: Pick<Secrets, 'get'>
  readonly clock: Pick<Clock, 'schedule'>
}

/** A server on this machine answers at once or is not there. */
const LOCAL_LIMIT_MS = 300
const REMOTE_LIMIT_MS = 4_000
const CHECK_LIMIT_MS = 20_000

/**
 * What a person can choose from: every provider with its models, the ones on this machine only when they run.
 * One that cannot list is offered with its reason and holds up no other.
 */
export async function listChoices(parts: Parts, isWanted: (adapter: ModelAdapter) => boolean = () => true): Promise<readonly ProviderChoice[]> {
  const choices = await Promise.all(parts.models.list().filter(isWanted).map((adapter) => choiceOf(adapter, parts)))
  return choices.flatMap((choice) => (choice === null || (choice.adapter.provider.isLocal === true && choice.problem !== null) ? [] : [choice]))
}

/** Whether a provider answers (for `model`, when named) and, if not, what to do next. Never throws, always ends. */
export async function checkConnection({ models, clock }: Parts, provider: string, model?: string): Promise<ConnectionReport> {
  const adapter = models.get(provider)
  if (adapter === undefined) return { isOk: false, code: 'NO_ADAPTER', message: `There is no provider "${provider}". Choose another model.` }
  const report = await within(CHECK_LIMIT_MS, clock, (signal) => adapter.check(signal, model))
  const message = `${adapter.provider.name} did not answer within ${CHECK_LIMIT_MS / 1000} s. Check the network, then try again.`
  return report ?? { isOk: false, code: 'TIMEOUT', message }
}

/** The provider wants a key and has none. */
export async function lacksKey({ provider }: ModelAdapter, secrets: Pick<Secrets, 'get'>): Promise<boolean> {
  if (provider.keyName === undefined) return false
  const found = await secrets.get(provider.keyName)
  return found === null || found.value.trim() === ''
}

/** Null for one that is not offered before it has a key. */
async function choiceOf(adapter: ModelAdapter, { secrets, clock }: Parts): Promise<ProviderChoice | null> {
  const needsKey = await lacksKey(adapter, secrets)
  if (needsKey && adapter.provider.isPreset === true) return null
  const limitMs = adapter.provider.isLocal === true ? LOCAL_LIMIT_MS : REMOTE_LIMIT_MS
  try {
    const models = await within(limitMs, clock, async (signal) => (await adapter.listModels(signal)).map((info) => checkedInfo(adapter, info)))
    if (models !== null) return { adapter, models, needsKey, problem: null }
    return { adapter, models: [], needsKey, problem: `${adapter.provider.name} did not answer in time. Check that it can be reached.` }
  } catch (error) {
    return { adapter, models: [], needsKey, problem: messageOf(error) }
  }
}

/** Null when it took too long; the work is told to stop. */
async function within<T>(limitMs: number, clock: Pick<Clock, 'schedule'>, work: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
  const limit = new AbortController()
  let cancel = (): void => undefined
  const late = new Promise<null>((resolve) => {
    cancel = clock.schedule(limitMs, () => {
      limit.abort()
      resolve(null)
    })
  })
  try {
    return await Promise.race([work(limit.signal), late])
  } finally {
    cancel()
  }
}
