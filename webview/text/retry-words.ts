import { t } from '../l10n.ts'
import { formatSeconds } from './format.ts'

const waits: Readonly<Record<string, string>> = {
  RATE_LIMIT: 'Waiting {0} for the rate limit',
  SERVER: 'Waiting {0}: the server has a problem',
  TIMEOUT: 'Waiting {0}: the model did not answer in time',
  TRANSPORT: 'Waiting {0}: the connection broke',
  EMPTY_RESPONSE: 'Waiting {0}: the answer was empty',
}

/** "Waiting 12 s for the rate limit", by the code of the failure. */
export const waitWords = (code: string, leftMs: number): string => t(waits[code] ?? 'Waiting {0} to try again', formatSeconds(leftMs))

/** "try 2 of 5" */
export const tryWords = (retry: number, maxRetries: number | null): string => (maxRetries === null ? t('try {0}', retry) : t('try {0} of {1}', retry, maxRetries))
