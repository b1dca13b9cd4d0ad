// A stand-in for the module `vscode`: whatever is asked for is there and does nothing, and what is registered is noted.
// It costs both sides of a comparison the same, and next to nothing.
const { basename, join } = require('node:path')
const { pathToFileURL } = require('node:url')

class Uri {
  constructor(path) {
    Object.assign(this, { scheme: 'file', authority: '', path, query: '', fragment: '', fsPath: path })
  }
  static file(path) {
    return new Uri(path)
  }
  static parse(text) {
    return new Uri(decodeURIComponent(new URL(text).pathname))
  }
  static joinPath(uri, ...parts) {
    return new Uri(join(uri.path, ...parts))
  }
  with({ path = this.path }) {
    return new Uri(path)
  }
  toString() {
    return pathToFileURL(this.path).href
  }
}

class Disposable {
  constructor(dispose) {
    this.dispose = dispose
  }
  static from(...parts) {
    return new Disposable(() => parts.forEach((part) => part.dispose()))
  }
}

class EventEmitter {
  #listeners = new Set()
  event = (listener) => {
    this.#listeners.add(listener)
    return new Disposable(() => this.#listeners.delete(listener))
  }
  fire(value) {
    for (const listener of this.#listeners) listener(value)
  }
  dispose() {
    this.#listeners.clear()
  }
}

const settings = { get: (_key, fallback) => fallback, inspect: () => undefined, has: () => false, update: async () => {} }

/** An editor without a folder, a document, a setting or another extension. */
const known = {
  version: '1.106.0',
  Uri,
  Disposable,
  EventEmitter,
  'env.appName': 'Bench',
  'env.appRoot': __dirname,
  'env.language': 'en',
  'env.remoteName': undefined,
  'extensions.all': [],
  'extensions.getExtension': () => undefined,
  'l10n.bundle': undefined,
  'l10n.t': (text) => (typeof text === 'string' ? text : text.message),
  'languages.getDiagnostics': () => [],
  'lm.selectChatModels': async () => [],
  'lm.tools': [],
  'window.activeTextEditor': undefined,
  // What went wrong ends the run, with what was said of it.
  'window.createOutputChannel().error': (...words) => console.error(...words),
  'window.showErrorMessage': (message) => {
    throw new Error(message)
  },
  'window.createTreeView().visible': false,
  'window.activeNotebookEditor': undefined,
  'window.activeTerminal': undefined,
  'window.tabGroups.all': [],
  'window.terminals': [],
  'window.visibleNotebookEditors': [],
  'window.visibleTextEditors': [],
  'workspace.getConfiguration': () => settings,
  'workspace.isTrusted': true,
  'workspace.notebookDocuments': [],
  'workspace.textDocuments': [],
  'workspace.workspaceFolders': undefined,
}

/** The module, the calls that were made of it, and who draws which view. */
exports.createFakeVscode = () => {
  const calls = []
  const views = new Map()
  const stub = (path) => {
    const parts = new Map()
    return new Proxy(function () {}, {
      get(target, key) {
        if (parts.has(key)) return parts.get(key)
        if (key === 'name') return path
        if (key in target || typeof key === 'symbol') return target[key]
        const name = path === '' ? key : `${path}.${key}`
        if (name in known) return known[name]
        // Nothing here is a promise.
        if (key === 'then') return undefined
        parts.set(key, stub(name))
        return parts.get(key)
      },
      set(_target, key, value) {
        parts.set(key, value)
        return true
      },
      apply(_target, _self, args) {
        calls.push({ name: path, id: typeof args[0] === 'string' ? args[0] : '' })
        if (path === 'window.registerWebviewViewProvider') views.set(args[0], args[1])
        return stub(`${path}()`)
      },
    })
  }
  // A bundle copies the module's own parts and keeps its prototype, so the parts are made there, when they are asked for.
  return { vscode: Object.create(stub('')), calls, views }
}

/** What the editor gives to an extension in `folder` that keeps its data in `storage`. */
exports.contextOf = (folder, storage) => {
  const memento = { get: (_key, fallback) => fallback, update: async () => {}, keys: () => [], setKeysForSync: () => {} }
  return {
    subscriptions: [],
    extension: { id: 'bosun.bosun', packageJSON: {} },
    extensionMode: 1,
    extensionPath: folder,
    extensionUri: Uri.file(folder),
    globalState: memento,
    globalStorageUri: Uri.file(join(storage, 'global')),
    logUri: Uri.file(join(storage, 'log')),
    secrets: { get: async () => undefined, store: async () => {}, delete: async () => {}, keys: async () => [], onDidChange: new EventEmitter().event },
    storageUri: Uri.file(join(storage, basename(folder))),
    workspaceState: memento,
  }
}

/** A view that a page in it is ready to be drawn; `onMessage` hears what its host says. */
exports.viewOf = (onMessage) => {
  const received = new EventEmitter()
  const never = () => new Disposable(() => {})
  return {
    visible: true,
    onDidChangeVisibility: never,
    onDidDispose: never,
    webview: {
      cspSource: 'bench:',
      asWebviewUri: (uri) => uri,
      onDidReceiveMessage: received.event,
      postMessage: async (message) => {
        onMessage(message)
        return true
      },
    },
    say: (message) => received.fire(message),
  }
}
