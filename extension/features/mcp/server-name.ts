import { visibleText } from '../../base/visible-text.ts'

const MAX_NAME = 32
const SUFFIX = 12

/**
 * The name by which a server is called in the names of its tools, in commands and in references: its own, where that is 1 to 32 letters,
 * digits, `_` and `-` and no tool of it could be taken for one of a server in `taken`; else made safe, with 12 hex digits of the SHA-256 of its own.
 *
 * Shape:  `mcp__<name>__` begins no other one's `mcp__<name>__`, and the other way round. Null: even the safe one could be mistaken.
 * Source: runtime specification 21.
 */
export function safeServerName(own: string, taken: readonly string[], sha256: (text: string) => string): string | null {
  const candidates = [...(/^[A-Za-z0-9_-]{1,32}$/.test(own) ? [own] : []), `${plainPart(own)}_${sha256(own).slice(0, SUFFIX)}`]
  return candidates.find((name) => taken.every((other) => !isMistakable(name, other) && !isMistakable(other, name))) ?? null
}

/** Without two `_` in a row, and none at its end, so that what follows it cannot be read as a part of it. */
const plainPart = (own: string): string => own.replaceAll(/[^A-Za-z0-9-]+/g, '_').slice(0, MAX_NAME - SUFFIX - 1).replaceAll(/^_+|_+$/g, '') || 'server'

/** A tool `b__c` of `a` and a tool `c` of `a__b` would have one name. */
const isMistakable = (name: string, other: string): boolean => `${name}__`.startsWith(`${other}__`)

/** Its own name for the eyes of a person: in one line, with nothing hidden in it, and no link or icon, which notifications and lists of the editor would draw. */
export const shownServerName = (own: string): string => visibleText(own.trim().replaceAll(/\s+/g, ' ')).replaceAll(/(\]|\$)\(/g, '$1 (')
