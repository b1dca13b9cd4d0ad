import type {} from '../../core/commands/command.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from './service.ts'

/** `/background`: the command that the session waits for goes on as a job. */
export const backgroundCommand: Plugin = {
  name: 'background-command',
  inject: ['commands', 'jobs'],
  apply(ctx) {
    ctx.commands.register({
      name: 'background',
      description: 'Let the command that runs go on in the background.',
      needsSession: true,
      run({ agent }) {
        const { commands } = ctx.jobs
        const movable = commands.list(agent.id).filter(({ canMove }) => canMove === true)
        if (movable.length === 0) throw new Error('No command of this session runs in the foreground now.')
        const moved = movable.map(({ callId }) => commands.moveToBackground(agent.id, callId))
        return { text: moved.map(({ id, label }) => `It goes on as job ${id}: ${label}`).join('\n') }
      },
    })
  },
}
