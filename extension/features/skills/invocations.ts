import { messageOf } from '../../base/message-of.ts'
import { noticeSummary } from '../../core/log/notice.ts'
import type { UserMessage } from '../../core/log/message.ts'
import type { LoadedSkill } from './service.ts'

interface Needs {
  readonly isSkill: (name: string) => boolean
  readonly load: (name: string) => Promise<LoadedSkill>
  readonly render: (loaded: LoadedSkill) => string
  readonly newId: () => string
  readonly signal: AbortSignal
}

/**
 * What comes into a step, and behind each message of the person the skills that it calls with `/name`, each once.
 *
 * A skill that cannot be loaded leaves a notice; the person's words go on.
 * Errors: the signal's reason.
 */
export async function withInvocations(messages: readonly UserMessage[], needs: Needs): Promise<readonly UserMessage[]> {
  const called = new Set<string>()
  const all: UserMessage[] = []
  for (const message of messages) {
    all.push(message)
    for (const name of namesIn(message)) {
      if (called.has(name) || !needs.isSkill(name)) continue
      called.add(name)
      all.push(await invocation(name, needs))
    }
  }
  return all.length === messages.length ? messages : all
}

/** `/name` between blanks, in the person's own words. */
export function namesIn({ source, content }: Pick<UserMessage, 'source' | 'content'>): readonly string[] {
  if (source.kind !== 'user') return []
  return content.flatMap((block) => (block.type === 'text' && block.source === undefined ? [...block.text.matchAll(/(?<![^\s])\/([a-z0-9]+(?:-[a-z0-9]+)*)(?![^\s])/g)].map(([, name = '']) => name) : []))
}

async function invocation(name: string, { load, render, newId, signal }: Needs): Promise<UserMessage> {
  const message = (text: string, source: UserMessage['source']): UserMessage => ({ id: newId(), role: 'user', content: [{ type: 'text', text }], source })
  try {
    const loaded = await load(name)
    return message(render(loaded), { kind: 'skill-invocation', name: loaded.name, provider: loaded.provider })
  } catch (error) {
    signal.throwIfAborted()
    const reason = messageOf(error)
    return message(`The person called the skill /${name}, and it could not be loaded: ${reason}`, { kind: 'plugin', plugin: 'skills', form: 'notice', summary: noticeSummary(`/${name} could not be loaded: ${reason}`) })
  }
}
