import { variable, type Variable } from '@pasteflow/runtime';
import type { Request, Response } from 'express';

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
