import { fitBytes } from '../../base/text.ts'
import type { TextBlock, UserSource } from '../../core/log/message.ts'
import { noticeSummary } from '../../core/log/notice.ts'

const REFERENCES_PLUGIN = 'references'

interface Facts {
  /** As the person wrote it. */
  readonly name: string
  readonly text: string
  /** UTF-8 bytes of `text` that go along. */
  readonly maxBytes: number
  /** How to get at what was cut, as a sentence. */
  readonly more: string
  /** The line that the person sees over it. */
  readonly summary: string
  readonly source?: UserSource
}

/** What a reference stands for, as the model reads it, with a note of what was cut. */
export function referenceBlock({ name, text, maxBytes, more, summary, source }: Facts): TextBlock {
  const { text: kept, omittedBytes } = fitBytes(text.toWellFormed(), maxBytes)
  const note = omittedBytes === 0 ? '' : `\n[${omittedBytes} further bytes were left out. ${more}]`
  // What is quoted cannot end the frame it stands in.
  const body = kept.replaceAll('</reference', '<\\/reference')
  return {
    type: 'text',
    text: `<reference name=${JSON.stringify(name)}>\n${body}${note}\n</reference>`,
    source: source ?? { kind: 'plugin', plugin: REFERENCES_PLUGIN, form: 'notice', summary: noticeSummary(summary) },
  }
}
