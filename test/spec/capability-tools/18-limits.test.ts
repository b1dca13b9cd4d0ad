import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

/* Chapter 18.3: the limits of the tools, as the catalogue shows them. Written down by hand, never taken from the code. */

type Row = readonly [of: string, max: number, unit: string]

const limits: Readonly<Record<string, readonly Row[]>> = {
  bash: [['time', 600_000, 'ms'], ['one stream of output', 64_000, 'bytes'], ['the file with all of one stream', 67_108_864, 'bytes'], ['grace before KILL', 3_000, 'ms']],
  glob: [['paths on a page', 100, 'items'], ['what is found', 20_000_000, 'bytes'], ['facts of the card', 65_536, 'bytes']],
  grep: [
    ['matches on a page unless head_limit says otherwise', 250, 'lines'], ['head_limit', 1_000, 'lines'], ['context around a match', 20, 'lines'],
    ['one line on a page', 2_000, 'bytes'], ['what is found', 20_000_000, 'bytes'], ['facts of the card', 65_536, 'bytes'],
  ],
  job_output: [['wait', 600_000, 'ms'], ['input', 64_000, 'bytes']],
  web_fetch: [
    ['address', 2_048, 'characters'], ['page after decompression', 5_000_000, 'bytes'], ['redirects within a site', 5, 'items'],
    ['text of the page in one call', 100_000, 'characters'], ['whole result', 200_000, 'characters'],
  ],
  web_search: [['queries', 4, 'items'], ['one query', 1_000, 'characters'], ['sources', 8, 'items']],
}

describe('the limits in the catalogue', () => {
  let application: WholeApplication
  beforeAll(async () => {
    application = await wholeApplication({ settings: { 'tools.web.fetchEnabled': true, 'tools.web.searchProvider': 'searxng', 'tools.web.providers': { searxng: { baseUrl: 'http://127.0.0.1:9' } } } })
  })
  afterAll(() => application.dispose())

  it.each(Object.entries(limits))('of %s', (name, rows) => {
    const tool = application.ctx.tools.list(null).find((each) => each.name === name)
    expect(tool?.limits?.map(({ of, max, unit }) => [of, max, unit])).toEqual(rows)
  })
})
