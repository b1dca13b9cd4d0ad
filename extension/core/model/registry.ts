import type { Undo } from '../../base/undo.ts'
import { everyLayer } from '../kernel/plugin.ts'
import type { Dispatcher, Plugin, ScopeKey } from '../kernel/plugin.ts'
import type { ModelAdapter, ModelRegistry, PreparedCall, StreamChunk } from './contract.ts'
import { ModelError } from './contract.ts'
import { normaliseStream } from './normalise-stream.ts'

/** Provides `models`. What is registered through a context goes with its plugin. */
export function modelsPlugin({ dispatch }: { readonly dispatch: Dispatcher }): Plugin {
  return {
    name: 'models',
    apply(ctx) {
      const registry = createModelRegistry(dispatch)
      ctx.provide('models', (consumer) => ({
        ...registry,
        register(adapter) {
          const remove = consumer.effect(registry.register(adapter))
          return () => void remove()
        },
      }))
    },
  }
}

/** The routes there are. */
function createModelRegistry(dispatch: Dispatcher): ModelRegistry {
  const adapters = new Map<string, ModelAdapter>()
  const updated = () => dispatch.emit('llm/adapters-updated', everyLayer, [])

  function register(adapter: ModelAdapter): Undo {
    const { id } = adapter.provider
    if (adapters.has(id)) {
      const message = `The provider ${id} is registered already. Give the other one another name in bosun.providers.`
      throw new ModelError({ code: 'DUPLICATE_ADAPTER', message })
    }
    adapters.set(id, adapter)
    updated()
    return () => {
      if (adapters.get(id) !== adapter) return
      adapters.delete(id)
      updated()
    }
  }

  return {
    register,
    get: (provider) => adapters.get(provider),
    list: () => [...adapters.values()],
    prepareCall: (provider, scope = null) => prepareCall(adapters.get(provider) ?? absentAdapter(provider), scope, dispatch),
  }
}

function prepareCall(adapter: ModelAdapter, scope: ScopeKey | null, dispatch: Dispatcher): PreparedCall {
  let isUsed = false
  return {
    adapter,
    stream(request) {
      if (isUsed) throw new ModelError({ code: 'INVALID_PREPARED_CALL', message: 'A prepared call streams once; prepare another one.' })
      isUsed = true
      const last = () => Promise.resolve(normaliseStream(() => adapter.stream(request), request.signal))
      return opened(dispatch.waterfall('llm/stream', scope, [request], last))
    },
  }
}

async function* opened(stream: Promise<AsyncIterable<StreamChunk>>): AsyncGenerator<StreamChunk> {
  yield* await stream
}

/** Stands where no adapter is, so that a listener of `llm/stream` may serve the route. */
function absentAdapter(provider: string): ModelAdapter {
  const failure = {
    code: 'NO_ADAPTER',
    message: `There is no provider "${provider}". Choose another model, or describe the provider in bosun.providers.`,
  } as const
  return {
    provider: { id: provider, name: provider },
    listModels: () => Promise.resolve([]),
    resolveModel: () => Promise.reject(new ModelError(failure)),
    check: () => Promise.resolve({ isOk: false, code: failure.code, message: failure.message }),
    stream() {
      throw new ModelError(failure)
    },
  }
}
