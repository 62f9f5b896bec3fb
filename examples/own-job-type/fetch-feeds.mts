import type { JobContext, JobEnding, JobType, Kit } from '@pasteflow/job';

/**
 * The URLs of the feeds, by name. Users choose among the names: a job that fetched any URL could be used to
 * read what only the worker can reach, such as the metadata of a cloud machine.
 */
type Feeds = Readonly<Record<string, string>>;

interface Parameters {
  readonly feeds: readonly string[];
}

const MAX_FEEDS = 100;
const MAX_FEED_BYTES = 1024 * 1024;
const TIMEOUT_MS = 10_000;

/** The job type `fetch`: saves feeds of the operator's list, the setting FEEDS, each as an asset. */
export default function fetchFeeds(kit: Kit): JobType {
  const { z } = kit;
  const list = z.record(z.string().regex(/^[a-z0-9-]{1,40}$/), z.url({ protocol: /^https?$/ }));
  const feeds = list.parse(JSON.parse(process.env['FEEDS'] ?? '{}'));
  const names = Object.keys(feeds);
  if (names.length === 0) throw new Error('Set FEEDS, like {"news":"https://example.org/feed.xml"}.');
  return kit.defineJobType({
    name: 'fetch',
    summary: 'Saves feeds, each as an asset of the job.',
    parameters: z.strictObject({
      feeds: z
        .array(z.enum(names, `must be one of ${names.join(', ')}`))
        .min(1)
        .max(MAX_FEEDS),
    }),
    example: { feeds: names.slice(0, 1) },
    run: (context) => run(kit, feeds, context),
  });
}

/**
 * `completed`: every feed is saved. `partial` or `failed`: some or all were refused, and another attempt
 * would not change that. A feed that may come back is retried: the job throws, and the next attempt skips
 * what is saved. If the last attempt throws, the job is `partial` when it has assets, and else `failed`.
 */
async function run(kit: Kit, feeds: Feeds, context: JobContext<Parameters>): Promise<JobEnding> {
  const { parameters, progress, signal } = context;
  const chosen = [...new Set(parameters.feeds)];
  const saved = new Set((await context.listAssets()).map(({ name }) => name.replace(/\.xml$/, '')));
  const refused: { readonly feed: string; readonly reason: string }[] = [];
  const unavailable: string[] = [];
  for (const feed of chosen.filter((name) => !saved.has(name))) {
    const answer = await fetchFeed(feeds[feed] ?? '', signal);
    if (answer.kind === 'unavailable') unavailable.push(feed);
    else if (answer.kind === 'refused') refused.push({ feed, reason: answer.reason });
    else {
      await context.saveAsset({ name: `${feed}.xml`, type: 'feed', content: answer.content });
      saved.add(feed);
    }
    const handled = saved.size + refused.length + unavailable.length;
    progress(Math.floor((100 * handled) / chosen.length), `${handled} of ${chosen.length} feeds`);
  }
  if (unavailable.length > 0) throw new kit.WorkFailedError(`unavailable feeds: ${unavailable.join(', ')}`);
  const result = { saved: [...saved], refused };
  if (refused.length === 0) return { status: 'completed', result };
  const error = `${refused.length} of ${chosen.length} feeds were refused; result.refused says why.`;
  return { status: saved.size > 0 ? 'partial' : 'failed', result, error };
}

type Answer =
  | { readonly kind: 'content'; readonly content: Uint8Array }
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
