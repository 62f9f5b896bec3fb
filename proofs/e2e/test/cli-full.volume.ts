import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { startCluster, type Cluster } from '../src/index.ts';
import { BuiltCli, type CliOptions, NOTHING_BUT_WAITS } from './support/packed-cli.ts';

jest.setTimeout(240_000); // on a busy machine a process takes seconds to start

const MIB = 1_048_576;

let cluster: Cluster;
let cli: BuiltCli;
beforeAll(async () => {
  // A caller may have a body of 1 MiB in flight, and no second one.
  const env = {
    MAX_PASTE_BYTES: String(MIB),
    MAX_BODY_BYTES_IN_FLIGHT: String(3 * MIB),
    MAX_OPEN_JOBS_PER_USER: '1',
  };
  [cluster, cli] = await Promise.all([startCluster({ env }), BuiltCli.build()]);
});
afterAll(async () => {
  await cluster?.stop();
  await cli?.remove();
});

const port = () => Number(cluster.apis[0]!.env.API_PORT);
const options = (token?: string): CliOptions => ({
  server: `http://127.0.0.1:${port()}`,
  ...(token !== undefined && { token }),
});

/** Waits until the api has refused a request with this code. */
const untilRefused = (code: string) =>
  cluster.until(() => cluster.apis[0]!.log.some((line) => line.message === 'request' && line.code === code));

it('pasteflow waits while the api has no room for a body, and then sends it once', async () => {
  const file = join(cli.folder, 'large');
  const content = randomBytes(MIB);
  await writeFile(file, content);
  const other = connect(port(), '127.0.0.1');
  other.on('error', () => {});
  other.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${MIB}\r\n\r\n`);
  other.write(Buffer.alloc(MIB - 1));
  const { ended } = cli.start(['put', '--json', file], options());
  await untilRefused('overloaded');
  other.destroy();
  const { code, stdout, stderr } = await ended;
  expect([code, stderr]).toEqual([0, expect.stringMatching(NOTHING_BUT_WAITS)]);
  const { short_code: shortCode } = JSON.parse(stdout) as { short_code: string };
  expect(content.equals(await (await cluster.client().pastes.content(shortCode)).bytes())).toBe(true);
  expect(await cluster.rows.query('SELECT FROM pastes')).toHaveLength(1);
});

it('pasteflow waits while a user has too many open jobs, and then starts its own', async () => {
  const dora = await cluster.user('dora');
  const source = await dora.pastes.create('{"content":"x"}\n', { wait: true });
  const reading = cluster.s3.hold({ method: 'GET', path: cluster.objectPath(source.short_code) });
  await dora.jobs.create({ job_type: 'import', parameters: { source_short_code: source.short_code } });
  const held = await reading; // the first job runs
  const { ended } = cli.start(['export', '-o', join(cli.folder, 'all.zip')], options(dora.token));
  await untilRefused('rate_limited');
  await held.forward();
  const stderr = expect.stringMatching(NOTHING_BUT_WAITS);
  expect(await ended).toMatchObject({ code: 0, stderr, stdout: `${join(cli.folder, 'all.zip')}\n` });
  expect((await dora.jobs.list().page()).items.map(({ status }) => status)).toEqual([
    'completed',
    'completed',
  ]);
});
