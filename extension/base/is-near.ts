/** Whether `typed` is `known` with one letter added, left out or wrong, or with two swapped. */
export function isNear(known: string, typed: string): boolean {
  if (Math.abs(known.length - typed.length) > 1) return false
  let start = 0
  while (start < known.length && known[start] === typed[start]) start += 1
  const [left, right] = [known.slice(start), typed.slice(start)]
  const isSwapped = left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2)
  return isSwapped || left.slice(1) === right || left === right.slice(1) || left.slice(1) === right.slice(1)
}
