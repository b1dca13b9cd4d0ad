import { useComputed } from '@preact/signals'
import type { ComponentChildren, FunctionComponent } from 'preact'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { PluginFrameView, PluginSlot } from '../../extension/protocol/plugin-frame.ts'
import { isOfHost } from '../is-of-host.ts'
import { t } from '../l10n.ts'
import { frameDocument } from '../plugins/frame-program.ts'
import { onThemeChanged, pageNonce, readTheme } from '../plugins/frame-theme.ts'
import { PING_MS, PluginDesk, type Desk } from '../plugins/plugin-desk.ts'
import pluginStyles from '../styles/plugins.css' with { type: 'text' }
import { useApp, type App } from './app-context.ts'
import { Icon } from './icon.tsx'
import { IconButton } from './icon-button.tsx'

export interface PluginFramesProps {
  readonly slot: PluginSlot
}

/** CSS pixels; what is higher scrolls inside its frame. */
const maxHeights: Readonly<Record<PluginSlot, number>> = { panel: 280, header: 60, composer: 80, row: 240 }

/** What plugins of a model draw in a slot. All slots share one desk, made with the first frame. */
export function createPluginFrames(): FunctionComponent<PluginFramesProps> {
  let desk: PluginDesk | null = null
  return ({ slot }) => {
    const app = useApp()
    desk ??= openDesk(app)
    const shared = desk
    return (
      <>
        {app.store.state.plugins.value.map((view, index, all) => {
          if (!view.slots.includes(slot)) return null
          const isNext = all.slice(0, index).some(({ pluginId }) => pluginId === view.pluginId)
          return slot === 'panel' ? <Panel key={view.id} view={view} isNext={isNext} desk={shared} /> : <Place key={view.id} view={view} isNext={isNext} slot={slot} desk={shared} />
        })}
      </>
    )
  }
}

function openDesk({ actions, composer }: App): PluginDesk {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(pluginStyles)
  document.adoptedStyleSheets.push(sheet)
  const onLeave = (id: string) => {
    const line = document.getElementById(lineIdOf(id))
    if (line === null) composer.requestFocus()
    else line.focus()
  }
  const desk = new PluginDesk({ post: actions.plugin, now: () => performance.now(), theme: readTheme, nonce: pageNonce(), onLeave })
  window.addEventListener('message', (event) => desk.hear(event, isOfHost(event)))
  onThemeChanged(() => desk.themeChanged())
  window.setInterval(() => desk.ping(), PING_MS)
  return desk
}

const lineIdOf = (id: string) => `plugin-line-${id}`

interface Drawable {
  readonly view: PluginFrameView
  /** It is drawn out of sight: an older version stands until this one is known to be good. */
  readonly isNext: boolean
  readonly desk: PluginDesk
}

/** A panel with its name, which folds and can be stopped. Folded, it goes on. */
function Panel({ view, isNext, desk }: Drawable) {
  const { store, ui, actions } = useApp()
  const foldId = `plugin:${view.pluginId}`
  const isOpen = ui.isOpen(foldId) ?? true
  return (
    <section class="dock plugin" role="region" aria-label={view.name} hidden={isNext}>
      <div class="plugin-head">
        <button type="button" class="dock-line" id={lineIdOf(view.id)} aria-expanded={isOpen} title={t('A plugin that the model wrote for this session: {0}', view.pluginId)} onClick={() => ui.setOpen(foldId, !isOpen)}>
          <Icon name={isOpen ? 'chevron-down' : 'chevron-right'} />
          <span class="plugin-name" dir="auto">
            {view.name}
          </span>
        </button>
        {store.state.session.value?.access === 'write' && <IconButton icon="debug-stop" label={t('Stop the plugin {0}', view.name)} onPress={() => actions.plugin({ type: 'plugin-stop', pluginId: view.pluginId })} />}
      </div>
      <div class="plugin-body" hidden={!isOpen}>
        <Drawn view={view} slot="panel" desk={desk} />
      </div>
    </section>
  )
}

const Place = ({ view, isNext, slot, desk }: Drawable & { readonly slot: PluginSlot }) => (
  <div class={`plugin-slot plugin-slot-${slot}`} hidden={isNext}>
    <Drawn view={view} slot={slot} desk={desk} />
  </div>
)

function Drawn({ view, slot, desk: shared }: { readonly view: PluginFrameView; readonly slot: PluginSlot; readonly desk: PluginDesk }) {
  const { actions } = useApp()
  // Drawn again, it begins anew.
  const desk = useMemo(() => shared.open(view, slot), [view.id, view.problem])
  if (view.problem === null) return <Frame view={view} slot={slot} desk={desk} />
  // Said once, in the first of its places.
  if (view.slots[0] !== slot) return null
  return (
    <Problem text={view.canDrawAgain === true ? t('{0} is not shown any more. {1}', view.name, view.problem) : t('{0} could not be drawn. {1}', view.name, view.problem)}>
      {view.canDrawAgain === true && (
        <button type="button" class="link" onClick={() => actions.plugin({ type: 'plugin-draw', frameId: view.id })}>
          {t('Show it again')}
        </button>
      )}
    </Problem>
  )
}

function Frame({ view, slot, desk }: { readonly view: PluginFrameView; readonly slot: PluginSlot; readonly desk: Desk }) {
  const element = useRef<HTMLIFrameElement>(null)
  const page = useMemo(() => frameDocument(pageNonce()), [])
  const height = useComputed(() => desk.height.value)
  useLayoutEffect(() => {
    if (element.current !== null) desk.join(element.current)
    return desk.leave
  }, [])
  const trouble = desk.trouble.value
  return (
    <>
      <iframe
        class={height.value === null ? 'plugin-frame is-empty' : 'plugin-frame'}
        ref={element}
        title={t('Plugin {0}', view.name)}
        sandbox="allow-scripts"
        srcdoc={page}
        {...(height.value === null ? { tabIndex: -1, 'aria-hidden': true } : {})}
        height={Math.min(height.value ?? 0, maxHeights[slot])}
      />
      {trouble !== null && <Problem text={trouble} />}
    </>
  )
}

const Problem = ({ text, children }: { readonly text: string; readonly children?: ComponentChildren }) => (
  <p class="plugin-problem" role="status">
    <Icon name="warning" />
    <span dir="auto">
      {text} {children}
    </span>
  </p>
)
