import { describe, expect, it } from 'vitest'
import { replaceVariables } from '../../../extension/base/editor-variables.ts'

describe('variables of the editor', () => {
  const variables = { environment: { A: 'a' }, homeFolder: '/home/me', workspaceFolder: '/project', pathSeparator: '/' }
  it.each([
    ['plain $A', 'plain $A'],
    ['${env:A}:${env:NONE}', 'a:'],
    ['${userHome}${/}bin${pathSeparator}x', '/home/me/bin/x'],
    ['${workspaceFolder}/x', '/project/x'],
    ['${config:x}', null],
    ['${env:A} ${command:y}', null],
  ])('in %j', (text, replaced) => expect(replaceVariables(text, variables)).toBe(replaced))
  it('of a folder that is not there are not known', () => expect(replaceVariables('${workspaceFolder}/x', { ...variables, workspaceFolder: null })).toBe(null))
})
