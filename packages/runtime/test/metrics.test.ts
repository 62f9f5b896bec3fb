import { describe, expect, it } from '@jest/globals';
import { instanceId, Metrics } from '../src/index.ts';

describe('metrics', () => {
  it('carry the service beside their own labels', async () => {
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

  it('of two services in one process stay apart', async () => {
    const name = { name: 'x_total', help: 'X' };
    new Metrics('a', { process: false }).counter(name).inc();
    const other = new Metrics('b', { process: false });
    other.counter(name);
    expect(await other.text()).toContain('x_total{service="b"} 0');
  });

  it('include those of the process unless told otherwise', async () => {
    expect(await new Metrics('api').text()).toContain('process_cpu_seconds_total{service="api"}');
    expect(await new Metrics('api', { process: false }).text()).not.toContain('process_');
  });
});

describe('the instance id', () => {
  it('names service, host and process, and differs each time', () => {
    expect(instanceId('api')).toMatch(new RegExp(`^api/.+-${process.pid}-[0-9a-f]{4}$`));
    expect(new Set(Array.from({ length: 20 }, () => instanceId('api'))).size).toBeGreaterThan(1);
  });
});
