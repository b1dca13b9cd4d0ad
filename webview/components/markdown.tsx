import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { linkTarget, locationFrom } from '../text/file-path.ts'
import { createMarkdownReader } from '../text/markdown-blocks.ts'
import { morphChildren } from '../text/morph.ts'
import { useApp } from './app-context.ts'
import { CodeBlock } from './code-block.tsx'

/** A message as formatted text. Blocks that stand are not touched again while more text comes in. */
export function Markdown({ text, isStreaming }: { readonly text: string; readonly isStreaming: boolean }) {
  const { actions } = useApp()
  const reader = useMemo(createMarkdownReader, [])
  const blocks = reader.read(text)
  const follow = (event: Event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-target]') : null
    const href = link?.dataset['target']
    if (href === undefined) return
    event.preventDefault()
    const target = link?.tagName === 'A' ? linkTarget(href) : { location: locationFrom(href) }
    if (target === null) return
    if ('url' in target) actions.openLink(target.url)
    else actions.openLocation(target.location)
  }
  return (
    <div
      class={isStreaming ? 'markdown is-streaming' : 'markdown'}
      onClick={follow}
      onKeyDown={(event) => {
        if (event.key === 'Enter') follow(event)
      }}
    >
      {blocks.map((block, index) =>
        block.kind === 'code' ? (
          <CodeBlock key={block.key} text={block.text} language={block.language} isComplete={block.isClosed || !isStreaming || index < blocks.length - 1} />
        ) : (
          <HtmlBlock key={block.key} html={block.html} />
        ),
      )}
    </div>
  )
}

function HtmlBlock({ html }: { readonly html: string }) {
  const { safeHtml } = useApp()
  const element = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (element.current !== null) morphChildren(element.current, safeHtml(html))
  }, [html])
  return <div class="markdown-block" ref={element} />
}
