import { describe, expect, it } from '@jest/globals';
import { instanceId, Metrics, registerPoolMetrics } from '../src/index.ts';

describe('metrics', () => {
  it('have a label for the service besides their own labels', async () => {
    const metrics = new Metrics('janitor', { process: false });
    const sweeps = metrics.counter({ name: 'sweeps_total', help: 'Sweeps run', labels: ['sweep'] });
    metrics.gauge({ name: 'open', help: 'Open' }).set(2);
    metrics.histogram({ name: 'sweep_seconds', help: 'Time', buckets: [1, 2] }).observe(1.5);
    sweeps.inc({ sweep: 'relay' });
    sweeps.inc({ sweep: 'relay' });
    const text = await metrics.text();
    expect(text).toContain('sweeps_total{sweep="relay",service="janitor"} 2');
    expect(text).toContain('open{service="janitor"} 2');
    expect(text).toContain('sweep_seconds_bucket{le="2",service="janitor"} 1');
  });

  it('can be computed when they are read', async () => {
    const metrics = new Metrics('janitor', { process: false });
    let waiting = 1;
    metrics.computed({ type: 'gauge', name: 'waiting', help: 'W', labels: ['queue'] }, () => [
      { labels: { queue: 'a' }, value: waiting },
    ]);
    metrics.computed({ type: 'histogram', name: 'took_seconds', help: 'T' }, () => [
      { suffix: '_bucket', labels: { le: '+Inf' }, value: 2 },
      { suffix: '_sum', value: 0.5 },
      { suffix: '_count', value: 2 },
    ]);
    waiting = 3;
    const text = await metrics.text();
    expect(text).toContain('# TYPE waiting gauge\nwaiting{queue="a",service="janitor"} 3');
    expect(text).toContain(
      '# TYPE took_seconds histogram\ntook_seconds_bucket{le="+Inf",service="janitor"} 2',
    );
    expect(text).toContain(
      'took_seconds_sum{service="janitor"} 0.5\ntook_seconds_count{service="janitor"} 2',
    );
  });

  it('show the sums over all pools of a process', async () => {
    const metrics = new Metrics('janitor', { process: false });
    registerPoolMetrics(metrics, () => [
      { idle: 1, used: 2, waiting: 4, max: 8 },
      { idle: 16, used: 32, waiting: 64, max: 128 },
    ]);
    const text = await metrics.text();
    expect(text).toContain('postgres_pool_connections{state="idle",service="janitor"} 17');
    expect(text).toContain('postgres_pool_connections{state="used",service="janitor"} 34');
    expect(text).toContain('postgres_pool_waiting{service="janitor"} 68');
    expect(text).toContain('postgres_pool_max{service="janitor"} 136');
  });

  it('of two services in one process are separate', async () => {
    const name = { name: 'x_total', help: 'X' };
    new Metrics('a', { process: false }).counter(name).inc();
    const other = new Metrics('b', { process: false });
    other.counter(name);
    expect(await other.text()).toContain('x_total{service="b"} 0');
  });

  it('include the metrics of the Node process by default', async () => {
    expect(await new Metrics('api').text()).toContain('process_cpu_seconds_total{service="api"}');
    expect(await new Metrics('api', { process: false }).text()).not.toContain('process_');
  });
});

describe('the instance id', () => {
  it('names service, host and process, and is different each time', () => {
    expect(instanceId('api')).toMatch(new RegExp(`^api/.+-${process.pid}-[0-9a-f]{4}$`));
    expect(new Set(Array.from({ length: 20 }, () => instanceId('api'))).size).toBeGreaterThan(1);
  });
});
