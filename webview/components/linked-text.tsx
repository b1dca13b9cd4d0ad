import { linkedParts } from '../text/linked-text.ts'
import { useApp } from './app-context.ts'
import { FileLink } from './file-link.tsx'

/** Words of a person or a model, with what can be opened in them. */
export function LinkedText({ text }: { readonly text: string }) {
  const { actions } = useApp()
  return (
    <>
      {linkedParts(text).map((part, index) => {
        switch (part.kind) {
          case 'file':
            return <FileLink key={index} location={part.location} text={part.text} onOpen={actions.openLocation} />
          case 'url':
            return (
              <button key={index} type="button" class="link" title={part.url} onClick={() => actions.openLink(part.url)}>
                {part.text}
              </button>
            )
          case 'code':
            return <code key={index}>{part.text}</code>
          default:
            return part.text
        }
      })}
    </>
  )
}
