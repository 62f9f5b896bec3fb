import type { Response } from 'express';
import { pagePolicy } from '@pasteflow/web';
import type { Answer } from '../http/response/answer.ts';

/** The headers of a page, in addition to those of every answer. */
export const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': pagePolicy,
};

export function sendPage(res: Response, markup: string): void {
  res.set(pageHeaders).send(markup);
}

export function pageAnswer(
  status: number,
  markup: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers: { ...headers, ...pageHeaders }, body: markup };
}
