/** `text` in parts, with those marked that are one of the small-letter `words`. */
export function markedParts(text: string, words: readonly string[]): readonly { readonly text: string; readonly isMarked: boolean }[] {
  if (words.length === 0) return [{ text, isMarked: false }]
  const pattern = new RegExp(`(${words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|')})`, 'gi')
  // Every second part is what the group took.
  return text.split(pattern).flatMap((part, at) => (part === '' ? [] : [{ text: part, isMarked: at % 2 === 1 }]))
}
