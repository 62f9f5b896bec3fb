import type { ServerResponse } from 'node:http';
import { variable, type Variable } from '@pasteflow/runtime';
import type { Request, Response } from 'express';

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

/** The sites whose pages may use the api without credentials. `*`: all. */
export type CorsOrigins = '*' | readonly string[];

/** Reads CORS_ORIGINS. */
export function corsOrigins(): Variable<CorsOrigins> {
  return variable('*, none, or origins like https://app.example.org, separated by commas', (text) => {
    if (text === '*') return '*';
    if (text === 'none') return [];
    const origins = text.split(',').map((part) => part.trim());
    return origins.every((origin) => URL.parse(origin)?.origin === origin) ? origins : undefined;
  });
}

/**
 * Lets pages of these sites read the answer. It allows no credentials: a browser then shows them no answer to
 * a request with a cookie, and `*` never stands for the header Authorization (Fetch Standard, 4.9 and 3.3).
 * @returns whether a page of the sender's site may read the answer
 */
export function shareAnswer(req: Request, res: Response, origins: CorsOrigins): boolean {
  const { origin = '' } = req.headers;
  if (origins !== '*') res.vary('Origin');
  if (origins !== '*' && !origins.includes(origin)) return false;
  res.setHeader('Access-Control-Allow-Origin', origins === '*' ? '*' : origin);
  res.setHeader('Access-Control-Expose-Headers', '*');
  return true;
}

/** Answers a browser that asks before it sends the request of a page of another site. */
export function answerPreflight(res: Response, method: string): void {
  res.set({
    'Access-Control-Allow-Methods': method,
    'Access-Control-Allow-Headers': '*',
    'Access-Control-Max-Age': '7200', // the longest that Chromium keeps
  });
  res.status(204).end();
}

/** Whether a script sent the request without a cookie. A form says `navigate`. */
export function isAnonymousFetch({ headers }: Request): boolean {
  return headers['sec-fetch-mode'] === 'cors' && headers.cookie === undefined;
}
