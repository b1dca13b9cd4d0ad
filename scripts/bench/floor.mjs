// The floor: the least a harness can do. It sends the talk, reads the stream, runs the same three tools and appends.
// No safety, no log, no screen. Usage: node floor.mjs BASE_URL CWD
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'

const [baseUrl, cwd] = process.argv.slice(2)
const parameters = { type: 'object', properties: { value: { type: 'string' } } }
const tools = ['read', 'grep', 'bash'].map((name) => ({ type: 'function', function: { name, description: name, parameters } }))
const messages = [
  { role: 'system', content: 'You are a floor script.' },
  { role: 'user', content: 'go' },
]

const run = (command, args) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    child.stdout.on('data', (chunk) => (text += chunk))
    child.on('error', reject)
    child.on('close', () => resolve(text))
  })

const bodies = {
  read: ({ file_path }) => readFile(`${cwd}/${file_path}`, 'utf8'),
  grep: ({ pattern }) => run(process.env.BENCH_RG, ['--no-config', '-n', pattern, '.']),
  bash: ({ command }) => run('bash', ['-c', command]),
}

for (;;) {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'bench', stream: true, tools, messages }),
  })
  let content = ''
  const calls = []
  let buffer = ''
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    buffer += chunk
    const lines = buffer.split('\n')
    buffer = lines.pop()
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue
      const delta = JSON.parse(line.slice(6)).choices[0]?.delta ?? {}
      content += delta.content ?? ''
      for (const call of delta.tool_calls ?? []) {
        calls[call.index] ??= { id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } }
        calls[call.index].function.arguments += call.function.arguments ?? ''
      }
    }
  }
  messages.push({ role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) })
  if (calls.length === 0) break
  for (const call of calls) {
    const text = await bodies[call.function.name](JSON.parse(call.function.arguments))
    messages.push({ role: 'tool', tool_call_id: call.id, content: text })
  }
}
