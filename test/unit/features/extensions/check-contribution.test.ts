import { describe, expect, it } from 'vitest'
import type { Contribution } from '../../../../extension/capabilities/contributions.ts'
import { declarationCaps } from '../../../../extension/core/tools/lent/declaration-caps.ts'
import { checkContribution, MAX_SECTION } from '../../../../extension/features/extensions/check-contribution.ts'
import { countTool } from '../../../support/extension-rig.ts'

/** What somebody without types may hand over. */
const problemOf = (contribution: unknown): string | null => {
  try {
    checkContribution({ extensionId: 'acme.sample', ...(contribution as object) } as Contribution)
    return null
  } catch (error) {
    expect(error).toMatchObject({ code: 'INVALID_CONTRIBUTION', extensionId: 'acme.sample', name: 'ExtensionApiError' })
    return (error as Error).message
  }
}
const tool = (parts: Record<string, unknown>) => problemOf({ kind: 'tool', tool: { ...countTool(), ...parts } })
const output = (parts: Record<string, unknown>) => tool({ output: { ...countTool().output, ...parts } })
const section = (parts: Record<string, unknown>) => problemOf({ kind: 'section', section: { name: 'tone', text: 'Be brief.', ...parts } })
const plugin = (parts: Record<string, unknown>) => problemOf({ kind: 'plugin', plugin: { name: 'all', apply: () => {}, ...parts } })
const loop: Record<string, unknown> = { type: 'array' }
loop['items'] = loop

describe('a sound contribution', () => {
  it.each([
    ['a tool', tool({})],
    ['a tool with everything', tool({ timeoutMs: 1, readOnly: true, isConcurrencySafe: () => true, finalizeContent: () => undefined, presentCall: () => undefined, presentResult: () => undefined })],
    ['a section', section({ order: -1, tools: ['read'] })],
    ['a section with placeholders', section({ text: 'In {{cwd}} with {{model}} of {{provider}}.' })],
    ['a plugin', plugin({ inject: ['tools', 'systemPrompt'] })],
    ['a policy', problemOf({ kind: 'policy', listener: () => undefined })],
    ['an observer', problemOf({ kind: 'results', observer: () => undefined })],
  ])('passes: %s', (_what, problem) => expect(problem).toBeNull())
})

describe('a bad contribution is refused with its extension, its part and what to do', () => {
  const rows: readonly [what: string, problem: string | null, expected: string][] = [
    ['no tool', problemOf({ kind: 'tool', tool: null }), 'acme.sample cannot register the tool: it is an object with name, description, parameters, output and execute.'],
    ['no name', tool({ name: undefined }), 'acme.sample cannot register the tool: its name has 1 to 64 letters, digits, dashes or underscores, a letter first.'],
    ['a name with a blank', tool({ name: 'two words' }), 'acme.sample cannot register the tool "two words": its name has 1 to 64 letters'],
    ['a name with a dot', tool({ name: 'acme.count' }), 'its name has 1 to 64 letters'],
    ['a name that is too long', tool({ name: 'a'.repeat(65) }), `acme.sample cannot register the tool "${'a'.repeat(65)}": its name has 1 to 64 letters`],
    ['a name without an end', tool({ name: 'a'.repeat(10_000) }), `acme.sample cannot register the tool "${'a'.repeat(80)}": its name has 1 to 64 letters`],
    ['a name of servers', tool({ name: 'mcp__files__read' }), 'names that begin mcp__ belong to others. Choose another name.'],
    ['a name of the editor', tool({ name: 'vscode__run' }), 'names that begin vscode__ belong to others.'],
    ['a name of plugins', tool({ name: 'cordis_run' }), 'names that begin cordis_ belong to others.'],
    ['no description', tool({ description: ' ' }), 'it needs a description, which the model reads.'],
    ['a long description', tool({ description: 'x'.repeat(declarationCaps.descriptionChars + 1) }), 'its description has 4001 characters; 4000 at most are told to the model.'],
    ['no output', tool({ output: undefined }), 'it needs an output with a schema and a renderer'],
    ['no renderer', output({ render: 'text' }), 'it needs an output with a schema and a renderer'],
    ['a meta that is no function', output({ presentationMeta: {} }), 'output.presentationMeta is a function or left out.'],
    ['no body', tool({ execute: undefined }), 'it needs a body: execute is a function.'],
    ['a presenter that is no function', tool({ presentCall: {} }), 'presentCall is a function or left out.'],
    ['a classifier that is no function', tool({ isConcurrencySafe: true }), 'isConcurrencySafe is a function or left out.'],
    ['a word in the place of a flag', tool({ readOnly: 'yes' }), 'readOnly is true, false or left out.'],
    ['no time', tool({ timeoutMs: 0 }), 'timeoutMs is a positive number of milliseconds or left out.'],
    ['endless time', tool({ timeoutMs: Infinity }), 'timeoutMs is a positive number of milliseconds or left out.'],
    ['parameters that are no schema', tool({ parameters: { text: 'string' } }), 'parameters is no schema that Bosun knows.'],
    ['parameters of JSON Schema', tool({ parameters: { type: 'object', properties: {} } }), 'parameters is no schema that Bosun knows.'],
    ['an unknown keyword', tool({ parameters: { text: { type: 'string', minLength: 1 } } }), 'the keyword `minLength` is not supported for string.'],
    ['an unknown type', tool({ parameters: { when: { type: 'date' } } }), '`type` is one word of'],
    ['an optional that says so', tool({ parameters: { text: { type: 'string', required: false } } }), '`required: true` on a property is the only spelling'],
    ['an object that does not say whether it is open', output({ schema: { type: 'object' } }), 'an object states `additionalProperties` as true or false.'],
    ['a schema that holds itself', output({ schema: loop }), 'output.schema is no schema that Bosun knows.'],
    ['a schema that cannot be read', output({ schema: { get type() { throw new Error('no') } } }), 'output.schema is no schema that Bosun knows. no'],
    ['a large schema', tool({ parameters: { one: { type: 'string', description: 'x'.repeat(70_000) } } }), 'bytes as JSON Schema; 65536 at most are taken.'],
    ['no section', problemOf({ kind: 'section' }), 'acme.sample cannot register the prompt section: it is an object with name and text.'],
    ['a section without a name', section({ name: '' }), 'its name has 1 to 64 characters.'],
    ['a section without words', section({ text: '\n' }), 'acme.sample cannot register the prompt section "tone": it needs a text.'],
    ['a long section', section({ text: 'x'.repeat(MAX_SECTION + 1) }), 'its text has 8001 characters; 8000 at most are told to the model.'],
    ['a section without a place', section({ order: NaN }), 'order is a number or left out.'],
    ['a section of tools that are none', section({ tools: [1] }), 'tools is a list of names or left out.'],
    ['an unknown placeholder', section({ text: 'It is {{day}}.' }), 'uses {{day}}, which is unknown.'],
    ['an open placeholder', section({ text: 'Write {{ and' }), 'has a malformed placeholder'],
    ['no plugin', problemOf({ kind: 'plugin', plugin: () => {} }), 'acme.sample cannot register the plugin: it is an object with name and apply.'],
    ['a plugin that does nothing', plugin({ apply: undefined }), 'acme.sample cannot register the plugin "all": it needs apply, a function of the context.'],
    ['services that are no list', plugin({ inject: 'tools' }), 'inject is a list of services or left out.'],
    ['a service of ours', plugin({ inject: ['tools', 'sessions'] }), 'there is no service "sessions" for other extensions. Known: tools, systemPrompt.'],
    ['no policy', problemOf({ kind: 'policy', listener: {} }), 'acme.sample cannot register its policy: it is a function of the call.'],
    ['no observer', problemOf({ kind: 'results' }), 'acme.sample cannot register its observer of results'],
  ]
  it.each(rows)('%s', (_what, problem, expected) => expect(problem).toContain(expected))
})
