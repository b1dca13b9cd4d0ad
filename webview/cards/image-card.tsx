import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { CardContent } from '../../extension/protocol/cards.ts'
import { useApp } from '../components/app-context.ts'
import { t } from '../l10n.ts'
import { formatBytes } from '../text/format.ts'

/** A picture as a thumbnail with its name, size and pixels; opens in the editor. */
export function ImageCard({ image }: { readonly image: Extract<CardContent, { type: 'image' }> }) {
  const { store, actions } = useApp()
  const held = store.image(image.attachmentId).value
  const pixels = useSignal('')
  const name = image.name ?? t('Image')
  useEffect(() => {
    if (store.image(image.attachmentId).peek() === undefined) actions.needImage(image.attachmentId)
  }, [image.attachmentId])
  if (held?.uri === null) return <div class="image-card is-gone">{t('{0} is no longer there.', name)}</div>
  const details = [image.mediaType.replace(/^image\//, '').toUpperCase(), held === undefined ? '' : formatBytes(held.byteLength), pixels.value].filter((part) => part !== '').join(' · ')
  return (
    <button type="button" class="image-card" data-card="image" title={t('Open {0} in the editor', name)} onClick={() => actions.openImage(image.attachmentId)}>
      {held !== undefined && (
        <img
          class="image-thumbnail"
          src={held.uri ?? ''}
          alt={name}
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => (pixels.value = `${naturalWidth} × ${naturalHeight}`)}
        />
      )}
      <span class="image-name">{name}</span>
      <span class="image-details">{details}</span>
    </button>
  )
}
