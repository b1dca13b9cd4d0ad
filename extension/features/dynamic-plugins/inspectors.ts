import { snapshotJson, stringifyJson, type Json, type JsonObject } from '../../base/json.ts'
import { utf8Length } from '../../base/text.ts'
import type { ScopeKey } from '../../core/kernel/plugin.ts'
import { redacted } from '../../core/policy/redact-secrets.ts'
import type { Presets } from '../../core/presets/preset.ts'
import { toJsonSchema } from '../../core/schema/compile.ts'
import type { PropertySpecs, ValueSpec } from '../../core/schema/spec.ts'
import { validate } from '../../core/schema/validate.ts'
import type { Settings } from '../../core/settings/settings.ts'
import type { Tools } from '../../core/tools/service.ts'
import { MAX_PAYLOAD_BYTES } from './caps.ts'
import { clientBuiltIns, slotFacts, themeVariables } from './client-manifest.ts'
import { DynamicPluginError } from './error.ts'
import { observedEvents } from './observed-events.ts'
import { builtIns } from './prelude.ts'
import { clientSlots, type InspectProvider, type InspectQuery } from './service.ts'

export interface InspectNeeds {
  readonly tools: Pick<Tools, 'list' | 'groupOf'>
  readonly presets: () => Pick<Presets, 'list' | 'discover'> | undefined
  readonly settings: Pick<Settings, 'describe'>
  /** Names of the services that are there, and of the extension points with how each is run and what it gives. */
  readonly services: () => readonly string[]
  readonly points: Readonly<Record<string, { readonly kind: string; readonly args: string }>>
}

interface Method {
  readonly description: string
  readonly input: JsonObject
  readonly output: JsonObject
  readonly answer: (input: JsonObject, scope: ScopeKey) => unknown
}

interface Provider {
  readonly platform: 'host' | 'client'
  readonly description: string
  readonly methods: Readonly<Record<string, Method>>
}

export interface Inspectors {
  list(): readonly InspectProvider[]
  /** Errors: `DynamicPluginError` `UNKNOWN_QUERY`, `INVALID_QUERY`, `INVALID_ANSWER`. */
  query(query: InspectQuery, scope: ScopeKey): Promise<Json>
}

const text = { type: 'string', required: true } as const
const listOf = (properties: PropertySpecs): JsonObject => toJsonSchema({ type: 'array', items: { type: 'object', properties, additionalProperties: false } })
const objectOf = (properties: PropertySpecs): JsonObject => toJsonSchema({ type: 'object', properties, additionalProperties: false })
const named: ValueSpec & { readonly required: true } = { type: 'string', required: true }

/** What can be asked about the running application: facts alone, values of secret settings masked. Source: runtime specification 22. */
export function createInspectors(needs: InspectNeeds): Inspectors {
  const { tools, presets, settings, services, points } = needs
  // Inputs are held to texts by the schema of their method.
  const one = <T>(found: T | undefined, what: string): T => {
    if (found === undefined) throw new DynamicPluginError('INVALID_QUERY', `There is no ${what}. Ask list for those there are.`)
    return found
  }
  const providers: Readonly<Record<string, Provider>> = {
    'host:tools': {
      platform: 'host',
      description: 'The tools that this session sees.',
      methods: {
        list: {
          description: 'Each tool with what it is for.',
          input: objectOf({}),
          output: listOf({ name: text, description: text, group: text }),
          answer: (_input, scope) => tools.list(scope).map(({ name, description }) => ({ name, description, group: tools.groupOf(name, scope) ?? '' })),
        },
        get: {
          description: 'One tool with the schemas of its arguments and value.',
          input: objectOf({ name: named }),
          output: objectOf({ name: text, description: text, parameters: { type: 'json', required: true }, output: { type: 'json', required: true } }),
          answer({ name: asked }, scope) {
            const { name, description, parameters, output } = one(tools.list(scope).find((tool) => tool.name === asked), `tool ${asked as string}`)
            return { name, description, parameters, output: output.schema }
          },
        },
      },
    },
    'host:services': {
      platform: 'host',
      description: 'The services of the application, by name. A host half reaches them only by what built-ins lists.',
      methods: { list: { description: 'Their names.', input: objectOf({}), output: listOf({ name: text }), answer: () => services().map((name) => ({ name })) } },
    },
    'host:events': {
      platform: 'host',
      description: 'The extension points of the application, and the events that ctx.on can observe.',
      methods: {
        list: { description: 'Every extension point: how it is run, and with what.', input: objectOf({}), output: listOf({ name: text, kind: text, args: text }), answer: () => Object.entries(points).map(([name, { kind, args }]) => ({ name, kind, args })) },
        observable: { description: 'What ctx.on takes, and what the listener is told.', input: objectOf({}), output: listOf({ name: text, description: text, facts: text }), answer: () => Object.entries(observedEvents).map(([name, { description, facts }]) => ({ name, description, facts })) },
      },
    },
    'host:presets': {
      platform: 'host',
      description: 'The presets that sessions can begin with.',
      methods: {
        list: {
          description: 'Each as it stands in its file now, with where it comes from, and why it cannot be used.',
          input: objectOf({}),
          output: listOf({ id: text, name: text, description: text, root: text, path: { type: 'string' }, problem: { type: 'string' } }),
          async answer() {
            // Whoever wrote one asks whether it can be used.
            await presets()?.discover()
            return presets()?.list() ?? []
          },
        },
      },
    },
    'host:settings': {
      platform: 'host',
      description: 'The settings of Bosun as they stand; secrets are masked.',
      methods: {
        list: {
          description: 'Each setting with what it does.',
          input: objectOf({}),
          output: listOf({ key: text, description: text, scope: text, isSet: { type: 'boolean', required: true } }),
          answer: () => settings.describe().map(({ key, description, scope, setIn }) => ({ key, description, scope, isSet: setIn !== null })),
        },
        get: {
          description: 'One setting with what holds.',
          input: objectOf({ key: named }),
          output: objectOf({ key: text, description: text, scope: text, value: { type: 'json', required: true }, fallback: { type: 'json', required: true }, problem: { type: 'string' } }),
          answer({ key: asked }) {
            const { key, description, scope, value, fallback, problem } = one(settings.describe().find((entry) => entry.key === asked), `setting ${asked as string}`)
            return { key, description, scope, value, fallback, ...(problem !== undefined && { problem }) }
          },
        },
      },
    },
    'host:built-ins': {
      platform: 'host',
      description: 'What the body of a host half finds.',
      methods: { list: { description: 'Each name with its signature.', input: objectOf({}), output: listOf({ name: text, signature: text, description: text }), answer: () => builtIns } },
    },
    'client:slots': {
      platform: 'client',
      description: 'Where the client half of a plugin draws.',
      methods: { list: { description: 'Each slot with where it is.', input: objectOf({}), output: listOf({ name: text, description: text }), answer: () => clientSlots.map((name) => ({ name, description: slotFacts[name] })) } },
    },
    'client:built-ins': {
      platform: 'client',
      description: 'What the body of a client half finds.',
      methods: { list: { description: 'Each name with its signature.', input: objectOf({}), output: listOf({ name: text, signature: text, description: text }), answer: () => clientBuiltIns } },
    },
    'client:theme': {
      platform: 'client',
      description: 'Variables of the theme for the styles of a client half.',
      methods: { list: { description: 'Each variable with what it is for.', input: objectOf({}), output: listOf({ name: text, description: text }), answer: () => themeVariables } },
    },
  }
  return {
    list: () =>
      Object.entries(providers).map(([id, { platform, description, methods }]) => ({
        platform,
        name: id.slice(platform.length + 1),
        description,
        methods: Object.entries(methods).map(([name, { description: words, input, output }]) => ({ name, description: words, input, output })),
      })),
    async query({ platform, provider, method, input = {} }, scope) {
      const id = `${platform}:${provider}`
      const found = Object.hasOwn(providers, id) ? providers[id] : undefined
      const known = Object.keys(providers).filter((key) => key.startsWith(`${platform}:`)).map((key) => key.slice(platform.length + 1))
      if (found === undefined) throw new DynamicPluginError('UNKNOWN_QUERY', `There is no ${platform} provider ${provider}. There are: ${known.join(', ')}.`)
      const asked = Object.hasOwn(found.methods, method) ? found.methods[method] : undefined
      if (asked === undefined) throw new DynamicPluginError('UNKNOWN_QUERY', `The provider ${provider} has no method ${method}. It has: ${Object.keys(found.methods).join(', ')}.`)
      const wrong = validate(asked.input, input, 'input')
      if (wrong.length > 0) throw new DynamicPluginError('INVALID_QUERY', `The input of ${provider}.${method} is not right: ${wrong.join('; ')}.`)
      // Held to an object by the schema.
      return checkedAnswer(redacted(snapshotJson(await asked.answer(input as JsonObject, scope), 'answer')), asked.output, `${provider}.${method}`)
    },
  }
}

function checkedAnswer(answer: Json, schema: JsonObject, what: string): Json {
  const wrong = validate(schema, answer, 'answer')
  if (wrong.length > 0) throw new DynamicPluginError('INVALID_ANSWER', `What ${what} gives is not what its manifest says: ${wrong.slice(0, 3).join('; ')}.`)
  const bytes = utf8Length(stringifyJson(answer))
  if (bytes > MAX_PAYLOAD_BYTES) throw new DynamicPluginError('INVALID_ANSWER', `What ${what} gives has ${bytes} bytes, and an answer may have ${MAX_PAYLOAD_BYTES}.`)
  return answer
}
