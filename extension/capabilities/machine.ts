/** A value that goes with a piece of work through all it awaits and starts, whatever else runs meanwhile. */
export interface Carrier<T> {
  run<Result>(value: T, work: () => Result): Result
  /** Undefined outside of any work. */
  current(): T | undefined
}

/** Facts about the machine that tools and the prompt need; fixed for the life of the host. */
export interface Machine {
  readonly platform: 'linux' | 'darwin' | 'win32'
  readonly arch: string
  readonly homeFolder: string
  /** Bosun's own folder of the person, `~/.bosun`, whether it exists or not. */
  readonly userFolder: string
  readonly tempFolder: string
  /** The program and how it is called, such as `/bin/bash`; null where none was found. */
  readonly bash: string | null
  readonly pwsh: string | null
  /** Fresh random identifier, 128 bits, lower-case hex. */
  randomId(): string
  sha256(bytes: Uint8Array | string): string
  createCarrier<T>(): Carrier<T>
}
