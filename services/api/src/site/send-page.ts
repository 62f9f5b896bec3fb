import type { Response } from 'express';
import { pagePolicyOf } from '@pasteflow/web';
import type { Answer } from '../http/response/answer.ts';
import { assets } from './assets.ts';

/**
 * The headers of a page, in addition to those of every answer. They are set before the handler of a page answers, so that its 304 has them,
 * too. No page of another site keeps a handle of the window (COOP). Without a referrer policy of its own a page's forms
 * would be sent with `Origin: null` (Fetch, 3.1), which says nothing about their sender.
 */
export const pageHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': pagePolicyOf(assets.textOf('page.css')),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Referrer-Policy': 'same-origin',
};

const HTML = { 'Content-Type': 'text/html; charset=utf-8' };

export function sendPage(
  res: Response,
  markup: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  res.set({ ...HTML, ...pageHeaders, ...headers }).send(markup);
}

export function pageAnswer(
  status: number,
  markup: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers: { ...headers, ...HTML, ...pageHeaders }, body: markup };
}
