/** How a pattern chooses files. */
export interface PatternUse {
  /** The shell fills it: from the folder it stands in, a star is no leading dot. Otherwise a program does, at any depth, dots included. */
  readonly isShell: boolean
  readonly ignoresCase: boolean
}

/** Whether some path is taken in by `pattern` and by one of the patterns for secret-looking paths. Braces are filled in before. */
export function mayMatchSecret(pattern: string, secretPatterns: readonly string[], { isShell, ignoresCase }: PatternUse): boolean {
  const fold = (text: string) => (ignoresCase ? text.toLowerCase() : text)
  const own = stepsOf(fold(isShell || pattern.includes('/') ? pattern : `**/${pattern}`), isShell)
  return secretPatterns.filter((line) => !line.startsWith('!')).some((line) => {
    // The folder of secrets itself is as closed as what stands in it.
    const forms = line.endsWith('/**') ? [line, line.slice(0, -3)] : [line]
    return forms.some((form) => meet(own, stepsOf(fold(form), true), isShell))
  })
}

/** A last `**` of a program means every file below. */
function stepsOf(pattern: string, isPlain: boolean): readonly string[] {
  const steps = pattern.split('/').filter((step, index) => step !== '.' && (step !== '' || index === 0))
  return !isPlain && steps.at(-1) === '**' ? [...steps, '*'] : steps
}

function meet(own: readonly string[], secret: readonly string[], isShell: boolean): boolean {
  const [first, ...rest] = own
  const [other, ...others] = secret
  if (first === undefined) return secret.every((step) => step === '**')
  if (other === '**') return meet(own, others, isShell) || meet(rest, secret, isShell)
  if (other === undefined) return false
  // The shell here knows `**` as `*`. Programs do not go into hidden folders that nobody named.
  if (first === '**' && !isShell) return meet(rest, secret, isShell) || (!other.startsWith('.') && meet(own, others, isShell))
  return stepsMeet(first, other, isShell) && meet(rest, others, isShell)
}

function stepsMeet(own: string, secret: string, isShell: boolean): boolean {
  const isDotless = secret.startsWith('.') && !own.startsWith('.')
  // `*.ts` takes `.env.ts` in too, a name that nobody gives.
  if (isDotless && (isShell || secret.endsWith('*'))) return isDotless && !isShell && /^[*?]*$/.test(own)
  return textsMeet(tokensOf(own), tokensOf(secret))
}

/** A class in brackets counts as any character. */
const tokensOf = (step: string): readonly string[] => step.match(/\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\]|[\s\S]/g)?.map((token) => (token.length > 1 ? '?' : token)) ?? []

function textsMeet(own: readonly string[], secret: readonly string[]): boolean {
  // Which places of `secret` can be reached after each token of `own`.
  const skipStars = (places: Set<number>) => {
    for (const place of places) if (secret[place] === '*') places.add(place + 1)
    return places
  }
  let places = skipStars(new Set([0]))
  for (const token of own) {
    const next = new Set<number>()
    for (const place of places) {
      if (token === '*') for (let at = place; at <= secret.length; at++) next.add(at)
      else if (secret[place] === '*') next.add(place)
      else if (place < secret.length && (token === '?' || secret[place] === '?' || secret[place] === token)) next.add(place + 1)
    }
    places = skipStars(next)
  }
  return places.has(secret.length)
}
