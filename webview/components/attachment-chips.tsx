import { useEffect } from 'preact/hooks'
import type { AttachmentView } from '../../extension/protocol/view-state.ts'
import { t } from '../l10n.ts'
import { useApp } from './app-context.ts'
import { Icon } from './icon.tsx'
import { IconButton } from './icon-button.tsx'

/** What goes with the message, and what is on its way to it. */
export function AttachmentChips() {
  const { store, attaching } = useApp()
  const attached = store.state.composer.value.attachments ?? []
  const pending = attaching.pending.value
  if (attached.length === 0 && pending.length === 0) return null
  return (
    <ul class="attachments" aria-label={t('Attached')}>
      {attached.map((attachment) => (
        <AttachmentChip key={attachment.id} attachment={attachment} />
      ))}
      {pending.map(({ id, name }) => (
        <li key={id} class="attachment is-pending">
          <Icon name="loading" spin />
          <span class="attachment-name">{name === '' ? t('Image') : name}</span>
        </li>
      ))}
    </ul>
  )
}

function AttachmentChip({ attachment: { id, kind, label, detail, attachmentId } }: { readonly attachment: AttachmentView }) {
  const { store, actions } = useApp()
  const picture = attachmentId === undefined ? undefined : store.image(attachmentId).value?.uri
  useEffect(() => {
    if (attachmentId !== undefined && store.image(attachmentId).peek() === undefined) actions.needImage(attachmentId)
  }, [attachmentId])
  const name = label === '' ? t('Image') : label
  return (
    <li class="attachment" title={`${name}, ${detail}`}>
      {typeof picture === 'string' ? <img class="attachment-picture" src={picture} alt="" /> : <Icon name={kind === 'image' ? 'file-media' : 'selection'} />}
      <span class="attachment-name">{name}</span>
      <span class="attachment-detail">{detail}</span>
      <IconButton icon="close" label={t('Remove {0}', name)} onPress={() => actions.detach(id)} />
    </li>
  )
}
