import type { FileLocation } from '../../extension/protocol/cards.ts'
import { t } from '../l10n.ts'

export interface FileLinkProps {
  readonly location: FileLocation
  readonly text: string
  readonly onOpen: (location: FileLocation) => void
}

/** The name of a file; opens it at its line. */
export const FileLink = ({ location, text, onOpen }: FileLinkProps) => (
  <button
    type="button"
    class="file-link"
    title={location.line === undefined ? location.path : t('{0}, line {1}', location.path, location.line)}
    onClick={(event) => {
      event.stopPropagation()
      onOpen(location)
    }}
  >
    {text}
  </button>
)
