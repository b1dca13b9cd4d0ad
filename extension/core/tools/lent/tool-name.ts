const MAX_NAME = 64
const SUFFIX = 12

/**
 * The name under which a model calls a tool that somebody else lends: `<prefix>__<raw>`.
 *
 * Shape: at most 64 letters, digits, `_`, `-`; one whose raw name does not survive, or that is too long, ends in 12 hex digits of the
 *        SHA-256 of `lender` and raw name, so that two of them stay two.
 * Source: runtime specification 21.
 */
export function lentToolName({ prefix, lender, raw }: { readonly prefix: string; readonly lender: string; readonly raw: string }, sha256: (text: string) => string): string {
  const plain = `${prefix}__${raw.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`
  if (plain === `${prefix}__${raw}` && raw !== '' && plain.length <= MAX_NAME) return plain
  return `${plain.slice(0, MAX_NAME - SUFFIX - 1)}_${sha256(`${lender}\0${raw}`).slice(0, SUFFIX)}`
}
