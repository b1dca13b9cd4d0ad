const suffix = /\s*[(（](?:recommended|推荐|推薦)[)）]\s*$/i

/** A label without its "(Recommended)", and whether it had one. The label itself goes back untouched. */
export function recommendation(label: string): { readonly text: string; readonly isRecommended: boolean } {
  const text = label.replace(suffix, '')
  // A label that says nothing else is shown as it is.
  return { text: text === '' ? label : text, isRecommended: suffix.test(label) }
}
