import type { Undo } from '../../base/undo.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/prompt/system-prompt.ts'
import type {} from '../../core/tools/service.ts'
import type {} from '../../features/dynamic-plugins/service.ts'
import { createDefine } from './define.ts'
import { createInspectList, createInspectQuery, createInspectSelf } from './inspect.ts'
import { createRun, createStop, createUndefine } from './run.ts'

const makers = [createInspectList, createInspectQuery, createInspectSelf, createDefine, createRun, createStop, createUndefine]

/** Registers the `cordis_*` tools while plugins of models are on and the folder is trusted; else they are declared with what they need. */
export const cordisTools: Plugin = {
  name: 'tools-cordis',
  inject: ['tools', 'dynamicPlugins', 'systemPrompt'],
  apply(ctx) {
    const { dynamicPlugins, tools } = ctx
    let held: { readonly needs: string | undefined; readonly undos: readonly Undo[] } | undefined
    const follow = () => {
      const needs = dynamicPlugins.problem
      if (held !== undefined && held.needs === needs) return
      for (const undo of held?.undos ?? []) undo()
      held = { needs, undos: makers.map((make) => (needs === undefined ? tools.register(make(dynamicPlugins)) : tools.declareAbsent({ needs }, () => make(dynamicPlugins)))) }
    }
    ctx.systemPrompt.section({ name: 'tool:cordis', order: 115, tools: ['cordis_run'], text: 'Write a plugin with the cordis tools only when the person asks for something that Bosun itself should do or show. A tool or a file is often enough.' })
    follow()
    ctx.effect(dynamicPlugins.onDidChangeProblem(follow))
  },
}
