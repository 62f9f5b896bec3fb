import { type Assets, loadAssets, pagePolicyOf, type Site } from '@pasteflow/web';
import type { Response } from 'express';
import type { IncomingMessage } from 'node:http';
import { contextOf } from '../http/request/request-context.ts';
import type { Answer } from '../http/response/answer.ts';

/** Read when the process starts, so that a build that is missing is an error of the start. */
export const assets = loadAssets();

/** The pages' site and files. */
export interface Pages {
  /** The site as the caller of a request sees it, with the name of the user who is signed in. */
  readonly site: (req: IncomingMessage) => Site;
  readonly assets: Assets;
}

export function composePages({
  publicUrl,
  abuseContact,
  provider,
}: {
  readonly publicUrl: () => string;
  readonly abuseContact: string | null;
  /** The URL of the identity provider by which browsers sign in; null: by none. */
  readonly provider: string | null;
}): Pages {
  // Known only when the server listens, because PUBLIC_URL may be derived from its port.
  let site: Omit<Site, 'viewer'> | undefined;
  const siteAt = (base: string): Omit<Site, 'viewer'> => ({
    base,
    abuseContact,
    provider: provider === null ? null : new URL(provider).host,
    styles: assets.textOf('page.css'),
    asset: (source) => `${base}/assets/${assets.fileOf(source)}`,
  });
  return {
    assets,
    site: (req) => ({
      ...(site ??= siteAt(new URL(publicUrl()).pathname.replace(/\/$/, ''))),
      viewer: contextOf(req).viewer ?? null,
    }),
  };
}

/**
 * The headers of a page, in addition to those of every answer. No page of another site keeps a handle of the
 * window (COOP).
 * Without a referrer policy of its own a page's forms would be sent with `Origin: null` (Fetch, 3.1), which
 * says nothing about their sender.
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
