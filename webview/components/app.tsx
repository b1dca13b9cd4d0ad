import { useLayoutEffect, useRef } from 'preact/hooks'
import type { PluginSlot } from '../../extension/protocol/plugin-frame.ts'
import { t } from '../l10n.ts'
import { AppContext, useApp, type App } from './app-context.ts'
import { ChildBar } from './child-bar.tsx'
import { Composer, StopByEscape } from './composer.tsx'
import { Notices } from './docks/notices.tsx'
import { GoalDock } from './docks/goal-dock.tsx'
import { QueueDock } from './docks/queue-dock.tsx'
import { TasksDock } from './docks/tasks-dock.tsx'
import { WaitingDock } from './docks/waiting-dock.tsx'
import { ErrorBoundary } from './error-boundary.tsx'
import { Header } from './header.tsx'
import { later } from './later.tsx'
import { SessionList } from './session-list.tsx'
import { Transcript } from './transcript.tsx'
import { Welcome } from './welcome.tsx'

const RemindersDock = later(() => import('./docks/reminders-dock.tsx').then((dock) => dock.RemindersDock))
const RulesPage = later(() => import('./rules-page.tsx').then((page) => page.RulesPage))
const PluginFrames = later(() => import('./plugin-frames.tsx').then((frames) => frames.createPluginFrames()))

/** The whole chat. */
export const AppView = ({ app }: { readonly app: App }) => (
  <AppContext.Provider value={app}>
    <ErrorBoundary scope="view" onError={app.actions.reportError} onReload={app.actions.reloadView}>
      <Chat />
    </ErrorBoundary>
  </AppContext.Provider>
)

function Chat() {
  const { store, actions, width, isSessionListOpen } = useApp()
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (box.current === null) return undefined
    width.value = box.current.clientWidth
    const observer = new ResizeObserver(([change]) => {
      if (change !== undefined) width.value = change.contentRect.width
    })
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  const phase = store.phase.value
  return (
    <div class="chat" ref={box}>
      {phase === 'loading' && <Loading />}
      {phase === 'wrong-version' && (
        <div class="welcome" role="alert">
          <h2>{t('Bosun was updated')}</h2>
          <p>{t('This view is older than the extension. Reload it to go on; nothing is lost.')}</p>
          <button type="button" class="button-primary" onClick={actions.reloadView}>
            {t('Reload view')}
          </button>
        </div>
      )}
      {phase === 'ready' && (
        <>
          <Header />
          <ChildBar />
          <Plugins slot="header" />
          <main class="main">
            <Conversation />
            <Plugins slot="row" />
            <div class="bottom">
              <div class="bottom-quiet">
                <Notices />
                <Reminders />
                <QueueDock />
                <TasksDock />
                <Plugins slot="panel" />
              </div>
              <GoalDock />
              <WaitingDock />
              <StopByEscape />
              <Plugins slot="composer" />
              <Composer />
            </div>
            {isSessionListOpen.value && <SessionList />}
            {store.state.rules.value !== null && <RulesPage />}
          </main>
        </>
      )}
      <Announcer />
    </div>
  )
}

const Plugins = (props: { readonly slot: PluginSlot }) => (useApp().store.state.plugins.value.length > 0 ? <PluginFrames {...props} /> : null)

function Reminders() {
  const { items, problem } = useApp().store.state.reminders.value
  return items.length > 0 || problem !== null ? <RemindersDock /> : null
}

function Conversation() {
  const { store } = useApp()
  const session = store.state.session.value
  if (session === null || store.total.value === 0) return <Welcome />
  return <Transcript key={session.id} sessionId={session.id} />
}

/** A bar like the editor's own, so that a slow start looks like one. */
const Loading = () => <div class="loading" role="progressbar" aria-label={t('Loading')} />

const Announcer = () => (
  <div class="sr-only" role="status" aria-live="polite">
    {useApp().announcements.current.value}
  </div>
)
