import type { EditorChatTalk, OfferedTools } from '../capabilities/editor-chat.ts'
import type { Plugin } from '../core/kernel/plugin.ts'
import type { ChatCapabilities } from './chat-services.ts'
import type { ChatController } from './chat-controller.ts'
import { EditorTalk } from './editor-chat-talk.ts'
import { EditorChatTools } from './editor-chat-tools.ts'

/** What the editor's own chat does with Bosun. */
export interface EditorChat {
  readonly tools: OfferedTools
  readonly talk: EditorChatTalk
}

interface Parts {
  readonly capabilities: Pick<ChatCapabilities, 'blobs' | 'l10n' | 'logger' | 'machine' | 'workspace'>
  readonly chat: Pick<ChatController, 'defaultModel' | 'watchElsewhere' | 'tell'>
  readonly onReady: (chat: EditorChat) => void
}

/** Bosun in the editor's own chat; mounted with the first use. */
export function editorChatPlugin({ capabilities, chat, onReady }: Parts): Plugin {
  return {
    name: 'editor-chat',
    inject: ['agents', 'approvals', 'commands', 'editorCalls', 'questions', 'references', 'reviews', 'settings', 'tools'],
    apply(ctx) {
      const talk = new EditorTalk({ services: ctx, capabilities, defaultModel: () => chat.defaultModel(), onWatched: (sessionId) => chat.watchElsewhere(sessionId), tell: (words) => chat.tell(words) })
      ctx.on('session/event', (session, event) => talk.noteEvent(session, event))
      ctx.on('agent/inbox/claimed', ({ agent, message, turn }) => talk.noteClaimed(agent, message, turn))
      ctx.on('agent/inbox/discarded', ({ agent, message }) => talk.noteDiscarded(agent, message))
      ctx.on('agent/disposed', (agent) => talk.noteGone(agent))
      ctx.effect(ctx.approvals.onDidChange(() => talk.noteWaiting()))
      ctx.effect(ctx.questions.onDidChange(() => talk.noteWaiting()))
      onReady({ tools: new EditorChatTools({ ...capabilities, services: ctx }), talk })
      return () => talk.dispose()
    },
  }
}
