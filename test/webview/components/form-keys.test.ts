import { describe, expect, it } from 'vitest'
import { escapeTo, formKeys } from '../../../webview/components/form-keys.ts'

/** What a form hears of a key, and whether anything around it does. */
function pressed(handler: (heard: string[]) => (event: KeyboardEvent) => void, init: KeyboardEventInit): readonly string[] {
  const heard: string[] = []
  const [around, form] = [document.createElement('div'), document.createElement('form')]
  around.append(form)
  form.addEventListener('keydown', handler(heard))
  around.addEventListener('keydown', () => heard.push('around'))
  form.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, ...init }))
  return heard
}

const safari = { keyCode: 229 } as KeyboardEventInit

describe('the keys of a form', () => {
  const keys = (heard: string[]) => formKeys(() => heard.push('send'), () => heard.push('leave'))
  it.each<[string, KeyboardEventInit, readonly string[]]>([
    ['Ctrl+Enter sends', { key: 'Enter', ctrlKey: true }, ['send']],
    ['⌘+Enter sends', { key: 'Enter', metaKey: true }, ['send']],
    ['Escape leaves', { key: 'Escape' }, ['leave']],
    ['Enter is a new line', { key: 'Enter' }, ['around']],
    ['Escape of an input method is its own', { key: 'Escape', isComposing: true }, ['around']],
    ['and so it is in Safari', { key: 'Escape', ...safari }, ['around']],
  ])('%s', (_, init, heard) => expect(pressed(keys, init)).toEqual(heard))
})

describe('Escape', () => {
  const keys = (heard: string[]) => escapeTo(() => heard.push('leave'))
  it.each<[string, KeyboardEventInit, readonly string[]]>([
    ['leaves', { key: 'Escape' }, ['leave']],
    ['of an input method is its own', { key: 'Escape', isComposing: true }, ['around']],
    ['is the only one', { key: 'Enter' }, ['around']],
  ])('%s', (_, init, heard) => expect(pressed(keys, init)).toEqual(heard))
})
