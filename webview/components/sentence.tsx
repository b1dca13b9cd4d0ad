import type { ComponentChild } from 'preact'
import { pieces } from '../l10n.ts'
import type { LinePart, Outcome } from '../text/tool-line.ts'
import { useApp } from './app-context.ts'
import { FileLink } from './file-link.tsx'

/** A translated sentence with nodes in its places. */
const Sentence = ({ text, parts }: { readonly text: string; readonly parts: readonly ComponentChild[] }) => (
  <>{pieces(text).map((piece) => (typeof piece === 'number' ? parts[piece] : piece))}</>
)

/** A line's sentence with its files as links and its code as code. */
export const LineSentence = ({ text, parts }: { readonly text: string; readonly parts: readonly LinePart[] }) => (
  <Sentence text={text} parts={parts.map((part) => <Part part={part} />)} />
)

function Part({ part }: { readonly part: LinePart }) {
  const { actions } = useApp()
  switch (part.kind) {
    case 'file':
      return <FileLink location={part.location} text={part.text} onOpen={actions.openLocation} />
    case 'code':
      return (
        <code class="line-code" title={part.text} dir="ltr">
          {part.text}
        </code>
      )
    default:
      return <bdi>{part.text}</bdi>
  }
}

export const OutcomeText = ({ outcome }: { readonly outcome: Outcome }) => <span class={`outcome outcome-${outcome.tone}`}>{outcome.text}</span>
