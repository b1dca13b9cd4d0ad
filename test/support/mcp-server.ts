import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { ElicitResultSchema, type ElicitRequestFormParams, UrlElicitationRequiredError } from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'
import { imageBytes } from './image-bytes.ts'

/** A server over the protocol's own library, with a tool for each thing that Bosun has to do with what comes back. */
export function createTestServer({ name = 'demo' }: { readonly name?: string } = {}): McpServer {
  const server = new McpServer({ name, version: '1.2.3' }, { capabilities: { logging: {} }, instructions: 'Use echo to repeat.' })
  server.registerTool('echo', { title: 'Repeat', description: 'Repeat a text.', inputSchema: { text: z.string().describe('What to repeat.') } }, ({ text }) => ({ content: [{ type: 'text', text: `echo: ${text}` }] }))
  server.registerTool('look', { description: 'Only reads.', inputSchema: {}, annotations: { readOnlyHint: true } }, () => ({ content: [{ type: 'text', text: 'seen' }] }))
  server.registerTool('sum', { description: 'Add.', inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() } }, ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }], structuredContent: { sum: a + b } }))
  server.registerTool('fail', { description: 'Fails.', inputSchema: {} }, () => ({ content: [{ type: 'text', text: 'the disk is full' }], isError: true }))
  server.registerTool('picture', { description: 'A picture.', inputSchema: {} }, () => ({ content: [{ type: 'text', text: 'here' }, { type: 'image', data: Buffer.from(imageBytes('png', 4, 4)).toString('base64'), mimeType: 'image/png' }] }))
  server.registerTool('pictures', { description: 'A picture and something that is none.', inputSchema: {} }, () => ({ content: [Buffer.from(imageBytes('png', 4, 4)), Buffer.from('no picture')].map((bytes) => ({ type: 'image', data: bytes.toString('base64'), mimeType: 'image/png' })) }))
  server.registerTool('mixed', { description: 'Other content.', inputSchema: {} }, () => ({
    content: [
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      { type: 'resource', resource: { uri: 'demo://inner', text: 'inner words', mimeType: 'text/plain' } },
      { type: 'resource_link', uri: 'demo://far', name: 'far' },
    ],
  }))
  server.registerTool('long', { description: 'Much text.', inputSchema: {} }, () => ({ content: [{ type: 'text', text: 'word '.repeat(40_000) }] }))
  server.registerTool('env', { description: 'The environment.', inputSchema: {} }, () => ({ content: [{ type: 'text', text: JSON.stringify(process.env) }] }))
  server.registerTool('crash', { description: 'Ends the program.', inputSchema: {} }, () => process.exit(3))
  server.registerTool('hang', { description: 'Never answers.', inputSchema: {} }, () => new Promise(() => {}))
  server.registerTool('hold', { description: 'Says that it has begun, and never answers.', inputSchema: {} }, async (_args, { sendNotification, _meta }) => {
    await sendNotification({ method: 'notifications/progress', params: { progressToken: _meta?.progressToken ?? '', progress: 1 } })
    return await new Promise(() => {})
  })
  server.registerTool('steps', { description: 'Reports progress.', inputSchema: {} }, async (_args, { sendNotification, _meta }) => {
    const token = _meta?.progressToken
    if (token !== undefined) await sendNotification({ method: 'notifications/progress', params: { progressToken: token, progress: 1, total: 2, message: 'half way' } })
    await new Promise((resolve) => setTimeout(resolve, 50))
    return { content: [{ type: 'text', text: 'done' }] }
  })
  server.registerTool('ask', { description: 'Asks the person.', inputSchema: {} }, async () => {
    const answer = await server.server.elicitInput({ message: 'Who are you?', requestedSchema: { type: 'object', properties: { name: { type: 'string', title: 'Name' }, age: { type: 'integer' }, colour: { type: 'string', enum: ['red', 'blue'] } }, required: ['name'] } })
    return { content: [{ type: 'text', text: JSON.stringify(answer) }] }
  })
  const all: ElicitRequestFormParams['requestedSchema']['properties'] = {
    name: { type: 'string', title: 'Name', minLength: 2, maxLength: 5 },
    mail: { type: 'string', format: 'email' },
    day: { type: 'string', format: 'date' },
    age: { type: 'integer', minimum: 18, maximum: 99 },
    share: { type: 'number' },
    agreed: { type: 'boolean' },
    colour: { type: 'string', enum: ['red', 'blue'], default: 'blue' },
    size: { type: 'string', oneOf: [{ const: 's', title: 'Small' }, { const: 'l', title: 'Large' }] },
    tags: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['a', 'b', 'c'] } },
  }
  const elicit = async (params: ElicitRequestFormParams) => ({ content: [{ type: 'text' as const, text: JSON.stringify(await server.server.request({ method: 'elicitation/create', params }, ElicitResultSchema)) }] })
  server.registerTool('ask-all', { description: 'Asks for every kind of value.', inputSchema: {} }, () => elicit({ message: 'All of it.', requestedSchema: { type: 'object', properties: all, required: ['name'] } }))
  server.registerTool('ask-consent', { description: 'Asks for no value.', inputSchema: {} }, () => elicit({ message: 'Delete it?', requestedSchema: { type: 'object', properties: {} } }))
  server.registerTool('ask-named', { description: 'Asks, and says for which call.', inputSchema: {} }, (_args, { _meta }) => elicit({ message: 'Named.', requestedSchema: { type: 'object', properties: {} }, ...(_meta?.progressToken !== undefined && { _meta: { progressToken: _meta.progressToken } }) }))
  server.registerTool('ask-later', { description: 'Asks twice once it has answered.', inputSchema: {} }, () => {
    setTimeout(() => void Promise.all([1, 2].map(() => elicit({ message: 'By myself.', requestedSchema: { type: 'object', properties: {} } }))).then((answers) => server.server.sendLoggingMessage({ level: 'info', data: `got ${answers.map(({ content }) => content[0]?.text).join()}` })), 100)
    return { content: [{ type: 'text', text: 'later' }] }
  })
  server.registerTool('ask-many', { description: 'Asks for more than fits.', inputSchema: {} }, () => elicit({ message: 'Much.', requestedSchema: { type: 'object', properties: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`v${at}`, { type: 'string' }])) } }))
  server.registerTool('ask-choices', { description: 'Has more choices than fit.', inputSchema: {} }, () => elicit({ message: 'Which?', requestedSchema: { type: 'object', properties: { one: { type: 'string', enum: Array.from({ length: 51 }, (_, at) => `c${at}`) } } } }))
  server.registerTool('ask-die', { description: 'Asks, and ends when somebody is asked.', inputSchema: {} }, () => {
    setTimeout(() => process.exit(4), 300)
    return elicit({ message: 'Wait.', requestedSchema: { type: 'object', properties: { word: { type: 'string' } } } })
  })
  const consent = { method: 'elicitation/create' as const, params: { message: 'Quick?', requestedSchema: { type: 'object' as const, properties: {} } } }
  server.registerTool('ask-briefly', { description: 'Asks, gives up, and says so.', inputSchema: {} }, async () => ({ content: [{ type: 'text', text: JSON.stringify(await server.server.request(consent, ElicitResultSchema, { timeout: 300 })) }] }))
  server.registerTool('ask-and-fail', { description: 'Asks, and fails without a word to whom it asked.', inputSchema: {} }, () => {
    server.server.request(consent, ElicitResultSchema).catch(() => undefined)
    return new Promise((_, fail) => setTimeout(() => fail(new Error('Nobody answered.')), 300))
  })
  server.registerTool('ask-page', { description: 'Wants a page opened.', inputSchema: {} }, () => {
    throw new UrlElicitationRequiredError([{ mode: 'url', message: 'Pay.', url: 'https://pay.test/now', elicitationId: 'e1' }])
  })
  server.registerTool('sample', { description: 'Wants a model.', inputSchema: {} }, async () => {
    try {
      await server.server.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }], maxTokens: 5 })
      return { content: [{ type: 'text', text: 'sampled' }] }
    } catch (error) {
      return { content: [{ type: 'text', text: `refused: ${String(error)}` }] }
    }
  })
  server.registerTool('grow', { description: 'Adds a tool.', inputSchema: {} }, () => {
    server.registerPrompt('late', {}, () => ({ messages: [] }))
    server.registerResource('late', 'demo://late', {}, () => ({ contents: [{ uri: 'demo://late', text: 'late' }] }))
    server.registerTool('late', { description: 'Came later.', inputSchema: {} }, () => ({ content: [{ type: 'text', text: 'late' }] }))
    return { content: [{ type: 'text', text: 'grown' }] }
  })
  server.registerPrompt('review', { description: 'Review a file.', argsSchema: { path: z.string(), tone: z.string().optional() } }, ({ path, tone }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Review ${path}${tone === undefined ? '' : ` (${tone})`}.` } }] }))
  server.registerPrompt('talk', { description: 'A talk.' }, () => ({ messages: [{ role: 'user', content: { type: 'text', text: 'Hello.' } }, { role: 'assistant', content: { type: 'text', text: 'What for?' } }, { role: 'user', content: { type: 'resource', resource: { uri: 'demo://inner', text: 'inner words' } } }] }))
  server.registerPrompt('hang', {}, () => new Promise(() => {}))
  server.registerResource('notes', 'demo://notes', { description: 'Some notes.', mimeType: 'text/plain' }, () => ({ contents: [{ uri: 'demo://notes', text: 'remember the milk' }] }))
  server.registerResource('logo', 'demo://logo.png', { mimeType: 'image/png' }, () => ({ contents: [{ uri: 'demo://logo.png', mimeType: 'image/png', blob: Buffer.from(imageBytes('png', 4, 4)).toString('base64') }] }))
  server.registerResource('sound', 'demo://sound', { mimeType: 'audio/wav' }, () => ({ contents: [{ uri: 'demo://sound', mimeType: 'audio/wav', blob: 'AAAA' }] }))
  server.registerResource('big', 'demo://big/a,b', {}, () => ({ contents: [{ uri: 'demo://big', text: 'word '.repeat(40_000) }] }))
  server.registerResource('empty', 'demo://empty', {}, () => ({ contents: [] }))
  server.registerResource('key', 'demo://key', {}, () => ({ contents: [{ uri: 'demo://key', text: `token ghp_${'a1B2'.repeat(9)}` }] }))
  server.registerResource('slow', 'demo://slow', {}, () => new Promise(() => {}))
  server.registerResource('each', new ResourceTemplate('demo://each/{id}', { list: undefined }), {}, (uri) => ({ contents: [{ uri: uri.href, text: uri.href }] }))
  return server
}
