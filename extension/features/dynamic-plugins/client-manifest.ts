import type { ClientSlot } from './service.ts'

/** Where a client half draws, for whoever writes one. */
export const slotFacts: Readonly<Record<ClientSlot, string>> = {
  panel: 'A panel of its own below the tasks, with the name of the package over it; it folds and can be stopped. Up to 280 pixels high, then it scrolls.',
  header: 'A strip under the header of the chat, up to 60 pixels high.',
  composer: 'A strip over the message box, up to 80 pixels high.',
  row: 'The last row of the talk, up to 240 pixels high.',
}

/** What the body of a client half finds. Source: `webview/plugins/frame-program.ts`, which gives it. */
export const clientBuiltIns: readonly { readonly name: string; readonly signature: string; readonly description: string }[] = [
  { name: 'slot', signature: 'slot(name: string, render: () => Node): void', description: 'Draw in a slot. render gives a node of ui.h, a text, or a list of them; null draws nothing. It is called again after each listener of yours, so keep what changes in variables of the body.' },
  { name: 'ui.h', signature: 'h(tag: string | function, props?: object, ...children): Node', description: 'An element. Listeners are props such as onclick; class, style (an object or CSS text), value, checked, disabled and key work as one expects, and text is never markup. A function is called with props and children.' },
  { name: 'ui.redraw', signature: 'redraw(): void', description: 'Draw again, where something changed outside of a listener.' },
  { name: 'ui.theme', signature: 'theme(): string', description: 'Classes of the theme, such as vscode-dark, vscode-light or vscode-high-contrast.' },
  { name: 'host.call', signature: 'call(method: string, payload?: Json): Promise<Json>', description: 'Call a method of the host half. It is refused with an error that has a code: plugin-not-running, stale-run, method-not-found, handler-error, payload-too-large, too-many-calls.' },
  { name: 'host.on', signature: 'on(name: string, fn: (payload) => void): () => void', description: 'Hear harness.emit(name, payload). What it gives takes the listener away.' },
  { name: 'styles', signature: 'styles(css: string): void', description: 'Rules for the frame. Buttons, fields, links and tables look like those of the editor already.' },
]

/** Variables of the theme that a client half may use in its styles, as `var(<name>)`. */
export const themeVariables: readonly { readonly name: string; readonly description: string }[] = [
  { name: '--vscode-foreground', description: 'Text.' },
  { name: '--vscode-descriptionForeground', description: 'Text that explains.' },
  { name: '--vscode-errorForeground', description: 'Text of an error.' },
  { name: '--vscode-disabledForeground', description: 'Text of what cannot be used.' },
  { name: '--vscode-icon-foreground', description: 'Icons.' },
  { name: '--vscode-focusBorder', description: 'The border of what has the focus.' },
  { name: '--vscode-contrastBorder', description: 'Borders where the theme has high contrast.' },
  { name: '--vscode-textLink-foreground', description: 'Links.' },
  { name: '--vscode-editor-background', description: 'The background of editors.' },
  { name: '--vscode-editor-foreground', description: 'Text in editors.' },
  { name: '--vscode-editorWidget-background', description: 'The background of boxes over an editor.' },
  { name: '--vscode-editorWidget-border', description: 'The border of those.' },
  { name: '--vscode-widget-border', description: 'Borders of boxes.' },
  { name: '--vscode-input-background', description: 'The background of fields.' },
  { name: '--vscode-input-foreground', description: 'Text in fields.' },
  { name: '--vscode-input-border', description: 'The border of fields.' },
  { name: '--vscode-button-background', description: 'The background of the one thing to do next.' },
  { name: '--vscode-button-foreground', description: 'Its text.' },
  { name: '--vscode-button-hoverBackground', description: 'Its background under the pointer.' },
  { name: '--vscode-button-secondaryBackground', description: 'The background of other buttons.' },
  { name: '--vscode-button-secondaryForeground', description: 'Their text.' },
  { name: '--vscode-list-hoverBackground', description: 'A row under the pointer.' },
  { name: '--vscode-list-activeSelectionBackground', description: 'The row that is chosen.' },
  { name: '--vscode-list-activeSelectionForeground', description: 'Its text.' },
  { name: '--vscode-badge-background', description: 'The background of counts.' },
  { name: '--vscode-badge-foreground', description: 'Counts.' },
  { name: '--vscode-progressBar-background', description: 'Progress.' },
  { name: '--vscode-charts-red', description: 'Red of charts.' },
  { name: '--vscode-charts-blue', description: 'Blue of charts.' },
  { name: '--vscode-charts-green', description: 'Green of charts.' },
  { name: '--vscode-charts-yellow', description: 'Yellow of charts.' },
  { name: '--vscode-font-family', description: 'The font of words.' },
  { name: '--vscode-font-size', description: 'Its size.' },
  { name: '--vscode-editor-font-family', description: 'The font of code.' },
  { name: '--vscode-editor-font-size', description: 'Its size.' },
]
