import type { ServerResponse } from 'node:http';

/**
 * The content of a paste is hostile: a browser must not guess its type, run it or embed it. Every answer has
 * these headers, so that none is forgotten. An answer that may be cached replaces `no-store`.
 */
const defaultHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
};

/** A year, the minimum of browsers' preload lists. Other hosts of the domain may still use http. */
const STRICT_TRANSPORT = 'max-age=31536000';

/**
 * The headers of every answer of an api with this public URL. An api that is reached by https tells browsers
 * never to use http, which an attacker in the network could answer.
 */
export function headersOfEveryAnswer(publicUrl: string | undefined): Readonly<Record<string, string>> {
  const isHttps = publicUrl !== undefined && new URL(publicUrl).protocol === 'https:';
  return isHttps ? { ...defaultHeaders, 'Strict-Transport-Security': STRICT_TRANSPORT } : defaultHeaders;
}

/**
 * Unlisted pastes are for those who know their short code, so search engines list none and follow no link.
 */
export const robotsHeader = ['X-Robots-Tag', 'noindex, nofollow'] as const;

/** As Express's `vary`, which parses the header: the answer has none of these names yet. */
export function addVary(res: ServerResponse, names: string): void {
  const before = res.getHeader('Vary');
  res.setHeader('Vary', before === undefined ? names : `${String(before)}, ${names}`);
}
