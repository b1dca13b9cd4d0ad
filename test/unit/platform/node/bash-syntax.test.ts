import { describe, expect, it } from 'vitest'
import type { ShellNode } from '../../../../extension/capabilities/shell-syntax.ts'
import { createBashSyntax } from '../../../../extension/platform/node/bash-syntax.ts'

const syntax = createBashSyntax()
const outline = (node: ShellNode): unknown => (node.children.length === 0 ? `${node.type} ${node.text}` : { [node.type]: node.children.map(outline) })

describe('the grammar of bash', () => {
  it('gives a command as a tree of plain data', async () => {
    const tree = await syntax.parseBash('cat "a b" | grep x > out')
    expect(tree && outline(tree)).toEqual({
      program: [
        {
          redirected_statement: [
            {
              pipeline: [
                { command: [{ command_name: ['word cat'] }, { string: ['string_content a b'] }] },
                { command: [{ command_name: ['word grep'] }, 'word x'] },
              ],
            },
            { file_redirect: ['word out'] },
          ],
        },
      ],
    })
  })

  it('gives nothing for what is no whole command', async () => {
    expect(await Promise.all(['echo "open', 'if true; then', 'ls )', `echo ${'x'.repeat(100_001)}`].map((text) => syntax.parseBash(text)))).toEqual([null, null, null, null])
  })

  it('takes an empty text', async () => expect(await syntax.parseBash('')).toEqual({ type: 'program', text: '', children: [] }))
})
