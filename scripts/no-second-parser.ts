/** Stands for a parser that is never asked: the pages come parsed. */
export const createDocument = (): never => {
  throw new Error('Give the document, not its text.')
}
