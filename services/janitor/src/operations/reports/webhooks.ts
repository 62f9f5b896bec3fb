import { listAllWebhooks, type Database, type KnownWebhook } from '@pasteflow/postgres';

/** Endpoints that one statement reads. */
const BATCH = 1000;

/** Every endpoint, newest first. */
export async function readWebhooks(db: Database, limit = BATCH): Promise<readonly KnownWebhook[]> {
  const all: KnownWebhook[] = [];
  for (;;) {
    const page = await listAllWebhooks(db, { after: all.at(-1)?.id ?? null, limit });
    all.push(...page);
    if (page.length < limit) return all;
  }
}

/** What operators see of the URL, which is a secret. */
export function originOf({ url }: Pick<KnownWebhook, 'url'>): string {
  return URL.parse(url)?.origin ?? 'an unknown origin';
}
