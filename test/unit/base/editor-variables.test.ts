import { describe, expect, it } from 'vitest'
import { replaceVariables } from '../../../extension/base/editor-variables.ts'

describe('variables of the editor', () => {
  const variables = { environment: { A: 'a' }, homeFolder: '/home/me', workspaceFolder: '/project', pathSeparator: '/' }
  it.each([
    ['plain $A', 'plain $A'],
    ['${env:A}:${env:NONE}', 'a:'],
    ['${userHome}${/}bin${pathSeparator}x', '/home/me/bin/x'],
    ['${workspaceFolder}/x', '/project/x'],
    ['${cwd}/${workspaceFolderBasename}', '/project/project'],
    ['${config:x}', null],
    ['${env:A} ${command:y}', null],
  ])('in %j', (text, replaced) => expect(replaceVariables(text, variables)).toBe(replaced))
  it.each(['${workspaceFolder}/x', '${workspaceFolderBasename}', '${cwd}'])('of a folder that is not there are not known: %s', (text) => expect(replaceVariables(text, { ...variables, workspaceFolder: null })).toBe(null))
  it.each([
    ['/home/me/my app/', '/', 'my app'],
    ['C:\\work\\app', '\\', 'app'],
  ])('name the folder %j without its way', (workspaceFolder, pathSeparator, name) => expect(replaceVariables('${workspaceFolderBasename}', { ...variables, workspaceFolder, pathSeparator })).toBe(name))
})
