import { describe, expect, it } from 'vitest'
import { HIDDEN_KEYS } from '../../../../extension/capabilities/terminal-view.ts'
import { isSecretKey, PersonKeys } from '../../../../extension/features/terminals/person-keys.ts'

describe('keys of the person', () => {
  const told = (...keys: readonly (readonly [string, boolean])[]) => {
    const all = new PersonKeys()
    for (const [text, isSecret] of keys) all.add(text, { isSecret })
    return [all.take(), all.take()]
  }
  it.each([
    ['are told once, in order', [['a', false], ['b', false]], 'ab'],
    ['that are secret are told as hidden, once for all of them', [['a', false], ['s', true], ['3', true], ['\r', true], ['b', false]], `a${HIDDEN_KEYS}b`],
    ['are not what a terminal sends by itself', [['\u001b[I', false], ['\u001b[<0;12;3M', false], ['\u001b[200~x\u001b[201~', false], ['\u001b[O', true]], 'x'],
    ['are arrows and the like too', [['\u001b[A', false]], '\u001b[A'],
  ] as const)('%s', (_name, keys, expected) => expect(told(...keys)).toEqual([expected, '']))
  it('are the last of them when there are many', () => expect(told(['x'.repeat(5_000), false], ['end', false])[0]).toMatch(/^x{1997}end$/))
})

describe('a key is secret', () => {
  it.each([
    ['hidden', '$ ', true],
    ['shown', 'Password: ', false],
    ['program', '$ ls', false],
    ['program', '? Enter password: ****', true],
    ['program', 'Enter your PIN:', true],
    ['program', 'One-time OTP >', true],
    ['program', 'npm login password reset', false],
    ['program', 'Password accepted: welcome', false],
    [null, 'Passphrase for key: ', true],
    [null, 'Name: ', false],
  ] as const)('where the terminal says %s and the line is %j: %s', (echo, line, expected) => expect(isSecretKey(echo, line)).toBe(expected))
})
