import { findOwnPastes, findRetryRefusal, listAssets } from '@pasteflow/postgres';
import { myJobPage } from '@pasteflow/web';
import type { ApiContext } from '../context.ts';
import { viewOfAsset } from './list-assets.ts';
import { requireUser } from '../http/callers/caller-of.ts';
import { findNamedJob } from './find-named-job.ts';
import { isCancelled, viewOf } from './job-view.ts';
import { type Endpoint, pageEndpoint } from '../http/openapi/endpoint.ts';
import { sendPage } from '../http/pages/page.ts';

/** Of an import, which may have 10,000. The list of pastes has them, too. */
const SHOWN_PASTES = 100;

/** Of any other job all: 2.5 TB of an export. */
const SHOWN_ARCHIVES = 10_000;

/** GET /my/jobs/:id: the progress of a job, and what it did. */
export function myJob(api: ApiContext): Endpoint {
  const { db, pages } = api;
  return pageEndpoint({ access: 'user' }, async (req, res) => {
    const job = await findNamedJob(db, req);
    const limit = job.job_type === 'import' ? SHOWN_PASTES : SHOWN_ARCHIVES;
    const assets = await listAssets(db, job.id, { limit, after: null });
    const shown = await Promise.all(assets.rows.map((asset) => viewOfAsset(asset, job.job_type, api)));
    const shortCodes = shown.filter(({ asset_type }) => asset_type === 'paste').map(({ url }) => codeOf(url));
    const pastes = await findOwnPastes(db, { userId: requireUser(req), shortCodes });
    const titles = new Map(pastes.map(({ short_code, title }) => [short_code, title]));
    sendPage(
      res,
      myJobPage(pages.site(req), {
        ...viewOf(job),
        isCancelled: isCancelled(job),
        assets: shown.map((asset) => ({ ...asset, title: titles.get(codeOf(asset.url)) ?? null })),
        hasMoreAssets: assets.next !== null,
        canRetry: job.completed_at !== null && (await findRetryRefusal(db, job.id)) === null,
      }),
      { 'Cache-Control': 'private, no-store, no-transform' }, // the URL of an archive is a secret
    );
  });
}

/** The URL of a paste ends with its short code. */
function codeOf(url: string): string {
  return url.split('/').at(-1) ?? '';
}
