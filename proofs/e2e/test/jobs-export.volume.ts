import { createHash, randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  memoryOf,
  resetPeakMemory,
  startCluster,
  startStack,
  unzip,
  type Cluster,
  type User,
} from '../src/index.ts';

const PASTES = 2000;
const PASTE_BYTES = 150_000;
/** A third less than the pastes have together. Most of it is garbage, and its amount differs by machine. */
const MAX_EXTRA_MEMORY = 200_000_000;

let cluster: Cluster;
let alice: User;
/** The address of S3 for clients. The services use another one. */
let publicS3: string;
/** The hash of each paste, by short code. */
const hashes = new Map<string, string>();
beforeAll(async () => {
  const stack = await startStack();
  // Without the proxy, which keeps whole answers in memory.
  publicS3 = stack.aws.s3.replace('127.0.0.1', 'localhost');
  cluster = await startCluster({
    stack,
    env: { AWS_ENDPOINT_URL_S3: stack.aws.s3, S3_PUBLIC_ENDPOINT: publicS3 },
  });
  alice = await cluster.user('alice');
  await cluster.bucket.fill(contents());
  await insertPastes();
});
afterAll(() => cluster.stop());

/** Content that cannot be compressed. */
function* contents(): Generator<readonly [string, Buffer]> {
  for (let n = 0; n < PASTES; n += 1) {
    const content = randomBytes(PASTE_BYTES);
    const code = `export${String(n).padStart(4, '0')}`;
    hashes.set(code, sha256(content));
    yield [`pastes/${code}`, content] as const;
  }
}

/** Inserts PROCESSED pastes with two statements. */
async function insertPastes(): Promise<void> {
  await cluster.rows.query(
    `INSERT INTO pastes (short_code, content_hash, size_bytes, user_id, title)
     SELECT code, hash, $3, $4, CASE WHEN n % 3 = 0 THEN 'Größe: 1/2 & "more".log' END
     FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS t (code, hash, n)`,
    [[...hashes.keys()], [...hashes.values()], PASTE_BYTES, alice.userId],
  );
  await cluster.rows.query(
    `UPDATE pastes SET status = 'PROCESSED', s3_url = $1 || short_code, processed_at = now()`,
    [`s3://${cluster.bucket.name}/pastes/`],
  );
}

/** The hash of each file, by the short code with which its name begins. */
async function hashesIn(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const name of await readdir(folder))
    found.set(name.slice(0, 10), sha256(await readFile(join(folder, name))));
  return found;
}

// The other formats are packed and split by the same code: memory.volume.ts and export-archives.test.ts of packages/jobs.
it(`an export of ${PASTES} pastes of ${PASTE_BYTES / 1000} kB needs less than two thirds of their size as memory, and unpacks to the same bytes`, async () => {
  const { pid } = cluster.workers[0]!;
  const before = await memoryOf(pid);
  await resetPeakMemory(pid);
  const parameters = { format: 'zip' } as const;
  const job = await alice.jobs.create({ job_type: 'export', parameters }, { wait: true });
  const { peak } = await memoryOf(pid);
  expect(job).toMatchObject({ status: 'completed', result: { exported: PASTES, missing_count: 0 } });
  expect(peak - before.present).toBeLessThan(MAX_EXTRA_MEMORY);

  const folder = await mkdtemp(join(tmpdir(), 'pasteflow-export-'));
  try {
    const { items: assets } = await alice.jobs.assets(job.id).page();
    // More than 256 MiB, so that there are several; a slow machine closes one after 30 s, too.
    const sizes = assets.map(({ file_size: bytes }) => Number(bytes));
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBe(job.result?.bytes);
    for (const { url, number } of assets) {
      expect(new URL(url).origin).toBe(publicS3);
      const archive = `${folder}-${number}.zip`;
      await download(url, archive);
      await unzip(archive, folder);
      await rm(archive);
    }
    expect(await hashesIn(folder)).toEqual(hashes);
  } finally {
    await rm(folder, { recursive: true });
  }
  await cluster.expectQuiet();
}, 600_000);

const sha256 = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

async function download(url: string, file: string): Promise<void> {
  const response = await fetch(url);
  expect(response.headers.get('content-disposition')).toMatch(
    new RegExp(`^attachment; filename="pasteflow-export-\\d{4}-\\d\\d-\\d\\d(-\\d+)?\\.zip"`),
  );
  await pipeline(response.body!, createWriteStream(file));
}
