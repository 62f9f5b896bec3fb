import type { Assets, Site } from '@pasteflow/web';
import { assets } from './assets.ts';

/** The pages' site and files. */
export interface Pages {
  /** Known only when the server listens, because PUBLIC_URL may be derived from its port. */
  readonly site: () => Site;
  readonly assets: Assets;
}

export function composePages({
  publicUrl,
  abuseContact,
}: {
  readonly publicUrl: () => string;
  readonly abuseContact: string | null;
}): Pages {
  let site: Site | undefined;
  return {
    assets,
    site: () => (site ??= siteAt(new URL(publicUrl()).pathname.replace(/\/$/, ''), assets, abuseContact)),
  };
}

function siteAt(base: string, assets: Assets, abuseContact: string | null): Site {
  return { base, abuseContact, asset: (source) => `${base}/assets/${assets.fileOf(source)}` };
}
