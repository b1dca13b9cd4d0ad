/** The task before which one stands once it moved a step (1 down, -1 up): null is the end, undefined where it stays. */
export function placeAfterMove(tasks: readonly { readonly id: string }[], index: number, step: 1 | -1): string | null | undefined {
  if (tasks[index + step] === undefined) return undefined
  return step === -1 ? tasks[index - 1]?.id : (tasks[index + 2]?.id ?? null)
}
