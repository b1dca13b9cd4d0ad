import type { Acceptance } from '../store/completion-menu.ts'

/** As if it were typed, so that undo takes it back. */
export function writeInto(box: HTMLTextAreaElement | HTMLInputElement, { start, end, text }: Acceptance): void {
  box.focus()
  // What stands there already is left alone, so that after an undo the caret is where it was.
  const held = box.value.slice(start, end)
  const isLonger = text.startsWith(held)
  const added = isLonger ? text.slice(held.length) : text
  box.setSelectionRange(isLonger ? end : start, end)
  // Deprecated and without a successor: no other way keeps the undo list of a text box.
  if (added === '' || document.execCommand('insertText', false, added)) return
  box.setRangeText(text, start, end, 'end')
  box.dispatchEvent(new Event('input', { bubbles: true }))
}
