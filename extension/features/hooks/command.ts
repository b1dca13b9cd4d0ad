import type {} from '../../core/commands/command.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import { hookPoints } from './hook.ts'
import type {} from './service.ts'

/** `/hooks`: what runs at which moment; with a moment and a tool, a dry run. It waits until there are commands. */
export const hooksCommand: Plugin = {
  name: 'hooks-command',
  inject: ['commands', 'hooks'],
  apply(ctx) {
    ctx.commands.register({
      name: 'hooks',
      description: 'List the hooks, or say what would run: /hooks PreToolUse bash.',
      input: { hint: 'moment and tool (optional)' },
      async run({ agent, args }) {
        const cwd = agent.session.header.cwd ?? ''
        const [name, subject] = args.split(/\s+/)
        if (name === undefined || name === '') return { text: await list(cwd) }
        const point = hookPoints.find((known) => known.toLowerCase() === name.toLowerCase())
        if (point === undefined) throw new Error(`There is no moment ${name}. Choose one of ${hookPoints.join(', ')}.`)
        const steps = await ctx.hooks.dryRun(cwd, { point, ...(subject !== undefined && { subject }) })
        if (steps.length === 0) return { text: `No hook runs at ${point}${subject === undefined ? '' : ` for ${subject}`}.` }
        return { text: steps.map(({ command, state, stdin, root }) => `${state === 'runs' ? 'Would run' : 'Waits for your consent'}${root === undefined ? '' : ` (folder ${root})`}: ${command}\n  reads ${stdin}`).join('\n') }
      },
    })

    async function list(cwd: string): Promise<string> {
      const { files, skipped, note } = await ctx.hooks.report(cwd)
      const lines = [
        ...(note === undefined ? [] : [note]),
        ...files.flatMap(({ path, state, hooks, digest, root }) => [
          `${path}${root?.label === undefined ? '' : `, folder ${root.label}`} (${state === 'runs' ? 'runs' : `waits for your consent: “Bosun: Review Hooks…”, or ${digest} in bosun.hooks.allowed`})`,
          ...hooks.map(({ point, matcher, command }) => `  ${point}${matcher === '' ? '' : ` [${matcher}]`}: ${command}`),
        ]),
        ...skipped.map(({ path, at, reason }) => `${path}${at === '' ? '' : ` ${at}`}: ${reason}`),
      ]
      return lines.length === 0 ? 'There are no hooks.' : lines.join('\n')
    }
  },
}
