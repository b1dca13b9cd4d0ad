/** Whether a key composes a character, also the Enter that ends it: such keys belong to the input method. 229: as Safari tells it. */
export const isComposing = ({ isComposing: composes, keyCode }: KeyboardEvent): boolean => composes || keyCode === 229

/** Escape leaves, and nothing around hears of it. */
export const escapeTo = (leave: () => void) => (event: KeyboardEvent): void => {
  if (event.key !== 'Escape' || isComposing(event)) return
  event.stopPropagation()
  leave()
}

/** In a form of several lines Ctrl+Enter (⌘ on a Mac) sends, and Escape leaves. */
export const formKeys = (send: () => void, leave: () => void) => (event: KeyboardEvent): void => {
  const isSend = event.key === 'Enter' && (event.ctrlKey || event.metaKey)
  if (isComposing(event) || (!isSend && event.key !== 'Escape')) return
  event.stopPropagation()
  event.preventDefault()
  if (isSend) send()
  else leave()
}
