import { nameOf, seenFrom } from '../base/folders.ts'
import { isErrorOf } from '../base/harness-error.ts'
import { AgentChangesError } from '../features/checkpoints/service.ts'
import { oneLine } from './agent-words.ts'
import type { ChatState } from './chat-state.ts'
import { keptNames } from './kept-names.ts'
import { stayWords, wholeOf } from './review-words.ts'

/** Files named in a question. */
const MAX_NAMED = 20

/** An agent that an agent started: a child, a member of a workflow. */
interface Named {
  readonly id: string
  /** As a model gave it. */
  readonly label: string
}

/** What it and those it started changed, each file as it was before against how it is now. */
export async function showAgentChanges(chat: ChatState, { id, label }: Named): Promise<void> {
  const { editor, l10n } = chat.world
  const name = oneLine(label)
  const files = (await chat.services.agentChanges.startOf(id)).map(({ path, before, ...at }) => ({ path, before: before === null ? null : { name: keptNames.turnStart(at, path, nameOf(path)), text: before } }))
  if (files.length === 0) return chat.notice('review', 'info', l10n.t('“{label}” changed no files, or none whose text before was kept.', { label: name }))
  await editor.openDiffs({ title: l10n.t('Changes of “{label}”', { label: name }), files })
}

/** After a yes of the person, everything goes back to before it began: what it changed, and what all agents of its tree changed since. */
export async function restoreBeforeAgent(chat: ChatState, { id, label }: Named): Promise<void> {
  const { editor, l10n } = chat.world
  const { t } = l10n
  const { agentChanges } = chat.services
  const name = oneLine(label)
  const say = (level: 'info' | 'warning', text: string) => chat.notice('review', level, text)
  const nothing = () => say('info', t('Nothing that was changed since “{label}” began is left to take back.', { label: name }))
  try {
    const { paths, agents } = await agentChanges.planBefore(id)
    if (paths.length === 0) return nothing()
    const text = paths.length === 1 ? t('Restore 1 file to before “{label}”?', { label: name }) : t('Restore {count} files to before “{label}”?', { count: paths.length, label: name })
    const detail = [
      ...paths.slice(0, MAX_NAMED).map((path) => short(chat, path)),
      ...(paths.length > MAX_NAMED ? [t('and {count} more', { count: paths.length - MAX_NAMED })] : []),
      '',
      ...(agents > 1 ? [t('What {count} agents changed since is taken back.', { count: agents })] : []),
      t('What you typed yourself stays. The conversation stays as it is; the model is told.'),
    ].join('\n')
    if (!(await editor.confirm({ text, detail, yes: t('Restore') }))) return
    const { paths: restored, conflicts, problems } = await agentChanges.restoreBefore(id)
    const count = wholeOf(restored, conflicts).length
    const why = stayWords({ conflicts, problems }, l10n, (path) => short(chat, path))
    const back = count === 0 ? [] : [count === 1 ? t('1 file restored to before “{label}”.', { label: name }) : t('{count} files restored to before “{label}”.', { count, label: name })]
    if (back.length + why.length === 0) return nothing()
    say(why.length === 0 ? 'info' : 'warning', [...back, ...why].join(' '))
  } catch (error) {
    if (!isErrorOf(AgentChangesError, error)) throw error
    say('warning', error.code === 'AGENTS_AT_WORK' ? t('Agents are still at work on these files. Stop them or wait, then restore.') : t('The session of this agent is not there any more, so nobody knows what it changed.'))
  }
}

const short = (chat: ChatState, path: string): string => seenFrom(chat.shown?.session.header.cwd ?? '', path)
