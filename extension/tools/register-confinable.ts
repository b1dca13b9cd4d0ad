import type { Context } from '../core/kernel/plugin.ts'
import type {} from '../core/tools/confinement.ts'
import type { ToolDefinition } from '../core/tools/definition.ts'
import type {} from '../core/tools/service.ts'

/** Registers a tool whose calls may ask for wider rights: its declaration says so wherever that is offered. */
export function registerConfinable(ctx: Context, definition: ToolDefinition): void {
  const confinement = ctx.get('confinement')
  if (confinement === undefined) return void ctx.tools.register(definition)
  const tool = confinement.offering(definition)
  let undo = ctx.tools.register(tool)
  ctx.effect(
    confinement.onDidChange(() => {
      undo()
      undo = ctx.tools.register(tool)
    }),
  )
}
