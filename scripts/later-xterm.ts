/** The screen of a terminal, as a bundle of its own that the first terminal loads. */
export { Terminal } from '@xterm/headless'
