import type { Secrets } from '../../capabilities/secrets.ts'
import { everyLayer, type Dispatcher, type Emit, type Plugin } from '../kernel/plugin.ts'

declare module '../kernel/plugin.ts' {
  interface ExtensionPoints {
    /** A key was set, changed or taken away; never its value. */
    'credentials/updated': Emit<[reference: string]>
  }
}

/** Tells of changed keys. A key is looked up anew for each request, so nobody has to listen to use the new one. */
export function credentialsPlugin({ secrets, dispatch }: { readonly secrets: Pick<Secrets, 'onDidChange'>; readonly dispatch: Dispatcher }): Plugin {
  return {
    name: 'credentials',
    apply(ctx) {
      ctx.effect(secrets.onDidChange((name) => dispatch.emit('credentials/updated', everyLayer, [name])))
    },
  }
}
