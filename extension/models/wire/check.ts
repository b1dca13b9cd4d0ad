import { ModelError, type ConnectionReport } from '../../core/model/contract.ts'
import type { ProviderConfig } from '../../core/model/provider-config.ts'
import { hostOf } from './failures.ts'
import type { ListedModel } from './wire.ts'

/** Ask the server for its models and say what came of it. Never throws. */
export async function checkConnection(options: {
  readonly config: ProviderConfig
  readonly list: () => Promise<readonly ListedModel[]>
  readonly model: string | undefined
}): Promise<ConnectionReport> {
  const { config, list, model } = options
  try {
    const models = await list()
    const names = models.map(({ id }) => id)
    if (names.length === 0) {
      const next = config.isLocal ? 'Load one in the server first.' : 'Check the account behind the key.'
      return { isOk: false, code: 'UNKNOWN_MODEL', message: `${config.name} answers at ${hostOf(config.baseUrl)} but offers no model. ${next}` }
    }
    // A model that Bosun knows of may be served without being listed.
    if (model !== undefined && !names.includes(model) && config.models[model] === undefined) {
      const message = `${config.name} has no model "${model}". It offers ${listed(names)}. Choose one of these.`
      return { isOk: false, code: 'UNKNOWN_MODEL', message }
    }
    return { isOk: true, message: `${config.name} answers at ${hostOf(config.baseUrl)} and offers ${counted(names.length)}.` }
  } catch (error) {
    if (error instanceof ModelError) return { isOk: false, code: error.code, message: error.message }
    return { isOk: false, code: 'UNKNOWN', message: `${config.name} could not be asked: ${String(error)}. Check its address in bosun.providers.` }
  }
}

const counted = (count: number) => (count === 1 ? '1 model' : `${count} models`)

function listed(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ')
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown
}
