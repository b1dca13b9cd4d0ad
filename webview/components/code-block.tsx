import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../l10n.ts'
import { morphChildren } from '../text/morph.ts'
import { useApp } from './app-context.ts'
import { CopyButton } from './copy-button.tsx'

export interface CodeBlockProps {
  readonly text: string
  readonly language: string
  /** While it still grows it is plain; it gets its colours when it is whole, without changing its size. */
  readonly isComplete: boolean
}

/** Code of a message with its language and a copy button. */
export const CodeBlock = ({ text, language, isComplete }: CodeBlockProps) => (
  <div class="code-block">
    <div class="code-head">
      <span class="code-language">{language === '' ? t('text') : language}</span>
      <CopyButton text={() => text} label={t('Copy code')} />
    </div>
    <pre class="code-body" tabIndex={0} dir="ltr">
      <Code text={text} language={language} isComplete={isComplete} />
    </pre>
  </div>
)

/** Code in the colours of its language, once they are there. */
export function Code({ text, language, isComplete }: CodeBlockProps) {
  const { highlighter } = useApp()
  const element = useRef<HTMLElement>(null)
  const colored = useSignal<{ readonly text: string; readonly html: string } | null>(null)
  const known = isComplete ? highlighter.known(text, language) : undefined
  const html = known ?? (colored.value?.text === text ? colored.value.html : undefined)
  useEffect(() => {
    if (!isComplete || known !== undefined) return undefined
    let isWanted = true
    void highlighter.highlight(text, language).then((html) => {
      if (isWanted && html !== null) colored.value = { text, html }
    })
    return () => void (isWanted = false)
  }, [text, language, isComplete, known])
  useLayoutEffect(() => {
    if (element.current === null) return
    const wanted = document.createElement('code')
    if (html === undefined) wanted.textContent = text
    // Escaped by the highlighter, which makes no other tags than spans with a class.
    else wanted.innerHTML = html
    morphChildren(element.current, wanted)
  }, [text, html])
  return <code ref={element} />
}
