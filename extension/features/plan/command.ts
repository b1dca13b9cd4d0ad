import type {} from '../../core/commands/command.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type { SelectionOutcome } from './selection.ts'
import type { Plan } from './service.ts'

/** `/plan`, `/plan off`, `/plan what to do`. It waits until there are commands. Source: runtime specification 23. */
export function planCommand({ plan }: { readonly plan: Plan }): Plugin {
  return {
    name: 'plan-command',
    inject: ['commands'],
    apply(ctx) {
      ctx.commands.register({
        name: 'plan',
        description: 'Explore and plan, and change nothing until you agree; /plan off ends it.',
        input: { hint: 'what to plan, or off', allowsImages: true },
        run({ agent, args, images, send }) {
          if (args === 'off') {
            if (images.length > 0) throw new Error('/plan off takes no images. Send them with a message.')
            const outcome = plan.set(agent, false)
            return { text: outcome === 'noop' && plan.pending(agent.session) === false ? endings.queued : endings[outcome] }
          }
          plan.set(agent, true)
          if (args !== '' || images.length > 0) send([...images, ...(args === '' ? [] : [{ type: 'text' as const, text: args }])], 'next-step')
          return { text: 'Plan mode is on. Bosun reads and plans, and changes nothing.' }
        },
      })
    },
  }
}

const endings: Readonly<Record<SelectionOutcome, string>> = {
  noop: 'Plan mode is off.',
  cancelled: 'Plan mode stays off.',
  queued: 'Plan mode ends with the next step.',
  committed: 'Plan mode is off. Bosun may change things again, as the permissions say.',
}
