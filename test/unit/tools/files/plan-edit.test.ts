import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyEdits } from '../../../../extension/base/encoding.ts'
import type { FileError } from '../../../../extension/capabilities/file-system.ts'
import { planEdit, type EditRequest } from '../../../../extension/tools/files/plan-edit.ts'

const plan = (text: string, oldString: string, newString: string, more: Partial<EditRequest> = {}) =>
  planEdit({ path: 'a.ts', text, oldString, newString, replaceAll: false, ...more })
const check = (text: string, oldString: string, newString: string, after: string, more: Partial<EditRequest> = {}) =>
  expect(applyEdits(text, plan(text, oldString, newString, more).replacements)).toBe(after)
const failure = (text: string, oldString: string, newString = 'new', more: Partial<EditRequest> = {}) => {
  try {
    return plan(text, oldString, newString, more)
  } catch (error) {
    return error as FileError
  }
}

describe('a match', () => {
  it('is replaced literally', () => check('a b c', 'b', "$& $1 $$ $'", "a $& $1 $$ $' c"))
  it('may contain what replaces it', () => check('ab', 'b', 'bb', 'abb'))
  it('may be deleted, whole content too', () => check('only', 'only', '', ''))
  it('may span the end without a line end', () => check('x\nlast', '\nlast', '\nend\n', 'x\nend\n'))
  it('cares for a final line end', () => expect(failure('x\nlast', 'last\n')).toMatchObject({ code: 'FS_EDIT_NOT_FOUND' }))
  it('counts without overlap', () => {
    expect(plan('aaa', 'aa', 'b').lines).toEqual([1])
    check('aaa', 'aa', 'b', 'ba', { replaceAll: true })
  })
  it('is changed no further than it differs', () => expect(plan('keep old keep', 'keep old keep', 'keep new! keep').replacements).toEqual([{ start: 5, end: 8, newText: 'new!' }]))
  it('is never cut inside a surrogate pair', () => {
    // The two differ in the second half only; both stand whole in the change.
    expect(plan('\u{1F600}', '\u{1F600}', '\u{1F601}').replacements).toEqual([{ start: 0, end: 2, newText: '\u{1F601}' }])
    // And in the first half only.
    expect(plan('\u{1F400}', '\u{1F400}', '\u{1F800}').replacements).toEqual([{ start: 0, end: 2, newText: '\u{1F800}' }])
  })
})

describe('line ends', () => {
  it('of the file do not matter to old_string', () => check('a\r\nb\r\nc', 'a\nb', 'a\nB', 'a\r\nB\r\nc'))
  it('of old_string do not matter to the file', () => check('a\nb', 'a\r\nb', 'x\r\ny', 'x\ny'))
  it('of new lines are those of their place', () => check('a\r\nb\nc\nd', 'c', 'c1\nc2', 'a\r\nb\nc1\nc2\nd'))
  it('of new lines at the very end are those before', () => check('a\r\nb', 'b', 'b\nc\n', 'a\r\nb\r\nc\r\n'))
  it('are new where there were none', () => check('a', 'a', 'a\nb', 'a\nb'))
  it('of untouched lines inside a match stay in a mixed file', () => check('1\r\n2\n3\r\n4\n', '1\n2\n3\n4', '1\n2\n3\nfour', '1\r\n2\n3\r\nfour\n'))
  it('may be deleted', () => check('a\r\n\r\nb', '\n\n', '\n', 'a\r\nb'))
  it('do not take a lone CR for one', () => check('a\rb\r\nc', 'a\rb\nc', 'a\rB\nc', 'a\rB\r\nc'))

  it('and everything else outside the match stay as they are, whatever the text', () => {
    const text = fc.array(fc.constantFrom('a', 'b', '\n', '\r\n', '\r', 'é', '😀'), { maxLength: 40 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, text, text, (before, middle, after) => {
        // A break made where the parts meet would be part of the text, not of the match.
        const [head, tail] = [before.replace(/\r+$/, ''), after.replace(/^\n+/, '')]
        const marked = middle.replace(/\r+$/, '').replaceAll(/\r+(?=\r\n)/g, '')
        const [wanted, replacement] = [`<${marked.replaceAll('\r\n', '\n')}>`, `[${marked.replaceAll('\r\n', '\n')}]!`]
        const whole = `${head}<${marked}>${tail}`
        const changed = applyEdits(whole, plan(whole, wanted, replacement).replacements)
        return changed.startsWith(head) && changed.endsWith(tail) && changed.slice(head.length, changed.length - tail.length).replaceAll('\r\n', '\n') === replacement
      }),
    )
  })
})

describe('several matches', () => {
  const text = 'one x\ntwo\nthree x\nfour\nfive x\n'
  it('are all replaced when asked, with their lines', () => {
    expect(plan(text, 'x', 'y', { replaceAll: true }).lines).toEqual([1, 3, 5])
    check(text, 'x', 'y', 'one y\ntwo\nthree y\nfour\nfive y\n', { replaceAll: true })
  })
  it('are refused otherwise, with the line of each', () =>
    expect(failure(text, 'x')).toMatchObject({
      code: 'FS_AMBIGUOUS_EDIT',
      message:
        'old_string stands 3 times in a.ts. Nothing was changed. Add lines around it, give near_line, or set replace_all.\n  line 1: one x\n  line 3: three x\n  line 5: five x',
    }))
  it('are told apart by near_line', () => check(text, 'x', 'y', 'one x\ntwo\nthree x\nfour\nfive y\n', { nearLine: 6 }))
  it('are not when two are equally near', () => expect(failure(text, 'x', 'y', { nearLine: 2 })).toMatchObject({ code: 'FS_AMBIGUOUS_EDIT' }))
  it('are listed up to twenty', () => expect((failure('x\n'.repeat(30), 'x') as FileError).message).toMatch(/\n {2}line 20: x\n {2}and 10 more$/))
})

describe('a miss says why, with the nearest region and its lines', () => {
  const source = 'import a\n\nfunction run() {\n\tconst text = “hi”\n\treturn text  \n}\n'
  const explain = (oldString: string, newString = 'something else') => (failure(source, oldString, newString) as FileError).message
  const region = '1: import a\n2: \n3: function run() {\n4: \tconst text = “hi”\n5: \treturn text  \n6: }'

  it('white space at line ends', () => expect(explain('\treturn text\n}')).toBe(`old_string was not found in a.ts. Nothing was changed. Only white space at line ends differs. The nearest region:\n3: function run() {\n4: \tconst text = “hi”\n5: \treturn text  \n6: }`))
  it('indentation', () => expect(explain('    const text = “hi”\n    return text')).toContain(`Only the indentation differs: the file has tabs there, old_string has spaces. The nearest region:\n2: \n3: function`))
  it('indentation of another depth', () => expect(explain('\t\tconst text = “hi”')).toContain('Only the indentation differs. The nearest'))
  it('white space inside lines', () => expect(explain('function  run()  {')).toContain(`Only white space inside lines differs. The nearest region:\n${region.slice(0, 40)}`))
  it('typographic characters', () => expect(explain('const text = "hi"')).toContain('Only typographic characters (quotes, dashes, ellipses, accents, special spaces) differ.'))
  it('a special space', () => expect((failure('a\u{A0}b', 'a b') as FileError).message).toContain('Only typographic characters'))
  it('several of them at once', () => expect(explain('    Const text = "hi"')).toContain('Typographic characters (quotes, dashes, ellipses, accents, special spaces), indentation and upper and lower case differ. The nearest region:\n2: '))
  it('line ends', () => expect((failure('x\na\rb\n', 'a\nb') as FileError).message).toContain('Only line ends differ: the lines there end in CR alone and LF, those of old_string do not. The nearest region:\n1: x\n2: a'))
  it('an edit that was made before, of a short line', () => expect((failure('a\n  x = 2\n', 'x = 1', 'x = 2') as FileError).message).toContain('new_string stands there already, at line 2'))
  it('no edit before, for a bracket alone', () => expect(explain('y = 1', '}')).toContain('No part of the file resembles it.'))
  it('no edit before, for a text that stands anywhere by chance', () => expect(explain('function  run()', 'run')).toContain('Only white space inside lines differs.'))
  it('upper and lower case', () => expect(explain('FUNCTION run() {')).toContain('Only upper and lower case differs.'))
  it('line numbers of read', () => expect(explain('3: function run() {\n4: \tconst text')).toContain('It has the line numbers that read shows'))
  it('escape sequences written out', () => expect(explain('import a\\n\\nfunction')).toContain('escape sequences'))
  it('an edit that was made before', () => expect(explain('function walk() {', 'function run() {')).toBe('old_string was not found in a.ts. Nothing was changed. new_string stands there already, at line 3: the edit may have been made before. The nearest region:\n1: import a\n2: \n3: function run() {\n4: \tconst text = “hi”\n5: \treturn text  '))
  it('where lines begin to differ', () => expect(explain('import a\n\nfunction run() {\n\tconst other = 1')).toContain(`It differs from line 4 on. The nearest region:\n${region}`))
  it('the most alike line', () => expect(explain('function runs(now) {')).toContain('Line 3 is the most alike. The nearest region:\n1: import a'))
  it('nothing alike', () => expect(explain('zzzzqqqq')).toBe('old_string was not found in a.ts. Nothing was changed. No part of the file resembles it. Read the file again before the next edit.'))
  it('within bounds for a long old_string and a long line', () => {
    const text = `${'x'.repeat(5_000)}\n${Array.from({ length: 500 }, (_, index) => `line number ${index}`).join('\n')}`
    const { message } = failure(text, text.replace('number 400', 'no 400')) as FileError
    expect(message.length).toBeLessThan(3_000)
    expect(message).toContain('It differs from line 402 on.')
  })
})
