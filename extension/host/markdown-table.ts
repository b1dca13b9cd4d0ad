/** Text of anybody as a cell of a Markdown table: a path may hold anything, and the cell must stay one. */
export const plainCell = (text: string): string => text.replace(/[\u0000-\u001f\u007f\u2028\u2029]+/g, ' ').replace(/[\\|<>`*_[\]]/g, '\\$&')

/** A row of cells that are Markdown already. */
export const tableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
