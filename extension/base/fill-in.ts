export type WordValues = Readonly<Record<string, string | number>>

/** Put `values` in the places of `{name}` in `text`; a place without a value stays as it is. */
export function fillIn(text: string, values: WordValues = {}): string {
  return text.replaceAll(/\{(\w+)\}/g, (place, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : place))
}
