import type { ModelScript } from './model-script.ts'
import { startModelServer, type ModelServer } from './model-server.ts'
import { withWorkbench, type Workbench, type WorkbenchOptions } from './workbench.ts'

export type ModelWindowOptions = WorkbenchOptions & {
  /** The models of the server, as the settings name them; the first one answers. */
  readonly models?: readonly string[] | Readonly<Record<string, object>>
}

/** Start a server on loopback that plays `script`, open a workbench whose model it is, hand both to `body`, close them. */
export async function withModelWindow(script: ModelScript, { models = ['scripted'], settings, ...options }: ModelWindowOptions, body: (workbench: Workbench, server: ModelServer) => Promise<void>): Promise<void> {
  const server = await startModelServer(script)
  try {
    await withWorkbench({ ...options, settings: { ...modelSettings(server, models), ...settings } }, (workbench) => body(workbench, server))
  } finally {
    await server.close()
  }
}

const modelSettings = ({ url }: ModelServer, models: readonly string[] | Readonly<Record<string, object>>) => ({
  'bosun.providers': { loopback: { name: 'Loopback', baseUrl: url, models, keyName: null } },
  'bosun.model.provider': 'loopback',
  'bosun.model.name': Array.isArray(models) ? models[0] : Object.keys(models)[0],
})
