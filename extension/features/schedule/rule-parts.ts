const days = '(?:MO|TU|WE|TH|FR|SA|SU)'

/** What each part of a recurrence rule may hold: a form, or whole numbers up to one, from 1 or from 0, and counted from the end too. Source: RFC 5545, 3.3.10. */
const parts: Readonly<Record<string, RegExp | { readonly from: 0 | 1; readonly to: number; readonly isSigned?: true }>> = {
  FREQ: /^(?:HOURLY|DAILY|WEEKLY|MONTHLY|YEARLY)$/,
  INTERVAL: /^[1-9]\d{0,5}$/,
  // All of them are worked out to know the last.
  COUNT: /^(?:[1-9]\d{0,2}|1000)$/,
  UNTIL: /^\d{8}(?:T\d{6}Z?)?$/,
  WKST: new RegExp(`^${days}$`),
  BYDAY: new RegExp(`^(?:[+-]?[1-9]\\d?)?${days}(?:,(?:[+-]?[1-9]\\d?)?${days})*$`),
  BYMONTH: { from: 1, to: 12 },
  BYMONTHDAY: { from: 1, to: 31, isSigned: true },
  BYYEARDAY: { from: 1, to: 366, isSigned: true },
  BYWEEKNO: { from: 1, to: 53, isSigned: true },
  BYSETPOS: { from: 1, to: 366, isSigned: true },
  BYHOUR: { from: 0, to: 23 },
  BYMINUTE: { from: 0, to: 59 },
  BYSECOND: { from: 0, to: 59 },
}

/**
 * What is wrong with the parts of a recurrence rule in capital letters, in words; null when all are known and hold what they may.
 *
 * The library leaves out what it does not understand, and the reminder would come at another time than was meant.
 */
export function problemOfParts(rule: string): string | null {
  const seen = new Set<string>()
  for (const part of rule.replace(/;$/, '').split(';')) {
    const [name = '', value = '', ...more] = part.split('=')
    const form = Object.hasOwn(parts, name) ? parts[name] : undefined
    if (form === undefined || more.length > 0) return `${JSON.stringify(part)} is no part of it`
    if (seen.has(name)) return `${name} stands in it twice`
    seen.add(name)
    const isFine = form instanceof RegExp ? form.test(value) : value.split(',').every((text) => isNumber(text, form))
    if (!isFine) return `${JSON.stringify(part)} is not possible`
  }
  return null
}

function isNumber(text: string, { from, to, isSigned = false }: { readonly from: number; readonly to: number; readonly isSigned?: boolean }): boolean {
  const match = /^([+-]?)(\d{1,3})$/.exec(text)
  return match !== null && (match[1] === '' || isSigned) && Number(match[2]) >= from && Number(match[2]) <= to
}
