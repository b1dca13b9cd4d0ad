import { createRequire } from 'node:module'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModelAdapter } from '../../extension/core/model/contract.ts'
import { noEditorFacts } from '../../extension/capabilities/editor-facts.ts'
import { compose, type Application, type Capabilities } from '../../extension/compose.ts'
import { createPolicyAttention } from '../../extension/platform/node/attention.ts'
import { createBashSyntax } from '../../extension/platform/node/bash-syntax.ts'
import { NodeBlobStore } from '../../extension/platform/node/blob-store.ts'
import { createChangeWatch } from '../../extension/platform/node/change-watch.ts'
import { createDirectRunner } from '../../extension/platform/node/direct-runner.ts'
import { createDirectTerminals } from '../../extension/platform/node/direct-terminals.ts'
import { createQuickJsRuntime } from '../../extension/platform/node/quickjs/quickjs-runtime.ts'
import { createPictureScaler } from '../../extension/platform/node/picture-scaler.ts'
import { createDocumentText } from '../../extension/platform/node/document-text.ts'
import { NodeEventStore } from '../../extension/platform/node/event-store.ts'
import { NodeFileSystem } from '../../extension/platform/node/file-system.ts'
import { createNodeMachine } from '../../extension/platform/node/machine.ts'
import { createMcpConnector } from '../../extension/platform/node/mcp/connector.ts'
import { createRipgrepSearch } from '../../extension/platform/node/ripgrep-search.ts'
import { createSearchIndexHost } from '../../extension/platform/node/search-index/index-host.ts'
import { createNodeWebPages } from '../../extension/platform/node/web-pages.ts'
import { createPageTextWorker } from '../../extension/platform/node/page-text-worker.ts'
import { createFolderWorkspace } from '../../extension/platform/node/workspace.ts'
import { NodeWorktreeStore } from '../../extension/platform/node/worktree-store.ts'
import { createXtermScreen } from '../../extension/platform/node/xterm-screen.ts'
import { memorySecrets } from './memory-secrets.ts'
import { memorySettings, type MemorySettings, type SettingValues } from './memory-settings.ts'
import { createRecordingLogger, type RecordingLogger } from './quiet-logger.ts'
import { realClock } from './real-clock.ts'

export interface WholeApplication extends Application {
  /** The workspace: a fresh folder, links followed. */
  readonly folder: string
  readonly settings: MemorySettings
  readonly logger: RecordingLogger
  /** Stop it and build it anew over the same disk, as after a reload of the window. */
  restart(): Promise<Application>
}

/** The composed application over this machine's disk and programs, in a folder of its own, or over `home` with its folder `work`, which stays; settings and secrets are in memory. */
export async function wholeApplication(options: { readonly settings?: SettingValues; readonly secrets?: Readonly<Record<string, string>>; readonly adapters?: readonly ModelAdapter[]; readonly home?: string; readonly alter?: (world: Capabilities) => Capabilities } = {}): Promise<WholeApplication> {
  const home = options.home ?? (await realpath(await mkdtemp(join(tmpdir(), 'bosun-whole-'))))
  const folder = await realpath(options.home === undefined ? await mkdtemp(join(home, 'work-')) : join(home, 'work'))
  // A model that plays a script is asked what the script says, unless titles are what is tested.
  const settings = memorySettings({ 'titles.enabled': false, ...options.settings })
  const logger = createRecordingLogger()
  const processes = createDirectRunner()
  const terminals = createDirectTerminals()
  const workspace = createFolderWorkspace(folder)
  const root = join(home, 'sessions')
  // The folder for temporary files is elsewhere, as it is for a person's workspace, and nothing of this machine's person is read.
  const machine = { ...(await createNodeMachine()), tempFolder: join(home, 'temp'), homeFolder: home, userFolder: join(home, '.bosun') }
  const search = createRipgrepSearch({ processes })
  const codeRuntime = createQuickJsRuntime({
    entry: new URL('../../extension/platform/node/quickjs/isolate-main.ts', import.meta.url),
    wasm: createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-release-sync/wasm'),
  })
  const world: Capabilities = {
    attention: createPolicyAttention({ choose: () => null, logger }),
    blobs: new NodeBlobStore({ root }),
    // The pauses that let a person follow the tour are left out.
    clock: { ...realClock, schedule: (delayMs, fire) => realClock.schedule(delayMs < 50 ? 0 : delayMs, fire) },
    codeRuntime,
    documents: createDocumentText({ entry: new URL('../../extension/platform/node/pdf-text-main.ts', import.meta.url) }),
    pictures: createPictureScaler({ entry: new URL('../../extension/platform/node/scale-picture-main.ts', import.meta.url) }),
    editorFacts: noEditorFacts,
    languages: null,
    events: new NodeEventStore({ root }),
    files: new NodeFileSystem({ folders: () => workspace.folders() }),
    http: { fetch },
    logger,
    machine,
    mcp: createMcpConnector({ processes, http: { fetch }, clock: realClock }),
    processes,
    search,
    searchIndex: createSearchIndexHost({ entry: new URL('../../extension/platform/node/search-index/index-main.ts', import.meta.url), folder: join(home, 'index'), isKeptUp: false, logger }),
    changeWatch: createChangeWatch({ search }),
    secrets: memorySecrets(options.secrets),
    settings,
    shellSyntax: createBashSyntax(),
    webPages: createNodeWebPages({ textWorker: createPageTextWorker({ entry: new URL('../../extension/platform/node/page-text-main.ts', import.meta.url) }) }),
    terminals,
    createScreen: createXtermScreen,
    workspace,
    worktrees: new NodeWorktreeStore({ folder: join(home, 'worktrees'), logger }),
  }
  const altered = options.alter?.(world) ?? world
  const more = { ...(options.adapters && { adapters: options.adapters }) }
  let application = compose(altered, more)
  return {
    ...application,
    folder,
    settings,
    logger,
    async restart() {
      await application.dispose()
      application = compose(altered, more)
      return application
    },
    async dispose() {
      await application.dispose()
      await processes.dispose()
      await terminals.dispose()
      await codeRuntime.dispose()
      if (options.home === undefined) await rm(home, { recursive: true, force: true })
    },
  }
}
