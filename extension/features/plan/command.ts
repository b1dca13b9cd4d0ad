import type { Machine } from '../../capabilities/machine.ts'
import type {} from '../../core/commands/command.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type { Plan } from './service.ts'

/** `/plan`, `/plan off`, `/plan what to do`. It waits until there are commands. Source: runtime specification 23. */
export function planCommand({ plan, machine }: { readonly plan: Plan; readonly machine: Pick<Machine, 'randomId'> }): Plugin {
  return {
    name: 'plan-command',
    inject: ['commands'],
    apply(ctx) {
      ctx.commands.register({
        name: 'plan',
        description: 'Explore and plan, and change nothing until you agree; /plan off ends it.',
        input: { hint: 'what to plan, or off', allowsImages: true },
        run({ agent, args, images }) {
          if (args === 'off') {
            if (images.length > 0) throw new Error('/plan off takes no images. Send them with a message.')
            if (!plan.leave(agent)) return { text: 'Plan mode is off.' }
            return { text: plan.pending(agent.session) === false ? 'Plan mode ends with the next step.' : 'Plan mode is off. Bosun may change things again, as the permissions say.' }
          }
          plan.enter(agent)
          if (args !== '' || images.length > 0) {
            agent.steer({ id: machine.randomId(), role: 'user', content: [...images, ...(args === '' ? [] : [{ type: 'text' as const, text: args }])], source: { kind: 'user' } })
          }
          return { text: 'Plan mode is on. Bosun reads and plans, and changes nothing.' }
        },
      })
    },
  }
}
