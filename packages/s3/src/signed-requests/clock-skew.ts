import type { Answer } from './collected-answer.ts';

/** As the SDK counts: a smaller difference is not why a request was refused. S3 refuses 15 minutes. */
const MIN_SKEW_MS = 4 * 60 * 1000;

/** What the clock of a client of the SDK is ahead of the clock of this process, in ms. The SDK corrects it after each answer. */
interface CorrectedClock {
  systemClockOffset: number;
}

/** Sets the clock by an answer that refuses a request. */
export function setClock(config: CorrectedClock, { statusCode, headers }: Answer, now = Date.now()): void {
  if (statusCode < 400 || statusCode >= 500 || typeof headers.date !== 'string') return;
  if (headers.age !== undefined) return; // a cache's answer, with the time at which it was stored
  const offset = Date.parse(headers.date) - now;
  if (isSkewed(config, offset)) config.systemClockOffset = offset;
}

/** Whether the clock differs so much from one with this offset that a server may have refused the time of a request. */
export function isSkewed({ systemClockOffset }: CorrectedClock, offset: number): boolean {
  return Math.abs(systemClockOffset - offset) >= MIN_SKEW_MS;
}
