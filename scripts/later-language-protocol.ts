/** The same where no editor is: the protocol alone. */
export { CancellationTokenSource, createProtocolConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-languageserver-protocol/node'
