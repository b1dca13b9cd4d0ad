import { expect, it } from 'vitest'
import { chatPage, TEXTS_ELEMENT_ID } from '../../../extension/protocol/page.ts'

const page = (more: object = {}) =>
  chatPage({
    cspSource: "'self' https://*.example.test",
    nonce: 'n0nce',
    scriptUri: 'https://a.test/webview.js',
    styleUri: 'https://a.test/webview.css',
    iconStyleUri: 'https://a.test/codicon.css?a=1&b="2"',
    language: 'de',
    ...more,
  })

it('allows scripts by nonce and from beside them, and nothing from elsewhere', () => {
  const policy = /Security-Policy" content="([^"]*)"/.exec(page())?.[1]
  expect(policy?.split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'nonce-n0nce' 'self' https://*.example.test",
    "style-src 'self' https://*.example.test",
    "font-src 'self' https://*.example.test",
    "img-src 'self' https://*.example.test data:",
  ])
})

it('quotes what stands in attributes', () => expect(page()).toContain('href="https://a.test/codicon.css?a=1&amp;b=&quot;2&quot;"'))

it('keeps translations from ending their element', () => {
  const html = page({ texts: { Send: '</script><script>' } })
  const json = new RegExp(`id="${TEXTS_ELEMENT_ID}"[^>]*>(.*)</script>\n<script type="module"`).exec(html)?.[1] ?? ''
  expect(json).not.toContain('<')
  expect(JSON.parse(json)).toEqual({ Send: '</script><script>' })
})
