import { clipped } from '../../base/text.ts'
import type { Json } from '../../base/json.ts'
import { defineTool } from '../../core/tools/define-tool.ts'
import type { ToolDefinition } from '../../core/tools/definition.ts'
import { DynamicToolError } from './error.ts'
import type { DynamicPlugins, InspectProvider } from '../../features/dynamic-plugins/service.ts'
import { agentOf } from './agent-of.ts'
import { presentInspectList, presentInspectQuery, presentInspectSelf } from './cordis.card.ts'

type Plugins = Pick<DynamicPlugins, 'inspectors' | 'inspect' | 'list' | 'codeOf' | 'linesOf'>

/** `cordis_inspect_list`: who can be asked about the running application, and what. Source: runtime specification 22. */
export const createInspectList = (plugins: Plugins): ToolDefinition =>
  defineTool({
    name: 'cordis_inspect_list',
    description: 'List what can be inspected of the running application: each provider with its methods and their input and output schemas.',
    parameters: {},
    output: {
      schema: { type: 'json' },
      render: (_args, value) => [{ type: 'text', text: (value as unknown as readonly InspectProvider[]).map(providerText).join('\n') }],
    },
    isConcurrencySafe: () => true,
    execute: () => plugins.inspectors() as unknown as Json,
    presentCall: presentInspectList,
  })

const providerText = ({ platform, name, description, methods }: InspectProvider): string =>
  [`${platform} ${name}: ${description}`, ...methods.map((method) => `  ${method.name}: ${method.description} input ${JSON.stringify(method.input)}`)].join('\n')

/** `cordis_inspect_query`: ask one of them. */
export const createInspectQuery = (plugins: Plugins): ToolDefinition =>
  defineTool({
    name: 'cordis_inspect_query',
    description: 'Ask an inspection provider, as cordis_inspect_list names them.',
    parameters: {
      platform: { type: 'string', required: true, enum: ['host', 'client'] },
      provider: { type: 'string', required: true },
      method: { type: 'string', required: true },
      input: { type: 'json', description: 'As the method declares it.' },
    },
    output: { schema: { type: 'json' }, render: (_args, value) => [{ type: 'text', text: JSON.stringify(value, null, 2) }] },
    isConcurrencySafe: () => true,
    execute: async ({ platform, provider, method, input }, exec) => await plugins.inspect(agentOf(exec, 'cordis_inspect_query'), { platform, provider, method, ...(input !== undefined && { input }) }),
    presentCall: presentInspectQuery,
  })

/** Of one line that a plugin wrote, UTF-16 units. */
const MAX_LINE = 500
const MAX_LINES = 30

/** `cordis_inspect_self`: the plugins of this session, one of them, or the code of one package. */
export const createInspectSelf = (plugins: Plugins): ToolDefinition =>
  defineTool({
    name: 'cordis_inspect_self',
    description: 'Inspect the current dynamic Cordis state: all plugins of this session, one with the last lines it wrote, or one package with its code.',
    parameters: { pluginId: { type: 'string' }, packageId: { type: 'string', description: 'Of that plugin: its code.' } },
    output: { schema: { type: 'json' }, render: (_args, value) => [{ type: 'text', text: JSON.stringify(value, null, 2) }] },
    limits: [{ of: 'lines of a plugin', max: MAX_LINES, unit: 'lines' }],
    isConcurrencySafe: () => true,
    execute({ pluginId, packageId }, exec) {
      const agent = agentOf(exec, 'cordis_inspect_self')
      const all = plugins.list(agent)
      if (pluginId === undefined) {
        if (packageId !== undefined) throw new DynamicToolError('PLUGIN_MISSING', 'Name the plugin of the package too, as pluginId.')
        return { plugins: all } as unknown as Json
      }
      const plugin = all.find((one) => one.pluginId === pluginId)
      if (plugin === undefined) throw new DynamicToolError('PLUGIN_MISSING', `This session has no plugin ${pluginId}. It has: ${all.map((one) => one.pluginId).join(', ') || 'none'}.`)
      if (packageId === undefined) return { plugin, lines: plugins.linesOf(agent, pluginId).slice(-MAX_LINES).map((line) => clipped(line, MAX_LINE)) } as unknown as Json
      const pack = plugin.packages.find((one) => one.packageId === packageId)
      if (pack === undefined) throw new DynamicToolError('PLUGIN_MISSING', `The plugin ${pluginId} has no package ${packageId}. It has: ${plugin.packages.map((one) => one.packageId).join(', ')}.`)
      return { pluginId, package: pack, code: plugins.codeOf(agent, pluginId, packageId) } as unknown as Json
    },
    presentCall: presentInspectSelf,
  })
