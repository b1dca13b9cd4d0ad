import { orAbort } from '../../base/or-abort.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import type { DynamicPlugins } from '../../features/dynamic-plugins/service.ts'
import { agentOf } from './agent-of.ts'
import { presentRun, presentRunResult, presentStop, presentStopResult } from './cordis.card.ts'

/** `cordis_run`: start a package, or put it in the place of the one that runs. Source: runtime specification 22. */
export const createRun = (plugins: Pick<DynamicPlugins, 'run'>): ToolDefinition =>
  defineTool({
    name: 'cordis_run',
    description: 'Run or update a defined package. One that the person let run when it was defined needs no other question; any other is put before them with its code, and they may refuse. With a client half the result is "awaiting", and its outcome comes as a message. A failed update leaves what ran before.',
    parameters: {
      pluginId: { type: 'string', required: true },
      packageId: { type: 'string', required: true },
      mode: { type: 'string', required: true, enum: ['run', 'update'], description: '"run" for one that does not run, "update" for one that does.' },
    },
    output: {
      schema: {
        type: 'object',
        properties: {
          runId: { type: 'string', required: true },
          state: { type: 'string', required: true, enum: ['running', 'awaiting'] },
          tools: { type: 'array', required: true, items: { type: 'string' } },
          handlers: { type: 'array', required: true, items: { type: 'string' } },
        },
        additionalProperties: false,
      },
      render: ({ pluginId, packageId }, { runId, state, tools, handlers }) => [
        {
          type: 'text',
          text: `${state === 'running' ? `The plugin ${pluginId} runs` : `The plugin ${pluginId} is awaiting its client half; you are told how that ends`} (${packageId}, ${runId}).${tools.length === 0 ? '' : ` Its tools: ${tools.join(', ')}.`}${handlers.length === 0 ? '' : ` Its handlers: ${handlers.join(', ')}.`}`,
        },
      ],
      presentationMeta: (_args, { runId, state }) => ({ runId, state }),
    },
    // What it waits for may be a tool of the very plugin that called it, and waits for this call.
    execute: async ({ pluginId, packageId, mode }, exec) => await orAbort(plugins.run(agentOf(exec, 'cordis_run'), { pluginId, packageId, mode }, exec.signal), exec.signal),
    presentCall: presentRun,
    presentResult: presentRunResult,
  })

/** `cordis_stop`: stop a plugin; nothing where it does not run. */
export const createStop = (plugins: Pick<DynamicPlugins, 'stop'>): ToolDefinition =>
  defineTool({
    name: 'cordis_stop',
    description: 'Stop a running dynamic plugin. Everything it brought is gone when this returns; it stays defined.',
    parameters: { pluginId: { type: 'string', required: true } },
    output: {
      schema: { type: 'object', properties: { wasRunning: { type: 'boolean', required: true } }, additionalProperties: false },
      render: ({ pluginId }, { wasRunning }) => [{ type: 'text', text: wasRunning ? `The plugin ${pluginId} is stopped.` : `The plugin ${pluginId} did not run.` }],
      presentationMeta: (_args, { wasRunning }) => ({ wasRunning }),
    },
    execute: async ({ pluginId }, exec) => await orAbort(plugins.stop(agentOf(exec, 'cordis_stop'), pluginId), exec.signal),
    presentCall: presentStop('stop'),
    presentResult: presentStopResult,
  })

/** `cordis_undefine`: stop a plugin and forget it with all its packages; their files stay. */
export const createUndefine = (plugins: Pick<DynamicPlugins, 'undefine'>): ToolDefinition =>
  defineTool({
    name: 'cordis_undefine',
    description: 'Remove a dynamic plugin definition: it is stopped if it runs, and forgotten with all its packages.',
    parameters: { pluginId: { type: 'string', required: true } },
    output: {
      schema: { type: 'object', properties: { wasRunning: { type: 'boolean', required: true } }, additionalProperties: false },
      render: ({ pluginId }, { wasRunning }) => [{ type: 'text', text: `The plugin ${pluginId} is gone.${wasRunning ? ' It ran, and was stopped.' : ' It did not run.'}` }],
      presentationMeta: (_args, { wasRunning }) => ({ wasRunning }),
    },
    execute: async ({ pluginId }, exec) => await orAbort(plugins.undefine(agentOf(exec, 'cordis_undefine'), pluginId), exec.signal),
    presentCall: presentStop('remove'),
  })
