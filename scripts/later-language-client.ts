/** What Bosun uses of the client of language servers, as a bundle of its own that the first configured server loads. */
export { CloseAction, ErrorAction, LanguageClient, State } from 'vscode-languageclient/node'
