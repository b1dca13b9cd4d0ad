/** What the model server answers, as data: one step is used up by each request it fits. */
export interface ModelScript {
  readonly steps: readonly ScriptStep[]
  /** Ids that `/v1/models` lists; a chat request for another one gets a 404. Absent: any model is served, `scripted` is listed. */
  readonly models?: readonly string[]
  /** The only key that is let in; absent: everybody is. */
  readonly apiKey?: string
}

export interface ScriptStep {
  /**
   * Which request the step is for: a regular expression on the text of the last message, or a function. Absent: any.
   * The first unused step that fits answers.
   */
  readonly when?: string | RegExp | ((request: ChatRequest) => boolean)
  readonly answer: Answer | ((request: ChatRequest) => Answer)
  /** The step is never used up. */
  readonly repeat?: boolean
}

export type Answer = StreamAnswer | ErrorAnswer | HangAnswer

export interface StreamAnswer {
  readonly parts?: readonly ScriptPart[]
  /** Absent: `tool_calls` when there was a call, else `stop`. Null: the stream ends without a finish reason. */
  readonly finish?: string | null
  /** Null: no usage chunk. */
  readonly usage?: ScriptUsage | null
  /** Before each chunk. */
  readonly chunkDelayMs?: number
  /** Characters of text, reasoning and arguments in one chunk. Default 11: an odd number that cuts names and JSON anywhere. */
  readonly chunkLength?: number
  /** False leaves the `[DONE]` line out. */
  readonly done?: boolean
}

export type ScriptPart =
  | { readonly text: string }
  /** With `signature` where the protocol signs: Anthropic's, OpenAI's encrypted content, Google's on the part after the thought. */
  | { readonly reasoning: string; readonly key?: 'reasoning_content' | 'reasoning'; readonly signature?: string }
  /** Thought that nobody may read; Anthropic only. */
  | { readonly redacted: string }
  /** The deltas of the calls are mixed when `interleaved`. */
  | { readonly toolCalls: readonly ScriptToolCall[]; readonly interleaved?: boolean }
  /** Sent as it is, such as `data: {broken\n\n`. */
  | { readonly raw: string }
  | { readonly waitMs: number }
  /** The socket is destroyed here. */
  | { readonly cut: true }

export interface ScriptToolCall {
  readonly name: string
  /** Text is sent as it is. In a string inside an object `{{match:REGEX}}` becomes the first group found in the last message. */
  readonly arguments: unknown
  /** Absent: made up. Null: left out, as careless providers do. */
  readonly id?: string | null
}

/** As on the wire: `prompt_tokens` holds the cached ones, `completion_tokens` the reasoning. */
export interface ScriptUsage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens?: number
  /** Of the prompt too; only Anthropic tells. */
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
}

export interface ErrorAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Text is sent as HTML, anything else as JSON. */
  readonly body: unknown
}

/** The server takes the request and says nothing, or nothing after the headers. */
export interface HangAnswer {
  readonly hang: 'before-headers' | 'after-headers'
}

/** A chat request as the server understood it. */
export interface ChatRequest {
  /** Counts from 0. */
  readonly index: number
  /** Characters of the body. */
  readonly length: number
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly json: Readonly<Record<string, unknown>>
}

export interface ChatMessage {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string; readonly arguments: string } }[]
  readonly tool_call_id?: string
}

/** The text of a message, its parts joined. */
export function textOf(message: ChatMessage | undefined): string {
  if (typeof message?.content === 'string') return message.content
  if (!Array.isArray(message?.content)) return ''
  return message.content.map((part: { readonly text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('')
}

/** Failures as providers word them. */
export const failures = {
  contextLength: {
    status: 400,
    body: {
      error: {
        message: "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens.",
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
      },
    },
  },
  wrongKey: {
    status: 401,
    body: { error: { message: 'Incorrect API key provided.', type: 'authentication_error', code: 'invalid_api_key' } },
  },
  noMoney: {
    status: 402,
    body: { error: { message: 'Insufficient Balance', type: 'unknown_error', code: 'invalid_request_error' } },
  },
  unknownModel: (model: string) => ({
    status: 404,
    body: { error: { message: `The model \`${model}\` does not exist.`, type: 'invalid_request_error', code: 'model_not_found' } },
  }),
  rateLimit: (retryAfter: string) => ({
    status: 429,
    headers: { 'retry-after': retryAfter },
    body: { error: { message: 'Rate limit reached.', type: 'requests', code: 'rate_limit_exceeded' } },
  }),
  server: { status: 500, body: { error: { message: 'The server had an error.', type: 'server_error' } } },
  serverHtml: { status: 502, body: '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>' },
} satisfies Record<string, ErrorAnswer | ((text: string) => ErrorAnswer)>
