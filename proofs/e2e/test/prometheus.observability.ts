import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  isPrometheusRequired,
  Prometheus,
  promtool,
  runOps,
  RUNBOOK,
  selectorsIn,
  startCluster,
  type Cluster,
  type Service,
} from '../src/index.ts';
import { alerts, file, panels } from './support/shipped-alerts.ts';

/** Their label names what is wrong, so that a healthy system has no series of them. */
const ABSENT = ['pasteflow_refused_uploads', 'janitor_refused_rows'];

/** Refuses each connection. */
const NOBODY = 'http://127.0.0.1:1';

interface Status {
  readonly sweeps: readonly { readonly sweep: string; readonly outcome: string; readonly overdue: boolean }[];
  readonly stuck: readonly object[];
}

const [itWithPrometheus, describeWithPrometheus] = isPrometheusRequired()
  ? [it, describe]
  : [it.skip, describe.skip];

describe('the alert rules', () => {
  itWithPrometheus('are accepted by promtool with the configuration of Prometheus', async () => {
    expect(await promtool('check', 'config', file('prometheus/prometheus.yml'))).toMatchObject({ ok: true });
  });

  itWithPrometheus('fire in the cases of their tests, and not otherwise', async () => {
    const folder = file('prometheus/tests');
    const tests = readdirSync(folder).map((name) => join(folder, name));
    const { ok, output } = await promtool('test', 'rules', ...tests);
    expect(ok ? '' : output).toBe('');
    const text = tests.map((path) => readFileSync(path, 'utf8')).join('\n');
    for (const name of alerts)
      expect(text).toMatch(new RegExp(`alertname: ${name}\\n +exp_alerts:\\n +- exp_labels`));
  });
});

describeWithPrometheus('on running services', () => {
  let cluster: Cluster;
  let prometheus: Prometheus;
  let pastes = 0;

  beforeAll(async () => {
    cluster = await startCluster({
      janitors: 2, // each exports the figures of the whole database
      env: {
        MAX_STORED_BYTES: '1000000000',
        MAX_PASTES: '1000000', // the rules of quotas need their series
        WEBHOOK_KEY: 'the key of webhooks in this test',
        WEBHOOK_ORIGINS: NOBODY,
        SWEEP_INTERVALS: 'state-metrics=0.5,measure=0.5,failed-pastes=5,jobs=5,tombstones=5,reconcile=5',
        // By default the daily sweeps run a day after the migration.
      },
    });
    prometheus = await Prometheus.start(configurationFor(cluster));
    await makeTraffic();
    const uploads = 'sum(max by (to) (pasteflow_transitions_total{machine="paste_upload"}))';
    await cluster.until(
      async () => Number((await prometheus.query(uploads))[0]?.value[1]),
      (ended) => ended === pastes,
      { within: 60_000 },
    );
  });
  afterAll(async () => {
    await prometheus?.stop();
    await cluster?.stop();
  });

  it('every query of a panel returns series', async () => {
    const queries = panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr }) => [title, expr.replaceAll('$__rate_interval', '1m')] as const),
    );
    expect(queries.length).toBeGreaterThanOrEqual(panels.length);
    await cluster.until(
      async () => {
        const answers = await Promise.all(
          queries.map(async ([title, query]) => [title, query, await prometheus.query(query)] as const),
        );
        return answers
          .filter(([, , series]) => series.length === 0)
          .map(([title, query]) => `${title}: ${query}`);
      },
      (silent) => silent.length === 0,
      { within: 60_000 },
    );
  });

  it('every rule is evaluated on existing series, and none fires in a healthy system', async () => {
    const rules = await cluster.until(
      () => prometheus.rules(),
      (found) => found.every(({ health }) => health !== 'unknown'),
    );
    expect(rules.map(({ name }) => name).toSorted()).toEqual(alerts.toSorted());
    expect(rules.filter(({ health }) => health !== 'ok')).toEqual([]);
    expect(rules.filter(({ state }) => state === 'firing').map(({ name }) => name)).toEqual([]);
    const named = new Set(rules.flatMap(({ query }) => selectorsIn(query)));
    expect([...named]).toEqual(expect.arrayContaining(ABSENT));
    const selectors = [...named].filter((selector) => !ABSENT.includes(selector));
    expect(selectors.length).toBeGreaterThan(alerts.length);
    // A janitor that reads its figures late, on a busy machine, shows none for a moment.
    await cluster.until(
      async () => {
        const silent: string[] = [];
        for (const selector of selectors)
          if ((await prometheus.query(selector)).length === 0) silent.push(selector);
        return silent;
      },
      (silent) => silent.length === 0,
      { within: 60_000 },
    );
  });

  it('every SQL and PromQL query of the runbook is valid', async () => {
    const blocks = [...readFileSync(RUNBOOK, 'utf8').matchAll(/```(sql|promql)\n([^]*?)```/g)];
    expect(blocks.length).toBeGreaterThan(20);
    for (const [, language, query = ''] of blocks)
      await (language === 'sql' ? cluster.rows.query(query) : prometheus.query(query));
  });

  it('`npm run ops -- status` lists every sweep, and none is overdue', async () => {
    const exported = await prometheus.query('group by (sweep) (janitor_sweep_interval_seconds)');
    const names = exported.map(({ metric }) => metric.sweep ?? '').toSorted();
    const { stuck } = await cluster.until(
      async () => JSON.parse(await runOps(cluster, 'status', '--json')) as Status,
      ({ sweeps }) => {
        const well = sweeps.filter(({ outcome, overdue }) => outcome === 'done' && !overdue);
        expect(well.map(({ sweep }) => sweep).toSorted()).toEqual(names);
      },
    );
    expect(names.length).toBeGreaterThan(0);
    expect(stuck).toEqual([]);
  });

  /** Causes events for each label of the metrics. */
  async function makeTraffic(): Promise<void> {
    const user = await cluster.user('alice');
    cluster.s3.rule({ method: 'PUT', path: /\/pastes\// }, { kind: 'fail', status: 500 }, 2);
    const codes = await Promise.all(
      Array.from(
        { length: 10 },
        async (_, n) => (await cluster.client().pastes.create(`paste ${n}`)).short_code,
      ),
    );
    await user.webhooks.create({ url: `${NOBODY}/`, events: ['job.ended'] });
    const job = await user.jobs.create({
      job_type: 'import',
      parameters: { items: [{ content: 'imported' }] },
    });
    await user.jobs.wait(job.job_id);
    pastes = codes.length + 1;
    for (const code of codes) {
      await cluster.untilStatus(code, 'PROCESSED');
      expect((await cluster.http().read(code)).status).toBe(200);
    }
    await cluster.postgres.down();
    expect((await cluster.http().post('while Postgres is unavailable')).status).toBe(503);
    await cluster.postgres.up();
  }
});

/** The shipped configuration with the services of this cluster as targets, and with intervals of 1 s. */
function configurationFor(cluster: Cluster): string {
  const targets = (services: readonly Service[]) =>
    services.map(({ metricsUrl }) => new URL(metricsUrl).host);
  const found = {
    api: targets(cluster.apis),
    'upload-worker': targets(cluster.workers),
    janitor: targets(cluster.janitors),
  };
  const jobs: string[] = [];
  const text = readFileSync(file('prometheus/prometheus.yml'), 'utf8')
    .replaceAll(/(scrape_interval|scrape_timeout|evaluation_interval): \w+/g, '$1: 1s')
    .replace('rule_files: [', `rule_files: [${file('prometheus')}/`)
    .replaceAll(/job_name: (\S+)\n( +)dns_sd_configs: .*/g, (_, job: keyof typeof found, indent: string) => {
      jobs.push(job);
      return `job_name: ${job}\n${indent}static_configs: [{ targets: ${JSON.stringify(found[job])} }]`;
    });
  expect(jobs).toEqual(Object.keys(found));
  return text;
}
