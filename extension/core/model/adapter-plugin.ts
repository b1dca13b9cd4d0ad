import type { Undo } from '../../base/undo.ts'
import type { Plugin } from '../kernel/plugin.ts'
import type { ModelAdapter } from './contract.ts'

/** Registers one adapter, and says so anew whenever what it offers changes. */
export function adapterPlugin({ adapter, onDidChange }: { readonly adapter: ModelAdapter; readonly onDidChange: (listener: () => void) => Undo }): Plugin {
  return {
    name: `model-adapter ${adapter.provider.id}`,
    inject: ['models'],
    apply(ctx) {
      let undo = ctx.models.register(adapter)
      ctx.effect(
        onDidChange(() => {
          undo()
          undo = ctx.models.register(adapter)
        }),
      )
    },
  }
}
