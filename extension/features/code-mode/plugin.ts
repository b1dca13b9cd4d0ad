import type { Clock } from '../../capabilities/clock.ts'
import type { CodeRuntime } from '../../capabilities/code-runtime.ts'
import type { Machine } from '../../capabilities/machine.ts'
import type { Workspace } from '../../capabilities/workspace.ts'
import type { Dispatcher, Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import { RESERVED_TOOL_NAME } from '../../core/tools/definition.ts'
import type {} from '../../core/tools/service.ts'
import { createCodeMode, type ProgramCaps } from './code-mode.ts'
import { createPersonWaits } from './person-waits.ts'
import { declarationsText, programsAlone } from './words.ts'

export interface CodeModeNeeds {
  readonly codeRuntime: CodeRuntime
  readonly clock: Pick<Clock, 'monotonicMs' | 'schedule'>
  readonly dispatch: Dispatcher
  readonly machine: Pick<Machine, 'randomId'>
  readonly workspace: Pick<Workspace, 'isTrusted'>
  /** Read when they are needed. */
  readonly settings: { readonly [Cap in keyof ProgramCaps]: () => number } & { readonly maxParallelSubCalls: () => number }
}

/** Offers `codeMode`, says in the prompt what programs can call, and lets none run in a folder that is not trusted. Source: runtime specification 7. */
export function codeModePlugin({ settings, workspace, ...parts }: CodeModeNeeds): Plugin {
  return {
    name: 'code-mode',
    inject: ['settings', 'tools', 'systemPrompt'],
    apply(ctx) {
      const { tools, systemPrompt } = ctx
      const codeMode = createCodeMode({
        ...parts,
        tools,
        waits: createPersonWaits(ctx),
        maxParallelSubCalls: settings.maxParallelSubCalls,
        caps: () => ({ computeMs: settings.computeMs(), maxWallMs: settings.maxWallMs(), memoryBytes: settings.memoryBytes(), outputBytes: settings.outputBytes(), calls: settings.calls() }),
      })
      ctx.provide('codeMode', codeMode)
      systemPrompt.section({ name: 'programs', order: 99, text: ({ scope }) => (tools.presentation(scope) === 'code' ? programsAlone : undefined) })
      systemPrompt.section({
        name: 'programs:declarations',
        order: 150,
        text: ({ scope }) => (tools.presentation(scope) === 'native' ? undefined : declarationsText(codeMode.declarations(scope))),
      })
      ctx.on('tools/pre-execute', (exec, next) => {
        if (exec.name !== RESERVED_TOOL_NAME || workspace.isTrusted()) return next()
        const why = 'This folder is not trusted, so no program runs in it. Call tools directly if you can; the person can trust the folder in the editor, or choose a preset that offers the tools themselves.'
        return { kind: 'deny', code: 'WORKSPACE_UNTRUSTED', reason: why, grounds: { by: 'trust', why } }
      })
    },
  }
}
