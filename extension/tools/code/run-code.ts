import { defineTool } from '../../core/tools/define-tool.ts'
import { ToolError, type ToolDefinition } from '../../core/tools/definition.ts'
import type { CodeMode } from '../../features/code-mode/service.ts'
import { programText } from './program-text.ts'
import { presentRunCode } from './run-code.card.ts'

/** `run_code`: run a program that acts through the other tools. Source: runtime specification 7.1. */
export function createRunCode(codeMode: Pick<CodeMode, 'run' | 'limits'>): ToolDefinition {
  return defineTool({
    name: 'run_code',
    description:
      'Run a program in TypeScript: the body of an async function with top-level await. It finds tools.<name>(args), which gives the value of that tool or throws ToolCallError, and console; ' +
      'no modules, files, network or timers. You read what it prints, then what it returns: plain JSON. Each run begins anew.',
    parameters: {
      code: { type: 'string', required: true, description: 'The program. Types are erased; no enum or namespace.' },
      description: { type: 'string', required: true, description: 'What it does, in 5 to 10 words, for the person.' },
    },
    output: {
      schema: {
        type: 'object',
        properties: { logs: { type: 'array', items: { type: 'string' }, required: true }, result: { type: 'json' } },
        additionalProperties: false,
      },
      render: (_args, outcome) => [{ type: 'text', text: programText(outcome) }],
    },
    limits: codeMode.limits,
    async execute({ code, description }, exec) {
      if (description.trim() === '') throw new ToolError('INVALID_ARGS', 'description is blank. Say in 5 to 10 words what the program does.')
      const { logs, result } = await codeMode.run(code, exec)
      return { logs, ...(result !== undefined && { result }) }
    },
    presentCall: presentRunCode,
  })
}
