const MAX_ISSUES = 3

/** What is wrong with data, as a sentence part: the first three of its issues with their places, then how many more there are. */
export function issueWords(issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]): string {
  const words = issues.slice(0, MAX_ISSUES).map(({ path, message }) => `${path.length > 0 ? `${path.join('.')}: ` : ''}${message}`)
  if (issues.length > MAX_ISSUES) words.push(`and ${issues.length - MAX_ISSUES} more like that`)
  return words.join('; ')
}
