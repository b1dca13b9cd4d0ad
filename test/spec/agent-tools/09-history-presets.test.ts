import { afterAll, beforeAll, expect, it } from 'vitest'
import { shippedPresets } from '../../../extension/core/presets/shipped.ts'
import { wholeApplication, type WholeApplication } from '../../support/whole-application.ts'

const five = ['session_event_read', 'session_event_search', 'session_event_trace', 'session_search', 'session_trace']
let application: WholeApplication
beforeAll(async () => {
  application = await wholeApplication()
})
afterAll(() => application.dispose())
/** What its models may use, by a call or, in the preset `code`, from a program. */
const shown = (preset: string) =>
  application.ctx.tools
    .list(application.ctx.presets.scopeOf(preset))
    .map(({ name }) => name)
    .filter((name) => name.startsWith('session_'))
    .toSorted()
const presets = () => shippedPresets.map(({ id }) => id).filter((id) => application.ctx.presets.list().some((preset) => preset.id === id && preset.problem === undefined))

it('9 the five tools are there, and in no preset until the setting says so', () => {
  expect(application.ctx.tools.list(null).map(({ name }) => name)).toEqual(expect.arrayContaining(five))
  for (const preset of presets()) expect([preset, shown(preset)]).toEqual([preset, []])
})
it('9 they join every preset but minimal with the setting, and leave with it', async () => {
  await application.settings.set('history.tools', true, 'user')
  for (const preset of presets()) expect([preset, shown(preset)]).toEqual([preset, preset === 'minimal' ? [] : five])
  await application.settings.set('history.tools', false, 'user')
  for (const preset of presets()) expect([preset, shown(preset)]).toEqual([preset, []])
})
