import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { Skills } from '../../features/skills/service.ts'
import { presentCall, presentResult } from './skill.card.ts'

/** `skill`: what one of the listed skills says. Source: capability specification 13. */
export const createSkill = (skills: Pick<Skills, 'load' | 'render' | 'maxFileBytes'>): ToolDefinition =>
  defineTool({
    name: 'skill',
    description: 'Load the instructions of one skill from the list of skills you were given, then follow them.',
    parameters: { name: { type: 'string', required: true, description: 'Its name, as it stands in the list.' } },
    output: {
      schema: {
        type: 'object',
        properties: {
          name: { type: 'string', required: true },
          provider: { type: 'string', required: true },
          resourceBase: {
            oneOf: [
              { type: 'object', properties: { kind: { type: 'string', required: true, const: 'directory' }, path: { type: 'string', required: true } }, additionalProperties: false },
              { type: 'object', properties: { kind: { type: 'string', required: true, const: 'url' }, url: { type: 'string', required: true } }, additionalProperties: false },
              { type: 'object', properties: { kind: { type: 'string', required: true, const: 'opaque' }, description: { type: 'string', required: true } }, additionalProperties: false },
            ],
          },
          content: { type: 'string', required: true },
        },
        additionalProperties: false,
      },
      render: (_args, loaded) => [{ type: 'text', text: skills.render(loaded) }],
    },
    limits: [{ of: 'the file of a skill', max: skills.maxFileBytes, unit: 'bytes' }],
    execute: ({ name }, { agent }) => skills.load(name, { by: 'model', ...(agent && { agent }) }),
    presentCall,
    presentResult,
  })
