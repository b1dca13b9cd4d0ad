import { nameOf } from '../base/folders.ts'
import { clipped } from '../base/text.ts'
import { remindedOf } from '../features/schedule/framing.ts'
import type { Localization } from '../capabilities/localization.ts'
import type { ToldFile } from '../features/instructions/service.ts'
import type {} from '../features/skills/service.ts'
import type {} from '../features/subagents/service.ts'
import type { UserMessage, UserSource } from '../core/log/message.ts'

/** The folded line over context that was put before the model without the person typing it; `text` is what the model reads. */
export function contextTitle(source: UserSource, l10n: Localization, text = ''): string {
  if (source.kind === 'agent-instructions') return instructionsTitle(source.files, l10n)
  if (source.kind === 'session-reference') return l10n.t('Told the model about the session “{title}”', { title: source.title })
  if (source.kind === 'skill-invocation') return l10n.t('Skill {name}', { name: source.name })
  if (source.kind === 'skill-catalog') return skillsTitle(source.count, l10n)
  if (source.kind === 'coordinator') return l10n.t('Task from the agent that started this one')
  if (source.kind === 'subagent-report') return l10n.t('Report of an agent')
  if (source.kind === 'subagent-settled') return source.summary
  if (source.kind === 'plugin' && source.plugin === 'schedule') return reminderTitle(text, l10n)
  if (source.kind !== 'plugin') return l10n.t('Context: {kind}', { kind: source.kind })
  switch (source.form) {
    case 'notice':
      return source.summary ?? l10n.t('Notice for the model')
    case 'snapshot':
      return source.sections === undefined || source.sections.length === 0
        ? l10n.t('Told the model about the workspace')
        : l10n.t('Told the model about {sections}', { sections: source.sections.join(', ') })
    case 'instructions':
      return l10n.t('Instructions from your files')
    case 'catalog':
      return l10n.t('List of what the model may use')
    case 'recall':
      return l10n.t('Recalled from earlier work')
    case 'relay':
      return l10n.t('Message from another agent')
    default:
      return l10n.t('Context: {kind}', { kind: source.plugin })
  }
}

function reminderTitle(text: string, l10n: Localization): string {
  const reminded = remindedOf(text)
  if (reminded === null) return l10n.t('Reminder')
  const prompt = clipped(reminded.prompts.join('; ').replaceAll(/\s+/g, ' '), 120)
  return reminded.isTask ? l10n.t('Planned task: {text}', { text: prompt }) : l10n.t('Reminder: {text}', { text: prompt })
}

function skillsTitle(count: number, l10n: Localization): string {
  if (count === 0) return l10n.t('Told the model that there are no skills any more')
  return count === 1 ? l10n.t('Told the model about 1 skill') : l10n.t('Told the model about {count} skills', { count })
}

/** The words of a message, joined; without what goes along with them. */
export function textOf(message: Pick<UserMessage, 'content'>): string {
  return message.content.flatMap((part) => (part.type === 'text' && part.source === undefined ? [part.text] : [])).join('\n')
}

/** Names the files that were told, without their folders, and counts what did not fit. */
function instructionsTitle(files: readonly ToldFile[], l10n: Localization): string {
  const names = (outcomes: readonly ToldFile['outcome'][]) => [...new Set(files.filter(({ outcome }) => outcomes.includes(outcome)).map(({ path }) => nameOf(path)))]
  const told = names(['whole', 'cut'])
  if (told.length === 0) return l10n.t('Instructions that hold no longer: {files}', { files: names(['removed', 'dropped']).join(', ') })
  const isShort = files.some(({ outcome }) => outcome === 'cut' || outcome === 'dropped')
  const shown = { files: told.slice(0, 4).join(', ') + (told.length > 4 ? '…' : '') }
  return isShort ? l10n.t('Instructions from {files} (not all fits)', shown) : l10n.t('Instructions from {files}', shown)
}
