import * as vscode from 'vscode'
import type { LogViews } from '../../capabilities/log-view.ts'

/** Logs as channels of the editor's output panel. */
export const vscodeLogViews: LogViews = {
  open(title) {
    const channel = vscode.window.createOutputChannel(title, 'log')
    return {
      replace: (text) => channel.replace(text),
      append: (text) => channel.append(text),
      reveal: () => channel.show(true),
      dispose: () => channel.dispose(),
    }
  },
}
