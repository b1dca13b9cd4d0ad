import type { CardContent } from '../../extension/protocol/cards.ts'
import type { ToolRow } from '../../extension/protocol/view-state.ts'
import { useApp } from '../components/app-context.ts'
import { FileLink } from '../components/file-link.tsx'
import { t } from '../l10n.ts'
import { BodyPart, BodyText } from './body-text.tsx'
import { ImageCard } from './image-card.tsx'

/**
 * Any call that has no card of its own: what it was given and what it gave.
 *
 * What the row says already is left out: arguments that the line words, the reason of a failure, pictures, the line's own file.
 */
export function GenericCard({ row, content }: { readonly row: ToolRow; readonly content: readonly CardContent[] }) {
  const { actions } = useApp()
  const call = row.call?.card === 'generic' ? row.call : null
  const input = call?.rawInput ?? row.rawArguments
  const hasFailed = row.state === 'failed' || row.state === 'denied'
  const isWorded = call !== null && !hasFailed && (call.rawInput === undefined || content.length > 0)
  const isEmpty = isWorded || input === null || (typeof input === 'object' && Object.keys(input).length === 0)
  const isReason = (text: string) => hasFailed && row.error !== null && text === `Error: ${row.error}`
  const shown = content.filter((part) => part.type === 'text' && !isReason(part.text))
  const text = content.length === 0 ? (row.output ?? row.progress) : ''
  const output = isReason(text) ? '' : text
  const locations = call?.locations?.filter(({ path }) => path !== call.subject) ?? []
  const isProgram = call?.kind === 'execute' && typeof input === 'string'
  const inputTitle = isProgram ? t('Program') : t('Arguments')
  const showAll = row.endedAt === null ? undefined : () => actions.openOutput(row.callId)
  return (
    <>
      {locations.length > 0 && (
        <div class="locations">
          {locations.map((location) => (
            <FileLink key={`${location.path}:${location.line}`} location={location} text={location.line === undefined ? location.path : `${location.path}:${location.line}`} onOpen={actions.openLocation} />
          ))}
        </div>
      )}
      {!isEmpty && (
        <BodyPart title={inputTitle}>
          <BodyText text={typeof input === 'string' ? input : JSON.stringify(input, null, 2)} label={inputTitle} language={isProgram ? 'typescript' : undefined} onShowAll={() => actions.openInput(row.callId)} />
        </BodyPart>
      )}
      {(shown.length > 0 || output !== '') && (
        <BodyPart title={row.endedAt === null ? t('So far') : isEmpty ? null : t('Result')}>
          <CardContents content={shown} onShowAll={showAll} />
          {output !== '' && <BodyText text={output} label={t('Result')} onShowAll={showAll} />}
        </BodyPart>
      )}
    </>
  )
}

export const CardContents = ({ content, onShowAll }: { readonly content: readonly CardContent[]; readonly onShowAll?: (() => void) | undefined }) => (
  <>
    {content.map((part, index) =>
      part.type === 'image' ? <ImageCard key={index} image={part} /> : <BodyText key={index} text={part.text} label={t('Content')} onShowAll={onShowAll} />,
    )}
  </>
)
