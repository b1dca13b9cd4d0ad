import type { Plugin } from '../../core/kernel/plugin.ts'
import type {} from '../../core/model/contract.ts'
import type {} from '../../core/session/session.ts'
import { createCallsModel } from './calls-model.ts'
import { EditorChatCalls, type EditorCallsNeeds } from './calls.ts'

/** Lets the editor's own chat call Bosun's tools. Mounted with the first such call. */
export function editorCallsPlugin(needs: EditorCallsNeeds): Plugin {
  return {
    name: 'editor-calls',
    inject: ['agents', 'foresight', 'models', 'permissions', 'sessions', 'settings', 'tools'],
    apply(ctx) {
      const calls = new EditorChatCalls(ctx, needs)
      ctx.models.register(createCallsModel((sessionId) => calls.take(sessionId)))
      ctx.on('tools/execute', (exec, next) => calls.execute(exec, next))
      ctx.on('approval/request', (request, next) => calls.answer(request, next))
      ctx.on('tools/result', (exec, result) => calls.noteResult(exec, result))
      ctx.on('session/event', (session, event) => calls.noteEvent(session, event))
      ctx.on('agent/status', (agent, status) => {
        if (status === 'idle') calls.noteIdle(agent)
      })
      ctx.on('agent/disposed', (agent) => calls.noteGone(agent))
      ctx.provide('editorCalls', calls)
      return () => calls.dispose()
    },
  }
}
