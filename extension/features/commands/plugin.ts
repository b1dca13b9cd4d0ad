import { utf8Length } from '../../base/text.ts'
import type { Clock } from '../../capabilities/clock.ts'
import type { Secrets } from '../../capabilities/secrets.ts'
import type { CommandDefinition } from '../../core/commands/command.ts'
import type { Context, Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/loop/points.ts'
import type {} from '../../core/presets/preset.ts'
import type {} from '../../core/session/session.ts'
import type {} from './events.ts'
import { effortCommand, modelCommand } from './model-command.ts'
import { presetCommand } from './preset-command.ts'

/** UTF-8 bytes of one `/feedback`. Source: runtime specification 25, feedback notes. */
const MAX_FEEDBACK_BYTES = 8_192

/** The commands about a session that need no view: `/model`, `/effort`, `/preset`, `/rename`, `/feedback`, `/help`. */
export function sessionCommands(parts: { readonly secrets: Pick<Secrets, 'get'>; readonly clock: Pick<Clock, 'schedule'> }): Plugin {
  return {
    name: 'session-commands',
    inject: ['commands', 'agents', 'sessions', 'models', 'presets', 'settings'],
    apply(ctx) {
      const model = { ...parts, models: ctx.models, agents: ctx.agents, settings: ctx.settings }
      for (const command of [modelCommand(model), effortCommand(model), presetCommand(ctx), renameCommand(ctx), feedbackCommand, helpCommand(ctx)]) ctx.commands.register(command)
    },
  }
}

const renameCommand = ({ sessions }: Context): CommandDefinition => ({
  name: 'rename',
  description: 'Give this session another title.',
  input: { hint: 'new title' },
  async run({ agent, args }) {
    await sessions.rename(agent.id, args)
    return { text: `This session is called “${args.replace(/\s+/g, ' ')}” now.` }
  },
})

const feedbackCommand: CommandDefinition = {
  name: 'feedback',
  description: 'Write down what went well or badly. It stays in the log of this session and goes nowhere.',
  input: { hint: 'what you noticed' },
  hidesArguments: true,
  run({ agent, args }) {
    if (args === '') throw new Error('Say after /feedback what you noticed.')
    const bytes = utf8Length(args)
    if (bytes > MAX_FEEDBACK_BYTES) throw new Error(`This is too long: ${bytes} bytes, at most ${MAX_FEEDBACK_BYTES}. Shorten it.`)
    const { seq } = agent.session.append({ type: 'feedback/record', data: { text: args } })
    return { text: 'Written into the log of this session.', sourceEventSeq: seq }
  },
}

const helpCommand = ({ commands }: Context): CommandDefinition => ({
  name: 'help',
  description: 'List the commands.',
  run({ agent }) {
    const lines = commands.entries(agent.scope).map(({ name, description, hint }) => `/${name}${hint === null ? '' : ` <${hint}>`} · ${description}`)
    return { text: [...lines, 'Begin with // to send a slash to the model.'].join('\n') }
  },
})
