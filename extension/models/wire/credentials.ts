import { ModelError } from '../../core/model/contract.ts'
import type { ProviderConfig } from '../../core/model/provider-config.ts'
import type { Secrets } from '../../capabilities/secrets.ts'

/**
 * The key as it is sent, or null for a server that wants none.
 *
 * Errors: `ModelError` `MISSING_CREDENTIAL`; `INVALID_CREDENTIAL` for a key that no HTTP header can carry. Neither message shows the key.
 */
export async function keyFor(config: ProviderConfig, secrets: Secrets): Promise<string | null> {
  const found = config.keyName === null ? null : await secrets.get(config.keyName)
  const key = found?.value.trim() ?? ''
  if (key === '') {
    if (config.keyName === null || config.isKeyOptional) return null
    const message = `${config.name} needs a key. Set one with "Bosun: Set API Key", or in the environment as ${config.keyName}.`
    throw new ModelError({ code: 'MISSING_CREDENTIAL', message })
  }
  const problem = keyProblem(key)
  if (problem !== null) throw new ModelError({ code: 'INVALID_CREDENTIAL', message: `The key for ${config.name} ${problem}` })
  return key
}

/** What is wrong with a key, or null. Source: runtime specification 16.2. */
function keyProblem(key: string): string | null {
  if (key === '') return 'is empty. Copy it again from the provider’s page.'
  if (!/^[\x21-\x7e]+$/.test(key)) return 'holds spaces or characters that a key cannot have. Copy it again, without anything around it.'
  return null
}
