import { Icon } from './icon.tsx'

export interface IconButtonProps {
  readonly icon: string
  /** Its name for everybody: tooltip and screen reader. */
  readonly label: string
  readonly onPress: () => void
  readonly class?: string
  readonly isDisabled?: boolean
  readonly isExpanded?: boolean
  readonly popup?: 'menu' | 'dialog'
}

/** A quiet button that is an icon. */
export const IconButton = ({ icon, label, onPress, class: extra = '', isDisabled = false, isExpanded, popup }: IconButtonProps) => (
  <button
    type="button"
    class={`icon-button ${extra}`}
    title={label}
    aria-label={label}
    disabled={isDisabled}
    aria-haspopup={popup}
    aria-expanded={isExpanded}
    onClick={(event) => {
      event.stopPropagation()
      onPress()
    }}
  >
    <Icon name={icon} />
  </button>
)
