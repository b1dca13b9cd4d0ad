import type { Logger } from '../../capabilities/logger.ts'
import type { Plugin } from '../kernel/plugin.ts'
import type { SessionEvent } from '../log/event.ts'
import type { Session } from './session.ts'
import { fallbackTitle, promptText } from './titles.ts'

/** Gives a session a title from the first words a person sends, unless it has one. Source: runtime specification 12.4. */
export function titlesPlugin({ logger }: { readonly logger: Logger }): Plugin {
  return {
    name: 'titles',
    inject: ['sessions', 'projections'],
    apply: (ctx) =>
      ctx.on('session/event', (session, event) => {
        if (!isPrompt(event) || session.projections().values['title'] != null) return
        const title = fallbackTitle(promptText(event.data))
        // An observer must not append; the microtask comes when whoever appended the prompt waits next.
        if (title !== null) queueMicrotask(() => appendTitle(session, title, event.seq, logger))
      }),
  }
}

const isPrompt = (event: SessionEvent): event is SessionEvent<'user/message'> => event.type === 'user/message' && event.data.source.kind === 'user'

function appendTitle(session: Session, title: string, messageSeq: number, logger: Logger): void {
  if (session.projections().values['title'] != null) return
  try {
    session.append({ type: 'session/title', data: { title, messageSeqs: [messageSeq], source: { kind: 'fallback' } } })
  } catch (error) {
    // A session that was closed meanwhile needs no title; it is only decoration.
    logger.debug('A title could not be kept.', { session: session.id, error: error instanceof Error ? error.message : String(error) })
  }
}
