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
}: {
  readonly publicUrl: () => string;
  readonly abuseContact: string | null;
}): Pages {
  // Known only when the server listens, because PUBLIC_URL may be derived from its port.
  let site: Omit<Site, 'viewer'> | undefined;
  return {
    assets,
    site: (req) => ({
      ...(site ??= siteAt(new URL(publicUrl()).pathname.replace(/\/$/, ''), assets, abuseContact)),
      viewer: contextOf(req).viewer ?? null,
    }),
  };
}

function siteAt(base: string, assets: Assets, abuseContact: string | null): Omit<Site, 'viewer'> {
  return { base, abuseContact, asset: (source) => `${base}/assets/${assets.fileOf(source)}` };
}
