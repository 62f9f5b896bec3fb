import type { IncomingMessage } from 'node:http';
import type { Assets, Site } from '@pasteflow/web';
import { contextOf } from '../http/request/request-context.ts';
import { assets } from './assets.ts';

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
