/** What Bosun uses of the HTTP client, as a bundle of its own that the first guarded or proxied request loads. */
export { Agent, EnvHttpProxyAgent, fetch } from 'undici'
