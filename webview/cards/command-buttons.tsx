import type { CommandView, ToolRow } from '../../extension/protocol/view-state.ts'
import { useApp } from '../components/app-context.ts'
import { Icon } from '../components/icon.tsx'
import { IconButton } from '../components/icon-button.tsx'
import { t } from '../l10n.ts'
import { commandOf, placeOf } from '../store/commands.ts'

/** What the card of a call can do with its command right now. */
export function useCommand(row: ToolRow): CommandView | undefined {
  const { store } = useApp()
  return commandOf(row, store.state.commands.value)
}

/** Stop, type to it, let it go on in the background, see it as a terminal does: what fits its state, most urgent first. */
export function CommandButtons({ command, isLabelled = false }: { readonly command: CommandView; readonly isLabelled?: boolean }) {
  const { actions } = useApp()
  const place = placeOf(command)
  const isJob = command.jobId !== null
  const buttons: readonly CommandButtonProps[] = [
    ...(command.state === 'running' ? [{ icon: 'debug-stop', label: isJob ? t('Kill the job') : t('End the command'), word: isJob ? t('Kill') : t('End'), action: 'stop' } as const] : []),
    ...(command.takesInput ? [{ icon: 'keyboard', label: t('Type to it…'), word: t('Type…'), action: 'send-input' } as const] : []),
    ...(command.canMove ? [{ icon: 'debug-continue', label: t('Go on in the background'), word: t('To background'), action: 'to-background' } as const] : []),
    ...(command.canRestart ? [{ icon: 'debug-restart', label: t('Start it again'), word: t('Restart'), action: 'restart' } as const] : []),
    { icon: 'terminal', label: t('Open in a terminal'), word: t('Terminal'), action: 'open-terminal' } as const,
  ].map(({ action, ...button }) => ({ ...button, isLabelled, onPress: () => actions.command(place, action) }))
  return (
    <>
      {buttons.map((button) => (
        <CommandButton key={button.icon} {...button} />
      ))}
    </>
  )
}

interface CommandButtonProps {
  readonly icon: string
  /** What it does, for the pointer at rest and for a screen reader. */
  readonly label: string
  /** The same in a word, where it is labelled. */
  readonly word: string
  readonly isLabelled: boolean
  readonly onPress: () => void
}

export const CommandButton = ({ icon, label, word, isLabelled, onPress }: CommandButtonProps) =>
  isLabelled ? (
    <button type="button" class="command-button" title={label} aria-label={label.startsWith(word) ? label : `${word}: ${label}`} onClick={onPress}>
      <Icon name={icon} />
      <span>{word}</span>
    </button>
  ) : (
    <IconButton icon={icon} label={label} onPress={onPress} />
  )

/** Seen without opening the card: that it waits for what the person types, and where it listens. */
export function CommandStrip({ command }: { readonly command: CommandView | undefined }) {
  const { actions } = useApp()
  if (command === undefined || (!command.waitsForInput && command.ports.length === 0)) return null
  const { jobId } = command
  return (
    <div class="command-strip">
      {command.waitsForInput && (
        <span class="command-waits">
          <Icon name="keyboard" />
          <span>{t('It waits for input.')}</span>
          {command.takesInput && (
            <button type="button" class="link" onClick={() => actions.command(placeOf(command), 'send-input')}>
              {t('Type to it…')}
            </button>
          )}
        </span>
      )}
      {jobId !== null &&
        command.ports.map(({ port, url }) => (
          <button key={port} type="button" class="port-chip" title={t('Open {0} in the browser', url)} aria-label={t('Open {0} in the browser', url)} onClick={() => actions.openPort(jobId, port)}>
            <Icon name="globe" />
            <span dir="ltr">{hostAndPort(url)}</span>
          </button>
        ))}
    </div>
  )
}

const hostAndPort = (url: string) => url.replace(/^\w+:\/\//, '').replace(/\/$/, '')
