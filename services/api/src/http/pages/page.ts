import type { House } from '@pasteflow/domain';
import type { Cookies } from '@pasteflow/http-kit';
import {
  type Assets,
  assetsOfHouse,
  languageNames,
  loadAssets,
  pagePolicyOf,
  type Site,
  wordsIn,
} from '@pasteflow/web';
import type { Request, Response } from 'express';
import { contextOf } from '../request/request-context.ts';
import { sendCompressed } from '../answers/compress.ts';
import type { Answer } from '../answers/answer.ts';

/** Read when the process starts, so that a build that is missing is an error of the start. */
export const assets = loadAssets();

/** The pages' site and files. */
export interface Pages {
  /** The site as the caller of a request sees it: in the caller's language, and with the caller's name. */
  readonly site: (req: Request) => Site;
  readonly assets: Assets;
}

type CommonSite = Omit<Site, 'viewer' | 'words' | 'again'>;

/** The name of the cookie with the language that a reader has chosen. */
export const LANGUAGE_COOKIE = 'pasteflow-language';

const locales = languageNames.map(({ locale }) => locale);

/** @param chosen the value of the cookie; a language that there no longer is counts for nothing */
function languageFor(req: Request, chosen: string | null): string {
  return locales.find((each) => each === chosen) ?? (req.acceptsLanguages(locales) || 'en');
}

export function composePages({
  publicUrl,
  house,
  provider,
  hasWebhooks,
  cookies,
}: {
  readonly publicUrl: () => string;
  readonly house: House;
  /** The URL of the identity provider by which browsers sign in; null: by none. */
  readonly provider: string | null;
  readonly hasWebhooks: boolean;
  readonly cookies: Pick<Cookies, 'valueOf'>;
}): Pages {
  const ofHouse = assetsOfHouse(assets, house);
  // Known only when the server listens, because PUBLIC_URL may be derived from its port.
  let common: CommonSite | undefined;
  const siteAt = (base: string): CommonSite => ({
    base,
    house: { ...house, logo: house.logo && { type: house.logo.type, path: `${base}/logo` } },
    hasWebhooks,
    provider: provider === null ? null : new URL(provider).host,
    styles: assets.textOf('page.css'),
    asset: (source) => `${base}/assets/${ofHouse.fileOf(source)}`,
  });
  return {
    assets: ofHouse,
    site: (req) => {
      common ??= siteAt(new URL(publicUrl()).pathname.replace(/\/$/, ''));
      const { viewer = null, afterSignIn } = contextOf(req);
      const isRead = req.method === 'GET' || req.method === 'HEAD';
      const canRepeat = isRead && afterSignIn === undefined; // a sign-in at the provider works once
      return {
        ...common,
        viewer,
        words: wordsIn(languageFor(req, cookies.valueOf(req, LANGUAGE_COOKIE))),
        again: canRepeat ? common.base + req.url : null,
      };
    },
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
  sendCompressed(res.set({ ...HTML, ...pageHeaders, ...headers }), markup);
}

export function pageAnswer(
  status: number,
  markup: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers: { ...headers, ...HTML, ...pageHeaders }, body: markup };
}
