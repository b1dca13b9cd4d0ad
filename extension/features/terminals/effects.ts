import type { Json, JsonObject } from '../../base/json.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/policy/permissions.ts'
import type { ToolEffect } from '../../core/policy/tool-effects.ts'
import type { Terminals } from './service.ts'

/**
 * What calls of the terminal tools would do: a line typed at a shell's prompt is judged as the same line of the shell tool,
 * in the folder the shell stands in and together with what was typed before; what goes to any other program nobody can judge.
 */
export const terminalEffects: Plugin = {
  name: 'terminal-effects',
  inject: ['permissions', 'terminals'],
  apply(ctx) {
    const { permissions, terminals } = ctx
    const none = (): ToolEffect => ({ kind: 'none' })
    ctx.effect(permissions.declare('terminal_list', none))
    ctx.effect(permissions.declare('terminal_read', none))
    ctx.effect(permissions.declare('terminal_signal', none))
    ctx.effect(permissions.declare('terminal_close', none))
    // Only the folder matters: the shell that opens runs nothing of the person's.
    ctx.effect(permissions.declare('terminal_open', (args) => ({ kind: 'shell', shell: 'bash', command: 'true', workdir: text(args['cwd']) || null })))
    ctx.effect(permissions.declare('terminal_send', (args) => sendEffect(args, terminals)))
  },
}

function sendEffect(args: JsonObject, terminals: Pick<Terminals, 'typingState'>): ToolEffect {
  const state = terminals.typingState(text(args['sessionId']))
  // Without a terminal nothing happens but the refusal.
  if (state === undefined) return { kind: 'none' }
  const typed = text(args['text'])
  const isSubmitted = args['submit'] !== false || args['run_in_background'] === true
  // Waiting for more output types nothing.
  if (typed === '' && args['submit'] === false) return { kind: 'none' }
  if (!state.isAtPrompt || state.pendingLine === null || hasKeys(typed)) return { kind: 'unknown' }
  const command = state.pendingLine + typed
  // Enter on an empty line.
  if (command.trim() === '' && isSubmitted) return { kind: 'none' }
  return { kind: 'shell', shell: state.type === 'pwsh' ? 'pwsh' : 'bash', command, workdir: state.folder }
}

/** Keys that are no text, such as Ctrl-C, the arrows or Tab, make the shell do what the text does not say. */
const hasKeys = (typed: string) => Array.from(typed).some((char) => (char < ' ' && char !== '\n') || char === '\u007f')

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
