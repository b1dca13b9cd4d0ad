import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/policy/permissions.ts'
import type { ToolEffect } from '../../core/policy/tool-effects.ts'
import type { PreExecuteAnswer } from '../../core/tools/definition.ts'
import type {} from '../../core/tools/service.ts'
import type { AdoptableTerminal, Terminals } from './service.ts'

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
    // A terminal of the person's is asked for below.
    ctx.effect(permissions.declare('terminal_open', (args) => text(args['adopt']) !== '' ? { kind: 'unknown' } : ({ kind: 'shell', shell: 'bash', command: 'true', workdir: text(args['cwd']) || null })))
    ctx.effect(permissions.declare('terminal_send', (args) => sendEffect(args, terminals)))
    ctx.on('tools/pre-execute', (exec, next) => {
      const id = exec.name === 'terminal_open' && isJsonObject(exec.arguments) ? text(exec.arguments['adopt']) : ''
      return id === '' ? next() : adopted(id, next)
    })

    async function adopted(id: string, next: () => Promise<PreExecuteAnswer>): Promise<PreExecuteAnswer> {
      const answer = await next()
      return answer.kind === 'deny' || answer.kind === 'rewrite' ? answer : askForTerminal(terminals.adoptable().find((one) => one.id === id))
    }
  },
}

/** Whatever the mode and the rules say: a person's terminal is entered with their word for this very one. */
function askForTerminal(terminal: AdoptableTerminal | undefined): PreExecuteAnswer {
  // The tool itself says that there is none.
  if (terminal === undefined) return { kind: 'allow' }
  const { name, type, folder } = terminal
  return {
    kind: 'ask',
    details: {
      effect: `Read and type in your terminal “${name}” (${type}${folder === undefined ? '' : `, in ${folder}`})`,
      why: 'Bosun would see each command that starts there from now on and what it writes, nothing from before, and may type. “Take Back Terminals” ends this.',
      mustAsk: true,
    },
  }
}

function sendEffect(args: JsonObject, terminals: Pick<Terminals, 'typingState'>): ToolEffect {
  const state = terminals.typingState(text(args['sessionId']))
  // Without a terminal nothing happens but the refusal.
  if (state === undefined) return { kind: 'none' }
  const typed = text(args['text'])
  const isSubmitted = args['submit'] !== false || args['run_in_background'] === true
  // Waiting for more output types nothing.
  if (typed === '' && args['submit'] === false) return { kind: 'none' }
  // A shell whose language nobody here reads.
  if (!judgedShells.has(state.type) || state.folder === null) return { kind: 'unknown' }
  if (!state.isAtPrompt || state.pendingLine === null || hasKeys(typed)) return { kind: 'unknown' }
  const command = state.pendingLine + typed
  // Enter on an empty line.
  if (command.trim() === '' && isSubmitted) return { kind: 'none' }
  return { kind: 'shell', shell: state.type === 'pwsh' ? 'pwsh' : 'bash', command, workdir: state.folder }
}

const judgedShells: ReadonlySet<string> = new Set(['bash', 'sh', 'zsh', 'gitbash', 'pwsh'])

/** Keys that are no text, such as Ctrl-C, the arrows or Tab, make the shell do what the text does not say. */
const hasKeys = (typed: string) => Array.from(typed).some((char) => (char < ' ' && char !== '\n') || char === '\u007f')

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
