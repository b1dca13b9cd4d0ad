import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { ToolRow } from '../../extension/protocol/view-state.ts'
import { useApp } from '../components/app-context.ts'
import { CopyButton } from '../components/copy-button.tsx'
import { t } from '../l10n.ts'
import { formatBytes } from '../text/format.ts'
import { ansiLines, plainText, type AnsiSpan } from '../text/ansi.ts'
import { BODY_LINES, BodyMore } from './body-text.tsx'
import { CommandButton, CommandButtons, useCommand } from './command-buttons.tsx'

export interface TerminalCardProps {
  readonly row: ToolRow
  readonly command: string
  readonly cwd?: string | undefined
  readonly description?: string | undefined
  readonly output: string
  /** Of its output, that even the log of the talk has not kept. */
  readonly omittedBytes?: number | undefined
  /** The system confined it, or stopped it. */
  readonly sandbox?: 'confined' | 'denied' | undefined
  /** It went on in the background; what it shows from then on stands in its terminal. */
  readonly isJob?: boolean
}

/** More than the shown end costs time and shows nothing. */
const MAX_DRAWN_CHARS = 16_000

/** A command and the end of its output, as a terminal shows it; while it runs it follows. */
export function TerminalCard({ row, command, cwd, description, output, omittedBytes = 0, sandbox, isJob = false }: TerminalCardProps) {
  const { actions } = useApp()
  const running = useCommand(row)
  const box = useRef<HTMLPreElement>(null)
  const lines = useMemo(() => ansiLines(output.slice(-MAX_DRAWN_CHARS)), [output])
  const shown = lines.slice(-BODY_LINES)
  const allLines = output === '' ? 0 : output.replace(/\n$/, '').split('\n').length
  useLayoutEffect(() => {
    if (box.current !== null) box.current.scrollLeft = 0
  }, [])
  return (
    <div class="terminal">
      {description !== undefined && description !== '' && (
        <div class="terminal-description" dir="auto">
          {description}
        </div>
      )}
      <div class="terminal-command">
        <pre tabIndex={0} dir="ltr" role="group" aria-label={t('Command')}>
          <span class="terminal-prompt" aria-hidden="true">
            ${' '}
          </span>
          {command}
        </pre>
        <span class="body-actions">
          <CopyButton text={() => command} label={t('Copy command')} />
        </span>
      </div>
      {lines.length > 0 && (
        <div class="terminal-output">
          {/* What is cut is the beginning: the end of a command's output says how it went. */}
          <BodyMore hidden={Math.max(allLines, lines.length) - shown.length} onShowAll={() => actions.openOutput(row.callId)} />
          <pre class="ansi" tabIndex={0} dir="ltr" role="group" aria-label={t('Output')} ref={box}>
            {shown.map((spans, index) => (
              <AnsiLine key={lines.length - shown.length + index} spans={spans} />
            ))}
          </pre>
          <span class="body-actions">
            <CopyButton text={() => plainText(output)} label={t('Copy output')} />
          </span>
        </div>
      )}
      {lines.length === 0 && row.endedAt !== null && row.error === null && !isJob && <div class="terminal-cwd">{t('No output')}</div>}
      <div class="terminal-foot">
        {cwd !== undefined && (
          <span class="terminal-cwd" dir="ltr" title={cwd}>
            {t('in {0}', cwd)}
          </span>
        )}
        {sandbox !== undefined && <span class="terminal-cwd">{sandbox === 'denied' ? t('denied by the sandbox') : t('sandboxed')}</span>}
        {omittedBytes > 0 && <span class="terminal-cwd">{t('{0} left out', formatBytes(omittedBytes))}</span>}
        <span class="terminal-buttons">{running === undefined ? !isJob && <TerminalButton row={row} /> : <CommandButtons command={running} isLabelled />}</span>
      </div>
    </div>
  )
}

/** The same output as a terminal draws it, with the facts of its end. */
function TerminalButton({ row }: { readonly row: ToolRow }) {
  const { actions } = useApp()
  return <CommandButton icon="terminal" label={t('Open in a terminal')} word={t('Terminal')} isLabelled onPress={() => actions.command({ callId: row.callId }, 'open-terminal')} />
}

const AnsiLine = ({ spans }: { readonly spans: readonly AnsiSpan[] }) => (
  <>
    {spans.map((span, index) => (
      <Span key={index} span={span} />
    ))}
    {'\n'}
  </>
)

function Span({ span }: { readonly span: AnsiSpan }) {
  const { text, color, background } = span
  const isPlain = Object.keys(span).length === 1
  if (isPlain) return <>{text}</>
  const classes = [
    ...(color !== undefined && !color.startsWith('#') ? [`ansi-${color}`] : []),
    ...(background !== undefined && !background.startsWith('#') ? [`ansi-on-${background}`] : []),
    ...(['isBold', 'isDim', 'isItalic', 'isUnderlined', 'isStruck', 'isInverse'] as const).filter((look) => span[look]).map((look) => `ansi-${look.slice(2).toLowerCase()}`),
  ]
  return (
    <span
      class={classes.join(' ')}
      style={{ ...(color?.startsWith('#') === true ? { color } : {}), ...(background?.startsWith('#') === true ? { backgroundColor: background } : {}) }}
    >
      {text}
    </span>
  )
}
