/** The message of an error, or the value as text. What hostile code may have thrown is for `thrownText`. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
