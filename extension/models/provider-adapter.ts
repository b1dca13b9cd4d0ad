import { assertNever } from '../base/assert-never.ts'
import type { ModelAdapter } from '../core/model/contract.ts'
import type { WireApi } from '../core/model/provider-config.ts'
import { createWireAdapter } from './wire/adapter.ts'
import type { AdapterParts, Wire } from './wire/wire.ts'

/** The adapter for a configured provider. Its protocol is loaded when the provider is first asked. */
export function createProviderAdapter(parts: AdapterParts): ModelAdapter {
  return createWireAdapter(parts, () => loadWire(parts.config.api))
}

async function loadWire(api: WireApi): Promise<Wire> {
  switch (api) {
    case 'openai-compatible':
      return (await import('./openai-compatible/wire.ts')).openAiCompatibleWire
    case 'anthropic':
      return (await import('./anthropic/wire.ts')).anthropicWire
    case 'openai-responses':
      return (await import('./openai-responses/wire.ts')).openAiResponsesWire
    case 'google':
      return (await import('./google/wire.ts')).googleWire
    default:
      return assertNever(api, 'wire api')
  }
}
