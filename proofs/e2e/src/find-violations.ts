import { createHash } from 'node:crypto';
import {
  canTransition,
  isState,
  type Machine,
  type MachineName,
  machines,
  openStatesOf,
  pasteDeletion,
  pasteReport,
  secretRequest,
  pasteUpload,
} from '@pasteflow/domain';
import type { Bucket } from './bucket.ts';
import { QUEUES, type Queues } from './queues.ts';
import type { AssetRow, PasteRow, Rows } from './rows.ts';

/** The tables, the bucket and the queues that are checked while the services are idle. */
export interface SystemUnderTest {
  readonly rows: Rows;
  readonly bucket: Bucket;
  readonly queues: Queues;
}

/** The invariants that docs/architecture.md names: one sentence for each violation. */
export async function findViolations(system: SystemUnderTest): Promise<string[]> {
  const openWork = [...(await findOpenWork(system)), ...(await findStrayMessages(system))];
  // Reading every object whole would slow down services that still work.
  if (openWork.length > 0) return openWork;
  return [
    ...(await findStrayObjects(system)),
    ...(await findIllegalTransitions(system)),
    ...(await findMiscounted(system)),
    ...(await findWrongDeliveries(system)),
  ];
}

/** How a violation names a row of a machine's table: an SQL expression. */
const ROW_NAMES: Readonly<Record<MachineName, string>> = {
  paste_upload: `'paste ' || short_code`,
  paste_deletion: `'paste ' || short_code`,
  job: `'job ' || id`,
  paste_report: `'report ' || id`,
  erasure: `'erasure ' || id`,
  secret_request: `'request ' || code`,
  webhook_delivery: `'delivery ' || id`,
  task_execution: `'attempt ' || attempt || ' of ' || coalesce((SELECT short_code FROM pastes p WHERE p.id = subject_id), subject_id::text)`,
};

/**
 * The states in which a process has work to do. A paste that is not claimed for deletion waits for its
 * expiry, which is no work, a report waits for an operator, and a request for depositors.
 */
function workingStatesOf(machine: Machine): readonly string[] {
  const waits = [pasteDeletion.name, pasteReport.name, secretRequest.name].includes(machine.name as never);
  return openStatesOf(machine).filter((state) => !waits || state !== machine.initial);
}

const OPEN_WORK = machines.map(
  ({ name, storedIn: { table, column } }, index) =>
    `SELECT ${ROW_NAMES[name]} || ' is ' || ${column} AS problem FROM ${table} WHERE ${column} = ANY ($${index + 1})`,
);

const PAYLOADS_OF_ENDED_UPLOADS = `
  SELECT 'paste ' || short_code || ' is ' || status || ' and still has a payload'
  FROM paste_payloads JOIN pastes ON id = paste_id WHERE status <> ALL ($${machines.indexOf(pasteUpload) + 1})`;

/** The first fifty open rows: there may be ten thousand, and the query runs several times a second. */
async function findOpenWork({ rows }: SystemUnderTest): Promise<string[]> {
  const found = await rows.query<{ problem: string }>(
    [...OPEN_WORK, PAYLOADS_OF_ENDED_UPLOADS].join(' UNION ALL ') + ' LIMIT 50',
    machines.map((machine) => workingStatesOf(machine)),
  );
  return found.map(({ problem }) => problem);
}

async function findStrayObjects({ rows, bucket }: SystemUnderTest): Promise<string[]> {
  const objects = await bucket.sizes();
  const pastes = await rows.query<PasteRow>(
    `SELECT * FROM pastes WHERE status = 'PROCESSED' AND deletion_status <> 'DELETED'`,
  );
  const assets = await rows.query<AssetRow>(`SELECT * FROM assets WHERE storage_path LIKE 'jobs/%'`);
  const byKey = new Map(
    pastes.map((paste) => [new URL(paste.s3_url ?? 's3://none').pathname.slice(1), paste]),
  );
  const problems = [...(await wrongPastes(byKey, objects, bucket)), ...wrongAssets(assets, objects)];
  for (const key of await bucket.openUploads())
    problems.push(`the multipart upload of ${key} was neither completed nor aborted`);
  const known = new Set([...byKey.keys(), ...assets.map(({ storage_path }) => storage_path)]);
  for (const key of objects.keys()) if (!known.has(key)) problems.push(`S3 has ${key}, which no table names`);
  return problems;
}

/** The number of objects whose bytes are compared: every tenth of ten thousand. */
const MAX_READ = 1000;

/** Each live paste has the object that it names, with the bytes of its content_hash. */
async function wrongPastes(
  pastes: ReadonlyMap<string, PasteRow>,
  objects: ReadonlyMap<string, number>,
  bucket: Bucket,
): Promise<string[]> {
  const problems: string[] = [];
  for (const [key, { short_code, s3_url }] of pastes)
    if (!objects.has(key)) problems.push(`paste ${short_code} is PROCESSED and S3 has no ${s3_url}`);
  const present = [...pastes].filter(([key]) => objects.has(key));
  const step = Math.ceil(present.length / MAX_READ);
  const compared = present.filter((_, index) => index % step === 0);
  await bucket.readEach(new Map(compared), ({ short_code, s3_url, content_hash }, content) => {
    const hash = createHash('sha256').update(content).digest('hex');
    if (`sha256:${hash}` !== content_hash)
      problems.push(`${s3_url} has other bytes than paste ${short_code}`);
  });
  return problems;
}

/** Each asset of a job in S3 has its object, with the size of the row. */
function wrongAssets(assets: readonly AssetRow[], objects: ReadonlyMap<string, number>): string[] {
  return assets
    .filter(({ storage_path, file_size }) => objects.get(storage_path) !== Number(file_size))
    .map(
      ({ storage_path, file_size, job_id }) =>
        `job ${job_id} names ${storage_path} with ${file_size} bytes, and S3 has ${objects.get(storage_path) ?? 'nothing'}`,
    );
}

async function findStrayMessages({ queues }: SystemUnderTest): Promise<string[]> {
  const problems: string[] = [];
  for (const name of QUEUES) {
    const { visible, hidden } = await queues.counts(name);
    if (visible + hidden > 0)
      problems.push(`the queue ${name} has ${visible} messages, and ${hidden} hidden ones`);
  }
  return problems;
}

/** What the quotas count is what a scan finds, for each user and for all pastes. */
async function findMiscounted({ rows }: SystemUnderTest): Promise<string[]> {
  const found = await rows.query<{ problem: string }>(`
    WITH scan AS (
      SELECT coalesce(user_id, '00000000-0000-0000-0000-000000000000') AS owner, count(*) AS pastes, sum(size_bytes) AS bytes
      FROM (SELECT user_id, size_bytes, counted, deletion_status FROM pastes WHERE user_id IS NOT NULL
        UNION ALL SELECT NULL, size_bytes, counted, deletion_status FROM pastes) AS each
      WHERE counted AND deletion_status <> 'DELETED' GROUP BY 1
    ), counters AS (SELECT owner, sum(pastes) AS pastes, sum(bytes) AS bytes FROM stored_usage GROUP BY owner)
    SELECT format('the quotas count %s pastes, %s bytes of %s, and there are %s, %s', counters.pastes, counters.bytes, owner,
      coalesce(scan.pastes, 0), coalesce(scan.bytes, 0)) AS problem
    FROM counters FULL JOIN scan USING (owner)
    WHERE (counters.pastes, counters.bytes) IS DISTINCT FROM (coalesce(scan.pastes, 0), coalesce(scan.bytes, 0))`);
  return found.map(({ problem }) => problem);
}

/** A delivery that has ended has the attempt that ended it, and tells what has happened, by the audit trail. */
async function findWrongDeliveries({ rows }: SystemUnderTest): Promise<string[]> {
  const found = await rows.query<{ problem: string }>(`
    SELECT format('delivery %s of %s is %s, and its last attempt has %s', d.id, type, d.status, coalesce(last.status, 'never been')) AS problem
    FROM webhook_deliveries d LEFT JOIN LATERAL (
      SELECT status FROM task_executions e WHERE e.subject_id = d.id AND e.kind = 'webhook' ORDER BY created_at DESC, id DESC LIMIT 1
    ) AS last ON true
    WHERE last.status IS DISTINCT FROM CASE d.status WHEN 'DELIVERED' THEN 'SUCCEEDED' ELSE 'FAILED' END
    UNION ALL
    SELECT format('delivery %s tells %s of %s, which has not happened', id, type, occurrence) FROM webhook_deliveries
    WHERE type NOT IN ('deposit.arrived', 'report.opened') AND NOT EXISTS (
      SELECT FROM state_transitions t WHERE t.entity = occurrence::uuid AND "to" = ANY (CASE type
        WHEN 'paste.stored' THEN ARRAY['PROCESSED'] WHEN 'job.ended' THEN ARRAY['completed', 'partial', 'failed']
        WHEN 'paste.failed' THEN ARRAY['FAILED'] WHEN 'upload.failed' THEN ARRAY['FAILED'] ELSE ARRAY['DELETION_IN_PROGRESS'] END))`);
  return found.map(({ problem }) => problem);
}

interface Step {
  readonly machine: string;
  readonly entity: string;
  readonly from: string;
  readonly to: string;
}

/**
 * The transitions of each entity lead through its machine's table, from the initial state to the current
 * state of the row.
 */
async function findIllegalTransitions({ rows }: SystemUnderTest): Promise<string[]> {
  const steps = await rows.query<Step & { id: string }>(
    `SELECT machine, entity, "from", "to" FROM state_transitions ORDER BY id`,
  );
  const problems: string[] = [];
  for (const machine of machines as readonly Machine[]) {
    const { table, column } = machine.storedIn;
    const current = await rows.query<{ id: string; state: string }>(
      `SELECT id, ${column} AS state FROM ${table}`,
    );
    const reached = new Map<string, string>();
    for (const { entity, from, to } of steps.filter((step) => step.machine === machine.name)) {
      const legal = isState(machine, from) && isState(machine, to) && canTransition(machine, from, to);
      if (!legal) problems.push(`${machine.name} ${entity} went from ${from} to ${to}`);
      const before = reached.get(entity) ?? machine.initial;
      if (before !== from) problems.push(`${machine.name} ${entity} left ${from} while it was ${before}`);
      reached.set(entity, to);
    }
    for (const { id, state } of current) {
      const last = reached.get(id) ?? machine.initial;
      if (last !== state)
        problems.push(`${machine.name} ${id} is ${state}, and its last transition led to ${last}`);
    }
  }
  return problems;
}
