import { expect, it } from 'vitest'
import { interpolate } from '../../../../extension/core/prompt/interpolate.ts'

const values = { cwd: '/w/{{model}}', model: 'm1', provider: '' }
const check = (text: string, result: string) => expect(interpolate(text, values, 'part')).toBe(result)
const refuse = (text: string, problem: string) => expect(() => interpolate(text, values, 'part')).toThrow(problem)

it('puts values in, each once: what a value holds stays as it is', () => check('in {{cwd}} with {{model}}', 'in /w/{{model}} with m1'))
it('leaves single braces alone', () => check('{ "a": {} } }}', '{ "a": {} } }}'))
it('refuses an unknown name and lists the known ones', () => refuse('{{date}}', 'Prompt section part uses {{date}}, which is unknown. Known: cwd, model, provider.'))
it('refuses a name of the prototype', () => refuse('{{constructor}}', 'is unknown'))
it('refuses a name without a value', () => refuse('{{provider}}', 'has no value now'))
it.each(['{{ cwd }}', '{{Cwd}}', '{{1a}}', '{{}}', 'tail {{cwd', '{{a b}}'])('refuses the malformed %s', (text) => refuse(text, 'malformed placeholder'))
