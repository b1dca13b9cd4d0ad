import type { InferValue, ValueSpec } from '../../core/schema/spec.ts'

const streamSchema = {
  type: 'object',
  properties: {
    text: { type: 'string', required: true, description: 'All of it, or its beginning and its end with a line between them that says what is left out.' },
    truncated: { type: 'boolean', required: true },
    totalBytes: { type: 'integer', required: true },
    omittedBytes: { type: 'integer' },
    spillPath: { type: 'string' },
  },
  additionalProperties: false,
} as const satisfies ValueSpec

const sandboxModes = ['read-only', 'workspace-write', 'danger-full-access'] as const

/** What a shell call gives. Exit code, signal and time-out are facts of their own; text is raw, escape sequences included. */
export const shellValueSchema = {
  oneOf: [
    {
      type: 'object',
      properties: {
        kind: { type: 'string', required: true, const: 'foreground' },
        exitCode: { oneOf: [{ type: 'integer' }, { type: 'null' }], required: true },
        signal: { oneOf: [{ type: 'string' }, { type: 'null' }], required: true },
        timedOut: { type: 'boolean', required: true },
        aborted: { type: 'boolean', required: true },
        timeoutMs: { type: 'number', required: true },
        durationMs: { type: 'number', required: true },
        cwd: { type: 'string', required: true },
        silentMs: { type: 'number', description: 'It had written nothing for so long when its time was up.' },
        leftRunning: { type: 'boolean', description: 'Programs that it started still run.' },
        sandbox: {
          type: 'object',
          properties: {
            mode: { type: 'string', required: true, enum: sandboxModes },
            denied: { type: 'boolean', required: true },
            runnerFailed: { type: 'boolean', description: 'The sandbox failed, and the command never ran.' },
            wider: { type: 'string', enum: sandboxModes, description: 'What a second try may ask for.' },
          },
          additionalProperties: false,
        },
        stdout: { ...streamSchema, required: true },
        stderr: { ...streamSchema, required: true },
        transcript: { type: 'string', required: true, description: 'Both ends of both streams in the order they came.' },
      },
      additionalProperties: false,
    },
    {
      type: 'object',
      properties: {
        kind: { type: 'string', required: true, const: 'background' },
        jobId: { type: 'string', required: true },
        moved: {
          type: 'object',
          description: 'It ran in the foreground first, and why it does no more.',
          properties: { why: { type: 'string', required: true, enum: ['person', 'input', 'silence'] }, output: { type: 'string', required: true } },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
  ],
} as const satisfies ValueSpec

export type ShellValue = InferValue<typeof shellValueSchema>
export type ForegroundValue = Extract<ShellValue, { readonly kind: 'foreground' }>
export type BackgroundValue = Extract<ShellValue, { readonly kind: 'background' }>
