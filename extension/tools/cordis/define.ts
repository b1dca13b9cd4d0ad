import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Hunk } from '../../core/tools/hunks.ts'
import type { DefinedPackage, DynamicPlugins } from '../../features/dynamic-plugins/service.ts'
import { hunkSchema, keptHunks, MAX_META_BYTES } from '../files/file-change.ts'
import { agentOf } from './agent-of.ts'
import { presentDefine, presentDefineResult } from './cordis.card.ts'

/** UTF-8 bytes of one half; the service holds to it. */
const MAX_CODE_BYTES = 200_000

/** `cordis_define`: record a package that the person let run; nothing of it runs yet. Source: runtime specification 22. */
export const createDefine = (plugins: Pick<DynamicPlugins, 'define'>): ToolDefinition =>
  defineTool({
    name: 'cordis_define',
    description:
      'Define an immutable dynamic Cordis package: the code of a new plugin, or another version of one. Its syntax is checked, then the person reads the code, against the version that they let run last, and may refuse. What they let run is recorded and needs no other question in this session; nothing runs before cordis_run. Load the skill plugin-development before the first.',
    parameters: {
      plugin: {
        required: true,
        oneOf: [
          { type: 'object', properties: { kind: { type: 'string', required: true, const: 'new' }, idPrefix: { type: 'string', required: true, description: 'Three to six lower-case letters.' } }, additionalProperties: false },
          { type: 'object', properties: { kind: { type: 'string', required: true, const: 'existing' }, pluginId: { type: 'string', required: true } }, additionalProperties: false },
        ],
      },
      name: { type: 'string', required: true, description: 'For the person.' },
      purpose: { type: 'string', required: true, description: 'What it is for, for the person who decides whether it runs.' },
      code: {
        type: 'object',
        required: true,
        properties: { host: { type: 'string', description: 'Body of a function in plain JavaScript.' }, client: { type: 'string', description: 'Likewise, for the chat.' } },
        additionalProperties: false,
        description: 'At least one of the two.',
      },
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          pluginId: { type: 'string', required: true },
          packageId: { type: 'string', required: true },
          halves: { type: 'array', required: true, items: { type: 'string' } },
          folder: { type: 'string', required: true },
          isApproved: { type: 'boolean', required: true, description: 'The person let it run in this session.' },
          isByRule: { type: 'boolean', description: 'A standing rule of the person let it be defined in the place of an answer.' },
          against: { type: 'string', description: 'The package that it was shown to the person against.' },
          hunks: { type: 'array', items: { type: 'object', properties: { half: { type: 'string', required: true }, ...hunkSchema.properties }, additionalProperties: false }, description: 'How the code differs from that.' },
        },
        additionalProperties: false,
      },
      render: (_args, { pluginId, packageId, folder, isApproved, isByRule }) => [
        {
          type: 'text',
          text: `Defined ${packageId} of the plugin ${pluginId}. ${leaveWords(isApproved, isByRule === true)} Its code is kept in ${folder}.`,
        },
      ],
      presentationMeta: (_args, { pluginId, packageId, halves, folder, isApproved, isByRule, against, hunks }) => ({
        pluginId, packageId, halves, folder, isApproved,
        ...(isByRule === true && { isByRule }),
        ...(against !== undefined && { against, ...keptHunks(hunks ?? []) }),
      }),
    },
    limits: [{ of: 'the code of one half', max: MAX_CODE_BYTES, unit: 'bytes' }, { of: 'facts of the card', max: MAX_META_BYTES, unit: 'bytes' }],
    async execute({ plugin, name, purpose, code }, exec) {
      const { changes, ...defined } = await plugins.define(agentOf(exec, 'cordis_define'), { plugin, name, purpose, code }, exec)
      return { ...defined, ...(changes && { hunks: changes.flatMap(hunksOf) }) }
    },
    finalizeContent: (_exec, result) =>
      result.isError && result.error.info?.code === 'DENIED' ? [{ type: 'text', text: `Error: ${result.error.message} Nothing was defined: this code is no package, so cordis_run has nothing to run.` }] : undefined,
    presentCall: presentDefine,
    presentResult: presentDefineResult,
  })

function leaveWords(isApproved: boolean, isByRule: boolean): string {
  if (isApproved) return 'The person let it run in this session; it does not run before cordis_run.'
  return isByRule ? 'A rule of the person stands for their answer; it does not run before cordis_run.' : 'It does not run; cordis_run starts it once the person lets it.'
}

const hunksOf = ({ path, hunks }: NonNullable<DefinedPackage['changes']>[number]): readonly (Hunk & { readonly half: string })[] =>
  hunks.map((hunk) => ({ half: path.endsWith('/host.js') ? 'host' : 'client', ...hunk }))
