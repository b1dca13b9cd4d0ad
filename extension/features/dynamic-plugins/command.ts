import type {} from '../../core/commands/command.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import { noticeMessage } from '../../core/log/notice.ts'
import type { PluginFacts } from './service.ts'

const actions = ['stop', 'restore', 'log'] as const

/** `/plugins`: the plugins of this session with their state, version and files; with an action, that is done. */
export const pluginsCommand = (newId: () => string): Plugin => ({
  name: 'plugins-command',
  inject: ['commands', 'dynamicPlugins'],
  apply(ctx) {
    ctx.commands.register({
      name: 'plugins',
      description: 'List the plugins that the model wrote for this session, or act on one: /plugins stop hello-1.',
      input: { hint: 'stop <plugin>, log <plugin>, restore <plugin> <package> (optional)' },
      needsSession: true,
      async run({ agent, args }) {
        const { dynamicPlugins } = ctx
        const [action = '', pluginId = '', packageId = '', ...more] = args.split(/\s+/)
        const all = dynamicPlugins.list(agent)
        if (action === '') return { text: listText(all, dynamicPlugins.problem) }
        if (!actions.some((known) => known === action)) throw new Error(`/plugins takes ${actions.join(', ')}, or nothing.`)
        if (!all.some((plugin) => plugin.pluginId === pluginId)) throw new Error(`${pluginId === '' ? 'Which plugin?' : `This session has no plugin ${pluginId}.`} It has: ${all.map((plugin) => plugin.pluginId).join(', ') || 'none'}.`)
        if (more.length > 0 || (packageId !== '') !== (action === 'restore')) throw new Error(action === 'restore' ? 'Name the plugin and one of its packages: /plugins restore hello-1 pkg-1.' : `/plugins ${action} takes one plugin.`)
        if (action === 'log') return { text: dynamicPlugins.linesOf(agent, pluginId).join('\n') || `${pluginId} has written nothing, or does not run.` }
        if (action === 'stop') {
          const { wasRunning } = await dynamicPlugins.stop(agent, pluginId, 'The person stopped it.')
          if (wasRunning) tellModel(`The person stopped the plugin ${pluginId}; everything it brought is gone.`, `You stopped the plugin ${pluginId}`)
          return { text: wasRunning ? `${pluginId} is stopped, and everything it brought is gone.` : `${pluginId} did not run.` }
        }
        const restored = await dynamicPlugins.restore(agent, pluginId, packageId)
        tellModel(`The person defined the plugin ${pluginId} again from its kept package ${packageId}, as ${restored.packageId}. It does not run; cordis_run starts it once the person lets it.`, `You restored ${packageId} of the plugin ${pluginId} as ${restored.packageId}`)
        return { text: `${packageId} of ${pluginId} is defined again as ${restored.packageId}, and does not run. Its code: ${restored.folder}` }

        function tellModel(text: string, summary: string): void {
          agent.inject(noticeMessage({ id: newId(), plugin: 'dynamic-plugins', text, summary }))
        }
      },
    })
  },
})

function listText(plugins: readonly PluginFacts[], problem: string | undefined): string {
  const lines = plugins.flatMap(({ pluginId, state, reason, currentPackageId, nextPackageId, tools, packages }) => [
    `${pluginId}: ${state}${currentPackageId === undefined ? '' : `, ${currentPackageId}`}${nextPackageId === undefined ? '' : `, on its way to ${nextPackageId}`}${reason === undefined ? '' : `. ${reason}`}`,
    ...(tools.length === 0 ? [] : [`  tools: ${tools.join(', ')}`]),
    ...packages.map(({ packageId, name, halves, isApproved }) => `  ${packageId} “${name}” (${halves.join(' and ')}${isApproved ? ', you let it run' : ''})`),
  ])
  const folder = plugins.flatMap(({ pluginId, packages }) => packages.map((one) => one.folder.slice(0, -`${pluginId}/${one.packageId}`.length)))[0]
  return [...(problem === undefined ? [] : [problem]), ...(lines.length === 0 ? ['This session has no plugins.'] : lines), ...(folder === undefined ? [] : [`Their code: ${folder}<plugin>/<package>`])].join('\n')
}
