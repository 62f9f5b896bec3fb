// The one-machine edition, with the very programs of infra/one-machine: npm run proof -- one-machine.
// ONE_MACHINE_OUTAGE_SECONDS (120 in the long form) is how long S3 is down.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  installPrograms,
  OneMachine,
  oneMachineSettings,
  SmallDisk,
  startCluster,
  type Cluster,
  type Service,
} from '../src/index.ts';

// oxlint-disable-next-line node/no-process-env -- the short form of CI, or the long one
const OUTAGE_SECONDS = Number(process.env.ONE_MACHINE_OUTAGE_SECONDS ?? 10);

/** null: this user may not mount, and a full disk is not tried. */
const disk = await SmallDisk.mount(64);
const itWithDisk = disk === null ? it.skip : it;

let machine: OneMachine;
let cluster: Cluster<OneMachine>;
beforeAll(async () => {
  installPrograms();
  machine = await OneMachine.start(disk?.folder);
  cluster = await startCluster({
    stack: machine,
    env: {
      DATABASE_URL: machine.databaseUrl,
      UPLOAD_RETRY_DELAYS_MS: oneMachineSettings().UPLOAD_RETRY_DELAYS_MS!,
      SWEEP_INTERVALS: 'cleanup=0.2,deletion-watchdog=1',
    },
  });
}, 600_000);
afterAll(async () => {
  await cluster?.stop();
  await disk?.unmount();
});

interface Created {
  readonly content: Buffer;
  /** Undefined without a 201. */
  readonly code: string | undefined;
  readonly isDeleted: boolean;
}

/**
 * Creates a paste, every third of which is too long for a message. Deletes every fifth, with or without an
 * answer.
 */
async function createPaste(n: number): Promise<Created> {
  const content = randomBytes(n % 3 === 0 ? 60_000 : 500);
  const client = cluster.client({ retry: false });
  const paste = await client.pastes.create(content).catch(() => undefined);
  if (paste === undefined) return { content, code: undefined, isDeleted: false };
  const { short_code: code, delete_token: deleteToken } = paste;
  if (n % 5 === 0) await client.pastes.delete(code, { deleteToken }).catch(() => {});
  return { content, code, isDeleted: n % 5 === 0 };
}

/**
 * Creates pastes while `act` runs, and looks that none that was answered 201 is lost, and that nothing is
 * stuck.
 */
async function expectNothingLost(act: () => Promise<void>): Promise<number> {
  const load = cluster.load(createPaste, { lanes: 4 });
  const created = () => load.outcomes.filter(({ code }) => code !== undefined).length;
  await cluster.until(created, (count) => count >= 20);
  await act();
  const before = created();
  await cluster.until(created, (count) => count >= before + 20, { within: 120_000 });
  const answered = (await load.stop()).filter(({ code }) => code !== undefined);
  // As if two hours were over, after which the watchdog releases what a killed janitor had claimed.
  await cluster.rows.query(
    `UPDATE pastes SET deletion_initiated_at = now() - interval '7201 seconds' WHERE deletion_status = 'DELETION_IN_PROGRESS'`,
  );
  await cluster.expectQuiet({ within: 180_000 });
  for (const { content, code = '', isDeleted } of answered) {
    const { status, body } = await cluster.http().read(code);
    if (isDeleted && status === 410) continue;
    expect({ code, status, isSame: body.equals(content) }).toEqual({ code, status: 200, isSame: true });
  }
  return answered.length;
}

/** What systemd does with Restart=always. */
async function startAgainAndAgain(service: Service): Promise<void> {
  for (;;) {
    const isUp = await service.start().then(
      () => true,
      () => false,
    );
    if (isUp) return;
    await sleep(1000);
  }
}

const killPostgres = () => process.kill(machine.postgresPid, 'SIGKILL');

describe('under load, nothing that was answered 201 is lost and nothing is stuck', () => {
  it.each([
    ['Postgres', async () => killPostgres(), () => machine.restartPostgres()],
    ['the S3 server', () => machine.objects.kill(), () => machine.objects.start()],
    ['the SQS server, which loses its messages', () => machine.queues.kill(), () => machine.queues.start()],
    ['the api', () => cluster.apis[0]!.kill(), () => cluster.apis[0]!.start()],
    ['the upload-worker', () => cluster.workers[0]!.kill(), () => cluster.workers[0]!.start()],
    ['the janitor', () => cluster.janitors[0]!.kill(), () => cluster.janitors[0]!.start()],
  ])(
    'after kill -9 of %s',
    async (_, kill, start) => {
      await expectNothingLost(async () => {
        await kill();
        await sleep(2000);
        await start();
      });
    },
    300_000,
  );

  it('when the SQS server is wiped while uploads wait in it', async () => {
    await expectNothingLost(async () => {
      cluster.s3.rule({ method: 'PUT' }, { kind: 'hang' });
      await cluster.until(
        () => cluster.queues.counts('uploads'),
        ({ visible, hidden }) => visible + hidden >= 40,
      );
      await machine.queues.kill();
      cluster.s3.clear();
      await machine.queues.start();
    });
  }, 300_000);

  it(`when the S3 server is down for ${OUTAGE_SECONDS} s`, async () => {
    await expectNothingLost(async () => {
      await machine.objects.kill('SIGTERM');
      await sleep(OUTAGE_SECONDS * 1000);
      await machine.objects.start();
    });
  }, 600_000);

  it('when all stops at once and starts in any order', async () => {
    const services = cluster.services;
    await expectNothingLost(async () => {
      killPostgres();
      await Promise.all([
        machine.objects.kill(),
        machine.queues.kill(),
        ...services.map((each) => each.kill()),
      ]);
      const starts = [
        () => machine.restartPostgres(),
        () => machine.objects.start(),
        () => machine.queues.start(),
        ...services.map((service) => () => startAgainAndAgain(service)),
      ];
      const inAnyOrder = starts
        .map((start) => ({ start, at: Math.random() }))
        .toSorted((a, b) => a.at - b.at);
      await Promise.all(
        inAnyOrder.map(async ({ start }, index) => {
          await sleep(index * 1000);
          await start();
        }),
      );
    });
  }, 300_000);

  itWithDisk(
    'when the disk of the S3 server is full for a while',
    async () => {
      await expectNothingLost(async () => {
        const before = cluster.s3.requests.length;
        await disk!.fill();
        const refused = () =>
          cluster.s3.requests
            .slice(before)
            .filter(({ method, status = 0 }) => method === 'PUT' && status >= 400);
        await cluster.until(refused, ({ length }) => length >= 10);
        await disk!.empty();
      });
    },
    300_000,
  );
});

it('checks signatures', async () => {
  const { s3, bucket } = machine.aws;
  expect((await fetch(`${s3}/${bucket}/pastes/x`)).status).toBe(403);
});

it('has the queues that infra/resources.json describes', async () => {
  for (const name of ['uploads', 'jobs', 'uploads-dead-letters', 'jobs-dead-letters'] as const)
    expect(await cluster.queues.counts(name)).toEqual({ visible: 0, hidden: 0 });
});
