/** What a tool that somebody else wrote may have the model read before its first call. */
export const declarationCaps = {
  /** UTF-16 units of what it says it does. */
  descriptionChars: 4_000,
  /** UTF-8 bytes of each compiled schema, as JSON. */
  schemaBytes: 64 * 1024,
} as const
