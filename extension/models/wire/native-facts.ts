import * as z from 'zod'
import type { ModelFacts, ProviderConfig } from '../../core/model/provider-config.ts'

/** What a server of this kind says of its models beside the list of the protocol: where, and how it is read. */
export interface NativeFacts {
  /** Below the server's root. */
  readonly path: string
  /** Facts by model; those under `*` hold for every model of the server. Empty for what is no such answer. */
  read(answer: unknown): ReadonlyMap<string, ModelFacts>
}

const tokens = z.number().int().positive().optional().catch(undefined)
const list = <Entry extends z.ZodType>(entry: Entry) => z.array(entry.nullable().catch(null))

const ollamaRunning = z.object({ models: list(z.object({ name: z.string(), context_length: tokens })) })
const studioModels = z.object({
  data: list(z.object({ id: z.string(), type: z.string().optional().catch(undefined), loaded_context_length: tokens, max_context_length: tokens })),
})
const llamaProps = z.object({
  default_generation_settings: z.object({ n_ctx: tokens }).optional().catch(undefined),
  modalities: z.object({ vision: z.boolean().optional() }).optional().catch(undefined),
})

/**
 * A server on this machine cuts the window as it was started, whatever the weights could do, and only its own interface tells.
 *
 * Source: the manuals of Ollama (`/api/ps`), LM Studio (`/api/v0/models`) and llama.cpp (`/props`), November 2026.
 */
const kinds: Readonly<Record<NonNullable<ProviderConfig['nativeKind']>, NativeFacts>> = {
  ollama: {
    path: '/api/ps',
    read: (answer) => new Map(entriesOf(ollamaRunning.safeParse(answer).data?.models).map(({ name, context_length }) => [name, { contextWindow: context_length }])),
  },
  'lm-studio': {
    path: '/api/v0/models',
    read: (answer) =>
      new Map(
        entriesOf(studioModels.safeParse(answer).data?.data).map(({ id, type, loaded_context_length, max_context_length }) => [
          id,
          { contextWindow: loaded_context_length ?? max_context_length, ...(type === 'vlm' && { images: true }) },
        ]),
      ),
  },
  'llama-cpp': {
    path: '/props',
    read(answer) {
      const { data } = llamaProps.safeParse(answer)
      if (data === undefined) return new Map()
      return new Map([['*', { contextWindow: data.default_generation_settings?.n_ctx, ...(data.modalities?.vision === true && { images: true }) }]])
    },
  },
}

export const nativeFactsOf = ({ nativeKind }: ProviderConfig): NativeFacts | null => (nativeKind === null ? null : kinds[nativeKind])

const entriesOf = <Entry>(entries: readonly (Entry | null)[] | undefined): readonly Entry[] => (entries ?? []).filter((entry) => entry !== null)
