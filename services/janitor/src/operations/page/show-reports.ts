import { takedownClasses } from '@pasteflow/domain';
import { listReported, REPORTED_PLACE } from '@pasteflow/postgres';
import { reportedPage, reportsPage, type OperationsSite } from '@pasteflow/web';
import {
  readBeginning,
  readContent,
  readFileBeginnings,
  readFirstLines,
  readReported,
  type ContentSources,
  type Reported,
} from '../reports/read-reported.ts';
import { notFound, pageResponse, type PageResponse } from './response.ts';

const ON_A_PAGE = 50;

/** GET /reports: a page of the queue. @throws Refusal 404 */
export async function showQueue(
  sources: ContentSources,
  site: OperationsSite,
  query: URLSearchParams,
): Promise<PageResponse> {
  const by = query.get('by') === 'reporters' ? 'reporters' : 'age';
  const chosen = takedownClasses.find((each) => each === query.get('class')) ?? null;
  const network = query.get('network');
  const after = query.get('cursor');
  if (after !== null && !REPORTED_PLACE.test(after)) throw notFound('There is no such page.');
  if (network !== null && !/^[0-9a-f]{8}$/.test(network)) throw notFound('There is no such network.');
  const found = await listReported(sources.db, { by, after, class: chosen, network, limit: ON_A_PAGE });
  const firstLines = await readFirstLines(
    sources,
    found.pastes.map(({ shortCode }) => shortCode),
  );
  const pastes = found.pastes.map(({ id: _id, oldestAt, heldAt, ...paste }) => ({
    ...paste,
    fileCount: paste.files?.length ?? null,
    oldestAt: oldestAt.toISOString(),
    isHeld: heldAt !== null,
    firstLine: firstLines.get(paste.shortCode) ?? '',
  }));
  const filter = { by, classes: takedownClasses, class: chosen, network } as const;
  return pageResponse(reportsPage(site, { ...found, pastes, ...filter }));
}

/** Of a text, and of each of several files. An operator downloads the rest. */
const SHOWN_BYTES = 16 * 1024;
const SHOWN_BYTES_OF_FILE = 4096;

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
    content:
      paste.files === null
        ? await readBeginning(deps, paste, SHOWN_BYTES)
        : await readFileBeginnings(deps, paste, paste.files, SHOWN_BYTES_OF_FILE),
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
