import type { InferValue, ValueSpec } from '../../core/schema/spec.ts'
import { newProblemsSchema } from '../../core/tools/new-problems.ts'
import { changeProperties } from '../files/file-change.ts'

const positionSchema = { type: 'object', properties: { line: { type: 'integer', required: true }, character: { type: 'integer', required: true } }, additionalProperties: false } as const satisfies ValueSpec
const rangeSchema = { type: 'object', properties: { start: { ...positionSchema, required: true }, end: { ...positionSchema, required: true } }, additionalProperties: false } as const satisfies ValueSpec
const more = {
  isIndexing: { type: 'boolean', const: true, description: 'The service may not know everything yet.' },
  note: { type: 'string' },
} as const

/** What `lsp` gives. Positions are zero-based, as in the protocol; `total` counts also what was left out. */
export const lspValueSchema = {
  oneOf: [
    {
      type: 'object',
      properties: {
        kind: { type: 'string', const: 'locations', required: true },
        locations: {
          type: 'array',
          required: true,
          items: { type: 'object', properties: { uri: { type: 'string', required: true }, range: { ...rangeSchema, required: true }, text: { type: 'string' } }, additionalProperties: false },
        },
        total: { type: 'integer', required: true },
        resolvedWorkspaceUri: { type: 'string', required: true },
        ...more,
      },
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {
        kind: { type: 'string', const: 'hover', required: true },
        hover: { oneOf: [{ type: 'object', properties: { contents: { type: 'string', required: true }, range: rangeSchema }, additionalProperties: false }, { type: 'null' }], required: true },
        ...more,
      },
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {
        kind: { type: 'string', const: 'symbols', required: true },
        symbols: {
          type: 'array',
          required: true,
          items: {
            type: 'object',
            properties: { name: { type: 'string', required: true }, kind: { type: 'string', required: true }, uri: { type: 'string', required: true }, range: { ...rangeSchema, required: true }, container: { type: 'string' } },
            additionalProperties: false,
          },
        },
        total: { type: 'integer', required: true },
        resolvedWorkspaceUri: { type: 'string', required: true },
        ...more,
      },
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {
        kind: { type: 'string', const: 'problems', required: true },
        problems: {
          type: 'array',
          required: true,
          items: {
            type: 'object',
            properties: { range: { ...rangeSchema, required: true }, severity: { type: 'string', enum: ['error', 'warning', 'information', 'hint'], required: true }, message: { type: 'string', required: true }, source: { type: 'string' } },
            additionalProperties: false,
          },
        },
        total: { type: 'integer', required: true },
        ...more,
      },
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {
        kind: { type: 'string', const: 'actions', required: true },
        actions: {
          type: 'array',
          required: true,
          items: {
            type: 'object',
            properties: {
              title: { type: 'string', required: true },
              kind: { type: 'string' },
              disabled: { type: 'string' },
              isPreferred: { type: 'boolean', const: true },
              isCommand: { type: 'boolean', const: true },
            },
            additionalProperties: false,
          },
        },
        total: { type: 'integer', required: true },
        ...more,
      },
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {
        kind: { type: 'string', const: 'changes', required: true },
        made: { type: 'string', required: true },
        files: {
          type: 'array',
          required: true,
          items: {
            type: 'object',
            properties: {
              path: changeProperties.path,
              target: changeProperties.target,
              hunks: changeProperties.hunks,
              added: changeProperties.added,
              removed: changeProperties.removed,
              beforeImage: changeProperties.beforeImage,
              isUnsaved: changeProperties.isUnsaved,
              places: { type: 'integer', required: true },
              wasReformatted: { type: 'boolean', const: true },
            },
            additionalProperties: false,
          },
        },
        newProblems: { ...newProblemsSchema, description: 'What the editor finds wrong with the files since the change.' },
        note: more.note,
      },
      additionalProperties: false,
    },
  ],
} as const satisfies ValueSpec

export type LspValue = InferValue<typeof lspValueSchema>
