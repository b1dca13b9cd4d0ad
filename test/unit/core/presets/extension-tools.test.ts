import { describe, expect, it } from 'vitest'
import { extensionOfGroup, groupOfExtension, takesExtension } from '../../../../extension/core/presets/extension-tools.ts'
import { presetFileText, presetFrom, presetFromText } from '../../../../extension/core/presets/preset-file.ts'

describe('the group of an extension’s tools', () => {
  it('tells whose they are', () => expect(extensionOfGroup(groupOfExtension('acme.sample'))).toBe('acme.sample'))
  it.each([undefined, 'files', 'mcp', ''])('is not %s', (group) => expect(extensionOfGroup(group)).toBeNull())
})

describe('a preset', () => {
  it.each<[extensions: boolean | readonly string[] | undefined, isTaken: boolean]>([
    [undefined, false],
    [false, false],
    [true, true],
    [['other.one', 'Acme.Sample'], true],
    [['other.one', 'acme'], false],
    [[], false],
  ])('with extensions %j takes those of acme.sample, in whatever letters: %s', (extensions, isTaken) =>
    expect(['acme.sample', 'acme.Sample'].map((id) => takesExtension(id, extensions))).toEqual([isTaken, isTaken]))
  it.each<[written: unknown, read: unknown]>([
    [{}, undefined],
    [{ extensions: false }, undefined],
    [{ extensions: true }, true],
    [{ extensions: ['acme.sample'] }, ['acme.sample']],
  ])('that says %j is read so, and a copy says the same', (written, read) => {
    const preset = presetFrom('mine', { tools: ['read'], ...(written as object) })
    expect([preset.extensions, presetFromText('copy', presetFileText(preset)).extensions]).toEqual([read, read])
  })
  it('says what is wrong with another value', () => expect(() => presetFrom('mine', { tools: ['read'], extensions: 'all' })).toThrow(/extensions/))
})
