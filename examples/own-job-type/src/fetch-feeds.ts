import { hash } from 'node:crypto';
import { jobKeyPrefix } from '@pasteflow/domain';
import { defineJobType, WorkFailedError, type JobContext, type JobEnding } from '@pasteflow/jobs';
import { listAssets } from '@pasteflow/postgres';
import { z } from 'zod';

/**
 * The URLs of the feeds, by name. Users choose among the names: a job that fetched any URL could be used to
 * read what only the worker can reach, such as the metadata of a cloud machine.
 */
export type Feeds = Readonly<Record<string, string>>;

interface Parameters {
  readonly feeds: readonly string[];
}

const MAX_FEEDS = 100;
const MAX_FEED_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** The job type `fetch`: saves feeds of the operator's list, each as an asset. */
export function fetchFeeds(feeds: Feeds) {
  const names = Object.keys(feeds);
  return defineJobType({
    name: 'fetch',
    summary: 'Saves feeds, each as an asset of the job.',
    parameters: z.strictObject({
      feeds: z
        .array(z.enum(names, `must be one of ${names.join(', ')}`))
        .min(1)
        .max(MAX_FEEDS),
    }),
    example: { feeds: names.slice(0, 1) },
    readShortCodes: () => [],
    run: (context) => run(feeds, context),
  });
}

/**
 * `completed`: every feed is saved. `partial` or `failed`: some or all were refused, and another attempt
 * would not change that. A feed that may come back is retried: the job throws, and the next attempt skips
 * what is saved. If the last attempt throws, the job is `partial` when it has assets, and else `failed`.
 */
async function run(feeds: Feeds, context: JobContext<Parameters>): Promise<JobEnding> {
  const { parameters, progress, signal } = context;
  const chosen = [...new Set(parameters.feeds)];
  const saved = await savedFeeds(context);
  const refused: { readonly feed: string; readonly reason: string }[] = [];
  const unavailable: string[] = [];
  for (const feed of chosen.filter((name) => !saved.has(name))) {
    const answer = await fetchFeed(feeds[feed] ?? '', signal);
    if (answer.kind === 'unavailable') unavailable.push(feed);
    else if (answer.kind === 'refused') refused.push({ feed, reason: answer.reason });
    else {
      await save(context, feed, answer.content);
      saved.add(feed);
    }
    const handled = saved.size + refused.length + unavailable.length;
    progress(Math.floor((100 * handled) / chosen.length), `${handled} of ${chosen.length} feeds`);
  }
  if (unavailable.length > 0) throw new WorkFailedError(`unavailable feeds: ${unavailable.join(', ')}`);
  const result = { saved: [...saved], refused };
  if (refused.length === 0) return { status: 'completed', result };
  const error = `${refused.length} of ${chosen.length} feeds were refused; result.refused says why.`;
  return { status: saved.size > 0 ? 'partial' : 'failed', result, error };
}

type Answer =
  | { readonly kind: 'content'; readonly content: Buffer }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unavailable' };

/** Follows no redirect: it could lead to an address that is not in the list. @throws when `stop` aborts */
async function fetchFeed(url: string, stop: AbortSignal): Promise<Answer> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    const response = await fetch(url, { redirect: 'manual', signal });
    if (!response.ok) await response.body?.cancel(); // an unread body holds its connection
    if (response.status >= 500) return { kind: 'unavailable' };
    if (!response.ok) return { kind: 'refused', reason: `answered ${response.status}` };
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
      bytes += chunk.length;
      if (bytes > MAX_FEED_BYTES) return { kind: 'refused', reason: `longer than ${MAX_FEED_BYTES} bytes` };
      chunks.push(chunk);
    }
    return { kind: 'content', content: Buffer.concat(chunks) };
  } catch {
    stop.throwIfAborted();
    return { kind: 'unavailable' };
  }
}

/** The key contains the execution, so that a worker that lost the job overwrites nothing. */
async function save(context: JobContext<Parameters>, feed: string, content: Buffer): Promise<void> {
  const { jobId, executionId, signal, services, createAsset } = context;
  const storagePath = `${jobKeyPrefix(jobId)}${executionId}/${feed}`;
  await services.store.put(storagePath, content, { sha256: hash('sha256', content, 'buffer'), signal });
  await createAsset({ assetType: 'feed', storagePath, fileSize: content.length });
}

/** What earlier attempts have saved. */
async function savedFeeds({ jobId, services }: JobContext<Parameters>): Promise<Set<string>> {
  const { rows } = await listAssets(services.db, jobId, { limit: MAX_FEEDS, after: null });
  return new Set(rows.map(({ storage_path: path }) => path.slice(path.lastIndexOf('/') + 1)));
}
