import type { Plugin } from '../core/kernel/plugin.ts'
import type {} from '../core/session/retention.ts'
import { ChatController } from './chat-controller.ts'
import { chatServices, type ChatCapabilities } from './chat-services.ts'

interface Parts {
  readonly capabilities: ChatCapabilities
  /** Called each time the chat is up; the controller is gone again with the plugin. */
  readonly onReady: (controller: ChatController) => void
}

/** The chat behind its pages, commands, notifications and the status bar. */
export function chatPlugin({ capabilities, onReady }: Parts): Plugin {
  return {
    name: 'chat',
    inject: chatServices,
    async apply(ctx) {
      const controller = new ChatController({ capabilities, services: ctx })
      ctx.on('session/event', (session, event) => controller.noteEvent(session, event))
      ctx.on('session/disposed', (session) => controller.noteClosed(session.id))
      ctx.on('session/mirrored', (session, event) => controller.noteMirrored(session, event))
      ctx.on('session/access', (session) => controller.noteAccess(session))
      ctx.on('session/expired', (sessions) => controller.noteExpired(sessions.length))
      ctx.on('session/spill-dropped', (freed) => controller.noteSpillDropped(freed))
      ctx.on('agent/status', () => controller.noteStatus())
      ctx.on('agent/progress', ({ agent, callId, progress }) => controller.noteProgress(agent.id, callId, progress))
      ctx.on('llm/adapters-updated', () => controller.noteModels())
      for (const command of controller.sessionActions.commands()) ctx.commands.register(command)
      ctx.effect(ctx.costs.onDidChange(() => controller.noteCost()))
      ctx.effect(() => controller.dispose())
      await controller.start()
      onReady(controller)
    },
  }
}
