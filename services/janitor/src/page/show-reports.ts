import { listReported, type Database } from '@pasteflow/postgres';
import { reportedPage, reportsPage, type OperationsSite } from '@pasteflow/web';
import {
  readBeginning,
  readContent,
  readReported,
  type ContentSources,
  type Reported,
} from '../reports/read-reported.ts';
import { notFound, pageResponse, type PageResponse } from './response.ts';

const MAX_PASTES = 100;

/** GET /reports. */
export async function showQueue(
  db: Database,
  site: OperationsSite,
  order: string | null,
): Promise<PageResponse> {
  const by = order === 'reporters' ? order : 'age';
  const found = await listReported(db, { by, limit: MAX_PASTES });
  const pastes = found.map(({ oldestAt, heldAt, ...paste }) => ({
    ...paste,
    oldestAt: oldestAt.toISOString(),
    isHeld: heldAt !== null,
  }));
  return pageResponse(reportsPage(site, { pastes, by }));
}

/** Of a text. An operator downloads the rest. */
const SHOWN_BYTES = 16 * 1024;

/** GET /reports/CODE. @throws Refusal 404 for a paste without an open report */
export async function showReports(
  deps: ContentSources,
  site: OperationsSite,
  code: string,
): Promise<PageResponse> {
  const { paste, reports } = await requireReported(deps, code);
  const page = reportedPage(site, {
    shortCode: paste.short_code,
    pasteTitle: paste.title,
    isHeld: paste.held_at !== null,
    reports: reports.map(({ at, ...report }) => ({ ...report, at: at.toISOString() })),
    content: await readBeginning(deps, paste, SHOWN_BYTES),
  });
  return pageResponse(page);
}

/** GET /content/CODE: a file that no browser shows. @throws Refusal 404 for a paste without an open report */
export async function downloadReported(deps: ContentSources, code: string): Promise<PageResponse> {
  const { paste } = await requireReported(deps, code);
  const body = await readContent(deps, paste);
  if (body === null) throw notFound('The paste has no content.');
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${paste.short_code}.bin"`,
  };
  return { status: 200, headers, body };
}

/** Operators read the content of reported pastes only. */
async function requireReported({ db }: ContentSources, code: string): Promise<Reported> {
  const reported = await readReported(db, code);
  if (reported === null) throw notFound('This paste has no open report.');
  return reported;
}
