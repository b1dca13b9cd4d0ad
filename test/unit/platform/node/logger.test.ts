import { expect, it } from 'vitest'
import { createLineLogger, type LogLevel } from '../../../../extension/platform/node/logger.ts'

const lines = (level: LogLevel, log: (logger: ReturnType<typeof createLineLogger>) => void) => {
  const written: string[] = []
  log(createLineLogger({ level, write: (line) => void written.push(line) }))
  return written
}

it('writes one line a message, from its level upwards', () =>
  expect(
    lines('info', (logger) => {
      logger.debug('a')
      logger.info('b', { x: 1 })
      logger.warn('c')
      logger.error('d', {})
    }),
  ).toEqual(['info: b {"x":1}\n', 'warn: c\n', 'error: d {}\n']))

it('carries what JSON cannot', () => {
  const circle: Record<string, unknown> = { big: 1n, nothing: undefined }
  circle['self'] = circle
  const [line] = lines('error', (logger) => logger.error('x', { circle, error: new RangeError('far') }))
  expect(line).toMatch(/^error: x \{"circle":\{"big":"1","self":"\(seen\)"\},"error":"RangeError: far\\n/)
  expect(line?.split('\n')).toHaveLength(2)
})
