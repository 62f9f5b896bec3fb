import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

const root = (path: string) => new URL(`../../${path}`, import.meta.url).pathname;
const read = (path: string): unknown => parse(readFileSync(root(path), 'utf8'), { merge: true });

const { services } = read('docker-compose.yml') as {
  services: Record<string, { command?: string[]; volumes?: string[]; environment?: Record<string, string> }>;
};
/** The content of a path in the container of a service, by the mounts of the compose file. */
function inContainer(service: string, path: string): string | undefined {
  const mounts = (services[service]?.volumes ?? []).map((volume) => volume.split(':'));
  const mount = mounts.find(([source, target]) => source?.startsWith('./') && path.startsWith(target ?? ' '));
  return mount === undefined ? undefined : path.replace(mount[1] ?? '', (mount[0] ?? '').slice('./'.length));
}

describe('the profile `observability` of docker compose', () => {
  test('has a Prometheus that scrapes each service on the port of its image', () => {
    const file = inContainer('prometheus', '/etc/prometheus/prometheus.yml') ?? '';
    const { scrape_configs: jobs } = read(file) as {
      scrape_configs: { job_name: string; dns_sd_configs: { names: string[]; port: number }[] }[];
    };
    expect(jobs.map(({ job_name }) => job_name)).toEqual(['api', 'upload-worker', 'janitor']);
    const dockerfile = readFileSync(root('Dockerfile'), 'utf8');
    for (const { job_name, dns_sd_configs } of jobs) {
      expect(dns_sd_configs).toMatchObject([{ names: [job_name] }]);
      const [, exposed = ''] =
        new RegExp(`^FROM runtime AS ${job_name}$[^]*?^EXPOSE (.+)$`, 'm').exec(dockerfile) ?? [];
      expect(exposed.split(' ')).toContain(String(dns_sd_configs[0]?.port));
    }
  });

  test('has a Grafana with its data source and dashboard', () => {
    const provisioning = '/etc/grafana/provisioning';
    const { datasources } = read(
      inContainer('grafana', `${provisioning}/datasources/prometheus.yml`) ?? '',
    ) as { datasources: { url: string; type: string }[] };
    expect(datasources).toMatchObject([{ type: 'prometheus', url: 'http://prometheus:9090' }]);
    expect(Object.keys(services)).toContain('prometheus');
    const { providers } = read(inContainer('grafana', `${provisioning}/dashboards/pasteflow.yml`) ?? '') as {
      providers: { options: { path: string } }[];
    };
    const folder = inContainer('grafana', providers[0]?.options.path ?? '');
    expect(JSON.parse(readFileSync(root(`${folder}/pasteflow.json`), 'utf8'))).toMatchObject({
      uid: 'pasteflow',
    });
  });

  test('has a collector that accepts the spans of the services, with valid pipelines', () => {
    const [argument = ''] = services['otel-collector']?.command ?? [];
    const config = read(inContainer('otel-collector', argument.replace('--config=', '')) ?? '') as {
      receivers: { otlp: { protocols: { http: { endpoint: string } } } };
      service: { pipelines: { traces: Record<'receivers' | 'processors' | 'exporters', string[]> } };
    } & Record<'receivers' | 'processors' | 'exporters', Record<string, object>>;
    expect(config.receivers.otlp.protocols.http.endpoint).toBe('0.0.0.0:4318');
    for (const kind of ['receivers', 'processors', 'exporters'] as const)
      expect(Object.keys(config[kind])).toEqual(
        expect.arrayContaining(config.service.pipelines.traces[kind]),
      );
    for (const name of ['api', 'upload-worker', 'janitor'])
      expect(services[name]?.environment).toHaveProperty('OTEL_EXPORTER_OTLP_ENDPOINT');
  });
});
