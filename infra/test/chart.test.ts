import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import {
  buildHelm,
  canBuildHelm,
  configurations,
  lint,
  manifests,
  manifestsFile,
  render,
  renderPacked,
} from '../kubernetes/helm.ts';
import { finder, manifestsOf, validate } from './support/manifests.ts';

const objects = (configuration: string, ...options: string[]) =>
  manifestsOf(render(configuration, ...options));
const found = (configuration: string, ...options: string[]) => finder(objects(configuration, ...options));

(canBuildHelm() ? describe : describe.skip)('the chart, by the real helm,', () => {
  beforeAll(() => {
    buildHelm();
  }, 1_200_000);

  test.each(configurations)('is linted and rendered for %s, strictly valid', (configuration) => {
    lint(configuration);
    const all = objects(configuration);
    validate(all);
    for (const { metadata } of all) expect(metadata.namespace).toBe('pasteflow');
  });

  test('is linted and rendered in six configurations', () => {
    expect(configurations).toEqual(['eks', 'gateway', 'job', 'operator', 'own-s3', 'traefik']);
  });

  test('makes the manifests of the repository', () => {
    expect(readFileSync(manifestsFile, 'utf8')).toBe(manifests());
  });

  test('is packed with the files that are links here', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pasteflow-chart-'));
    try {
      expect(renderPacked('operator', folder)).toBe(render('operator'));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('migrates before everything else, with objects that a first installation does not have yet', () => {
    const hooks = objects('eks').filter(({ metadata }) => 'helm.sh/hook' in (metadata.annotations ?? {}));
    const weights = hooks.map(({ kind, metadata }) => [
      kind,
      metadata.name,
      metadata.annotations?.['helm.sh/hook'],
      metadata.annotations?.['helm.sh/hook-weight'],
    ]);
    const hook = 'pre-install,pre-upgrade';
    expect(weights).toEqual([
      ['NetworkPolicy', 'pasteflow-migrate', hook, '-10'],
      ['ServiceAccount', 'pasteflow-migrate', hook, '-10'],
      ['Job', 'pasteflow-migrate', hook, '0'],
    ]);
    const job = hooks.at(-1)?.spec.template.spec;
    expect(JSON.stringify(job)).not.toContain('configMap');
    expect(job?.containers[0]?.env).toContainEqual({
      name: 'NODE_EXTRA_CA_CERTS',
      value: '/app/certificates/rds.pem',
    });
  });

  test('without hooks, another release is another Job, and the same one the same', () => {
    const name = (...options: string[]) =>
      objects('job', ...options).find(({ kind }) => kind === 'Job')?.metadata.name;
    expect(name()).toBe(name());
    expect(name('--set', 'image.tag=0.3.0')).not.toBe(name());
  });

  test('leads requests to the api by an Ingress of any class, or by an HTTPRoute', () => {
    expect(found('eks')('Ingress', 'api')?.spec).toMatchObject({
      ingressClassName: 'alb',
      tls: [{ hosts: ['paste.acme.dev'] }],
    });
    expect(found('traefik')('Ingress', 'api')?.spec).toMatchObject({
      ingressClassName: 'nginx',
      rules: [{ host: 'paste.acme.dev' }],
      tls: [{ secretName: 'paste-acme-dev' }],
    });
    const gateway = found('gateway');
    expect(gateway('HTTPRoute', 'api')?.spec).toMatchObject({
      parentRefs: [{ name: 'public', namespace: 'gateways', sectionName: 'https' }],
      hostnames: ['paste.acme.dev'],
      rules: [{ backendRefs: [{ name: 'pasteflow-api', port: 80 }], timeouts: { request: '0s' } }],
    });
    expect(gateway('Ingress', 'api')).toBeUndefined();
  });

  test('keeps a pod of the api that goes for as long as its balancer needs, and never stops it in the middle', () => {
    const goes = (configuration: string) =>
      found(configuration)('Deployment', 'api')?.spec.template.spec as unknown as object;
    const drained = (seconds: number) => ({
      terminationGracePeriodSeconds: seconds + 25,
      containers: [{ lifecycle: { preStop: { sleep: { seconds } } } }],
    });
    expect(goes('eks')).toMatchObject(drained(60));
    expect(goes('traefik')).toMatchObject(drained(5));
  });

  test('has the alert rules of infra/observability, for pods under the job names of these rules', () => {
    const find = found('operator');
    const rules = new URL('../observability/prometheus/rules/pasteflow.yml', import.meta.url);
    expect(find('PrometheusRule', 'alerts')?.spec).toEqual(parse(readFileSync(rules, 'utf8')));
    expect(find('PodMonitor', 'services')).toMatchObject({
      metadata: { labels: { release: 'prometheus' } },
      spec: { jobLabel: 'app.kubernetes.io/component', podMetricsEndpoints: [{ port: 'metrics' }] },
    });
    const api = find('Deployment', 'api')?.spec.template.metadata;
    expect(api).toMatchObject({ labels: { 'app.kubernetes.io/component': 'api' } });
    expect(Object.keys(api?.annotations ?? {})).toEqual(['pasteflow.io/configuration']);
    expect(found('eks')('Deployment', 'api')?.spec.template.metadata.annotations).toMatchObject({
      'prometheus.io/port': '9464',
    });
  });

  test('lets KEDA scale the workers on their queues, and otherwise has a number of them', () => {
    const find = found('eks');
    const metadata = { awsRegion: 'eu-central-1', scaleOnInFlight: 'false' };
    expect(find('ScaledObject', 'upload-worker')?.spec).toMatchObject({
      scaleTargetRef: { name: 'pasteflow-upload-worker' },
      triggers: [
        { metadata: { ...metadata, queueURL: 'pasteflow-uploads', queueLength: '500' } },
        { metadata: { ...metadata, queueURL: 'pasteflow-jobs', queueLength: '4' } },
      ],
    });
    expect(find('Deployment', 'upload-worker')?.spec.replicas).toBeUndefined();
    expect(found('gateway')('Deployment', 'upload-worker')?.spec.replicas).toBe(4);
  });

  test('mounts the house and job types into the api and the worker, file by file, and other ones make other pods', () => {
    const find = found('job');
    for (const service of ['api', 'upload-worker']) {
      const [container] = find('Deployment', service)?.spec.template.spec.containers ?? [];
      expect(container?.env).toContainEqual({ name: 'HOUSE', value: '/etc/pasteflow/house.json' });
      expect(container?.env).toContainEqual({ name: 'JOB_TYPES', value: '/etc/pasteflow/job-types.mts' });
      expect(container?.volumeMounts?.map(({ mountPath, subPath }) => [mountPath, subPath])).toEqual(
        ['house.json', 'job-types.mts', 'logo.svg'].map((file) => [`/etc/pasteflow/${file}`, file]),
      );
    }
    expect(find('Deployment', 'janitor')?.spec.template.spec.containers[0]?.volumeMounts).toBeUndefined();
    const { data } = find('ConfigMap', 'files') ?? {};
    expect(JSON.parse(data?.['house.json'] ?? '')).toMatchObject({
      expiry: { default: 604_800, max: 31_536_000, never: false },
    });
    const mark = (one: typeof find) =>
      one('Deployment', 'api')?.spec.template.metadata.annotations['pasteflow.io/configuration'];
    expect(mark(found('job', '--set', 'house.name=Other'))).not.toBe(mark(find));
    expect(mark(found('job', '--set', 'keda.enabled=true'))).toBe(mark(find));
  });

  test('takes the Secrets that values name, and keys of S3 where no role gives them', () => {
    const find = found('own-s3');
    expect(find('Deployment', 'upload-worker')?.spec.template.spec.containers[0]?.envFrom).toEqual([
      { configMapRef: { name: 'pasteflow-settings' } },
      { secretRef: { name: 'db-worker' } },
      { secretRef: { name: 'pasteflow-webhooks', optional: true } },
      { secretRef: { name: 'garage-keys' } },
    ]);
    expect(find('Deployment', 'api')?.spec.template.spec.containers[0]?.env).toContainEqual({
      name: 'S3_PUBLIC_ENDPOINT',
      value: 'https://objects.acme.dev',
    });
  });

  test('mounts certificates of authorities of its own into every pod, also that of the migration', () => {
    const pods = objects('own-s3').filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
    expect(pods).toHaveLength(4);
    for (const { spec } of pods) {
      const [container] = spec.template.spec.containers;
      expect(container?.env).toContainEqual({ name: 'NODE_EXTRA_CA_CERTS', value: '/etc/pasteflow/ca.crt' });
      expect(container?.volumeMounts).toContainEqual(
        expect.objectContaining({
          name: 'certificates',
          mountPath: '/etc/pasteflow/ca.crt',
          subPath: 'ca.crt',
        }),
      );
      expect(spec.template.spec).toMatchObject({
        volumes: [{ name: 'certificates', configMap: { name: 'acme-authorities' } }],
      });
    }
  });

  test('lets KEDA ask the SQS that the workers ask, with their keys', () => {
    const find = found('own-s3');
    expect(find('TriggerAuthentication', 'upload-worker')?.spec).toEqual({
      secretTargetRef: [
        { parameter: 'awsAccessKeyID', name: 'garage-keys', key: 'AWS_ACCESS_KEY_ID' },
        { parameter: 'awsSecretAccessKey', name: 'garage-keys', key: 'AWS_SECRET_ACCESS_KEY' },
      ],
    });
    const awsEndpoint = 'http://elasticmq.storage:9324';
    expect(find('ScaledObject', 'upload-worker')?.spec).toMatchObject({
      triggers: [{ metadata: { awsEndpoint } }, { metadata: { awsEndpoint } }],
    });
  });

  test('takes what settings say about proxies, and other spread constraints of a pod', () => {
    const spread = 'api.pod.topologySpreadConstraints=[{"maxSkew":2}]';
    const find = found('operator', '--set-string', 'settings.TRUST_PROXY=2', '--set-json', spread);
    expect(find('ConfigMap', 'settings')?.data).toMatchObject({ TRUST_PROXY: '2' });
    const pod = find('Deployment', 'api')?.spec.template.spec;
    expect(JSON.stringify(pod)).not.toContain('TRUST_PROXY');
    expect(pod).toMatchObject({ topologySpreadConstraints: [{ maxSkew: 2 }] });
  });

  test('admits nothing but requests from the entrance and scrapes, and reaches only the named ports', () => {
    const find = found('traefik');
    expect(find('NetworkPolicy', 'requests')?.spec['ingress']).toEqual([
      {
        from: [
          {
            namespaceSelector: { matchLabels: { 'pasteflow.io/ingress': 'true' } },
            podSelector: { matchLabels: { 'app.kubernetes.io/name': 'traefik' } },
          },
        ],
        ports: [{ protocol: 'TCP', port: 'http' }],
      },
    ]);
    const ports = (configuration: string) => {
      const rules = found(configuration)('NetworkPolicy', 'services')?.spec['egress'] ?? [];
      return (rules as { ports: { port: number }[] }[]).flatMap((rule) => rule.ports.map(({ port }) => port));
    };
    expect(ports('traefik')).toEqual([53, 53, 5432, 443, 4318]);
    expect(ports('job')).toEqual([53, 53, 5432, 443, 4318, 8443]);
    expect(objects('own-s3').filter(({ kind }) => kind === 'NetworkPolicy')).toEqual([]);
  });

  test.each([
    [
      'settings.PUBLIC_URL=https://paste.example.org',
      'still have what the examples have: settings.PUBLIC_URL',
    ],
    ['image.repository=CHANGE_ME', 'still have what the examples have: image.repository'],
    [
      'api.serviceAccount.annotations.role=arn:aws:iam::111111111111:role/x',
      'api.serviceAccount.annotations.role',
    ],
    ['house.links.imprint=https://example.com/imprint', 'house.links.imprint'],
    ['image.repository=', 'image.repository is empty'],
    ['settings.AWS_REGION=', 'settings.AWS_REGION is empty'],
    ['settings.PUBLIC_URL=http://paste.acme.dev', 'PUBLIC_URL is no https URL'],
    ['ingress.enabled=true,settings.PUBLIC_URL=https://acme.dev/paste', 'PUBLIC_URL has a path'],
    ['settings.PUBLIC_URL=https://Paste.acme.dev', 'capital letters'],
    ['route.enabled=true', 'route.parentRefs is empty'],
    ['route.enabled=true,route.parentRefs[0].name=x,ingress.enabled=true', 'enable one'],
    ['house.logo=logo.png,houseLogo=<svg/>', 'house.logo is "logo.svg"'],
    ['house.logo=logo.svg', 'house.logo and houseLogo belong together'],
    ['certificates=ours,settings.NODE_EXTRA_CA_CERTS=/x', 'NODE_EXTRA_CA_CERTS is set by the chart'],
    ['api.autoscaling.minReplicas=13', 'api.autoscaling.minReplicas is above api.autoscaling.maxReplicas'],
    ['keda.minReplicas=21', 'keda.minReplicas is above keda.maxReplicas'],
    ['janitor.pod.securityContext.fsGroup=1', 'janitor.pod: securityContext is set by the chart'],
    ['api.settings.OIDC_CLIENT_SECRET=x', 'OIDC_CLIENT_SECRET is a secret'],
    ['settings.HOUSE=/house.json', 'HOUSE is set by the chart'],
    ['settings.LOG_LEVELS=info', 'no service reads LOG_LEVELS'],
    ['upload-worker.settings.FEEDS=x', 'no service reads FEEDS'],
    ['settings.DATABASE_POOL_SIZE=10', "at '/settings/DATABASE_POOL_SIZE': got number, want string"],
    ['image.repository=registry.acme.dev/pasteflow:1.0', "at '/image/repository'"],
    ['api.resources.limits.memory=1GiB', "at '/api/resources/limits/memory'"],
    ['api.resources.limit.memory=1Gi', "additional properties 'limit' not allowed"],
    ['janitor.resources.limits.memory=null', "missing property 'memory'"],
    ['secrets.webhooks=null', "missing property 'webhooks'"],
    ['house.expiry.maximum=60', "at '/house/expiry': additional properties 'maximum' not allowed"],
    ['ingres.enabled=true', "additional properties 'ingres' not allowed"],
  ])('refuses %s with words', (value, words) => {
    expect(() => render('operator', '--set', value)).toThrow(words);
  });
});
