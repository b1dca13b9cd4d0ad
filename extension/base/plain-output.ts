import { stripAnsi } from './strip-ansi.ts'

/** Without sequences and bells, with plain line ends; of a line that was written over only what stood there last. */
export function plainOutput(raw: string): string {
  return stripAnsi(raw)
    .replaceAll('\u0007', '')
    .replaceAll(/\r+\n/g, '\n')
    .split('\n')
    .map((line) => (line.includes('\r') ? (line.split('\r').findLast((part) => part !== '') ?? '') : line))
    .join('\n')
}
