import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../extension/base/json.ts'
import { catalogueOf, type CatalogueRow } from '../../../extension/catalogue.ts'
import { argumentWords, effectWords, sections } from '../../../scripts/tool-words.ts'
import { meaning } from '../../../scripts/tools-text.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

let application: WholeApplication
let rows: readonly CatalogueRow[]
beforeAll(async () => {
  application = await wholeApplication()
  rows = await catalogueOf(application)
})
afterAll(() => application.dispose())

const argumentsOf = ({ name, ...row }: CatalogueRow) =>
  [row, ...row.variants].flatMap(({ parameters }) => Object.entries((parameters['properties'] ?? {}) as Readonly<Record<string, JsonObject>>).map(([key, schema]) => ({ name, key, schema })))

describe('the document of the tools', () => {
  it('says of every argument what it means', () =>
    expect(rows.flatMap(argumentsOf).filter(({ name, key, schema }) => meaning(name, key, schema) === '').map(({ name, key }) => `${name} ${key}`)).toEqual([]))
  it('has no words for what a tool says itself, or has not', () => {
    const silent = new Set(rows.flatMap(argumentsOf).filter(({ schema }) => schema['description'] === undefined).map(({ name, key }) => `${name} ${key}`))
    expect(Object.entries(argumentWords).flatMap(([name, words]) => Object.keys(words).map((key) => `${name} ${key}`)).filter((one) => !silent.has(one))).toEqual([])
    expect(Object.keys(effectWords).filter((name) => !rows.some((row) => row.name === name))).toEqual([])
  })
  it('has a part for every tool', () =>
    expect(rows.filter(({ group }) => !sections.some(({ groups }) => groups.test(group ?? ''))).map(({ name }) => name)).toEqual([]))
  it('tells a default after the meaning', () => expect(meaning('a', 'b', { type: 'number', description: 'How many.', default: 3 })).toBe('How many. Default: `3`.'))
})
