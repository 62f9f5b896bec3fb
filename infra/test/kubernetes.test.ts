import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { configurations } from '../aws/configurations.ts';
import { chartDigest, manifestsFile } from '../kubernetes/helm.ts';
import { readResources } from '../resources.ts';
import { finder, manifestsOf, validate } from './support/manifests.ts';

/*
 * What the chart makes of one configuration, looked at without helm, which takes minutes to build: chart.test.ts has the others.
 */
const text = readFileSync(manifestsFile, 'utf8');
const manifests = manifestsOf(text);
const find = finder(manifests);

test('the manifests are of this chart: `npm run manifests` makes them anew', () => {
  expect(text.split('\n', 1)[0]).toContain(chartDigest());
});

test('every manifest is valid by the schemas of Kubernetes, without unknown fields', () => {
  validate(manifests);
  const [first] = manifests;
  expect(() => validate([{ ...first, colour: 'red' } as never])).toThrow('colour');
});

describe.each(['api', 'upload-worker', 'janitor'])('%s', (name) => {
  const deployment = find('Deployment', name);
  const pod = deployment?.spec.template.spec;

  test('has no root, no writable file system, no capabilities, no token, and a limit of memory', () => {
    expect(pod?.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    expect(pod?.automountServiceAccountToken).toBe(false);
    expect(pod?.enableServiceLinks).toBe(false); // a release called api would give API_PORT=tcp://…
    for (const container of pod?.containers ?? []) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.resources).toMatchObject({
        limits: { memory: expect.any(String) },
        requests: { cpu: expect.any(String) },
      });
      expect(container.resources.limits).not.toHaveProperty('cpu'); // throttled, a worker would miss heartbeats
    }
  });

  test('is alive while its process answers, and gets requests only while it is ready', () => {
    expect(pod?.containers[0]?.livenessProbe).toMatchObject({ httpGet: { path: '/healthz' } });
    expect(pod?.containers[0]?.readinessProbe).toMatchObject({ httpGet: { path: '/readyz' } });
  });

  test('has its own disruption budget, which never keeps a node: neither its only pod nor one that is not ready', () => {
    const { selector, ...budget } = find('PodDisruptionBudget', name)?.spec ?? {};
    expect(selector).toEqual(deployment?.spec.selector);
    expect(budget).toEqual({
      maxUnavailable: name === 'upload-worker' ? '25%' : 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    });
  });
});

test('no manifest asks for an architecture, so that nodes of either run the images', () => {
  expect(text).not.toMatch(/nodeSelector|nodeAffinity|amd64|arm64/);
});

test('there are two janitors, and the api, which its autoscaler scales, has no number of replicas', () => {
  expect(find('Deployment', 'janitor')?.spec.replicas).toBe(2);
  expect(find('Deployment', 'api')?.spec.replicas).toBeUndefined();
  expect(find('HorizontalPodAutoscaler', 'api')?.spec).toMatchObject({
    scaleTargetRef: { name: 'pasteflow-api' },
  });
});

const migration = manifests.find(({ kind }) => kind === 'Job');

test('each service has a database Secret of its own, and only the migration has no other', () => {
  const secretsOf = (pod = find('Deployment', 'api')) =>
    pod?.spec.template.spec.containers[0]?.envFrom.flatMap(({ secretRef }) => secretRef ?? []);
  const optional = true;
  expect(secretsOf()).toEqual([
    { name: 'pasteflow-database-api' },
    { name: 'pasteflow-webhooks', optional },
    { name: 'pasteflow-oidc', optional },
  ]);
  expect(secretsOf(find('Deployment', 'upload-worker'))).toEqual([
    { name: 'pasteflow-database-upload-worker' },
    { name: 'pasteflow-webhooks', optional },
  ]);
  expect(secretsOf(find('Deployment', 'janitor'))).toEqual([
    { name: 'pasteflow-database-janitor' },
    { name: 'pasteflow-webhooks', optional },
    { name: 'pasteflow-ops', optional },
  ]);
  expect(secretsOf(migration)).toEqual([{ name: 'pasteflow-database-migrate' }]);
});

test('the operations page is reached by a port-forward alone', () => {
  const [janitor] = find('Deployment', 'janitor')?.spec.template.spec.containers ?? [];
  expect(janitor?.env).toEqual([
    { name: 'OPS_HOST', value: '127.0.0.1' },
    { name: 'OPS_PORT', value: '9467' },
  ]);
  expect(janitor?.ports).toEqual([{ name: 'metrics', containerPort: 9466 }]);
});

test('each container has its entry in args', () => {
  for (const name of ['api', 'upload-worker', 'janitor'])
    expect(find('Deployment', name)?.spec.template.spec.containers[0]?.args).toEqual(['dist/main.js']);
  expect(migration?.spec.template.spec.containers[0]?.args).toEqual(['dist/migrate-main.js']);
});

test('without hooks the migration and all that it needs can be applied first', () => {
  const prepared = manifests.filter(({ metadata }) => metadata.labels['pasteflow.io/step'] === 'prepare');
  expect(prepared.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual(
    [
      `Job ${migration?.metadata.name}`,
      'ConfigMap pasteflow-settings',
      ...['migrate', 'requests', 'services'].map((name) => `NetworkPolicy pasteflow-${name}`),
      ...['api', 'janitor', 'migrate', 'upload-worker'].map((name) => `ServiceAccount pasteflow-${name}`),
    ].toSorted(),
  );
  expect(manifests.flatMap(({ metadata }) => Object.keys(metadata.annotations ?? {}))).toEqual([]);
});

test('URLs of archives expire before the credentials that signed them', () => {
  expect(find('ConfigMap', 'settings')?.data).toMatchObject({ ASSET_URL_SECONDS: '300' });
});

test('the bucket and queues have the names of resources.json', () => {
  const { bucket, queues } = readResources();
  expect(find('ConfigMap', 'settings')?.data).toMatchObject({
    S3_BUCKET: bucket.name,
    UPLOAD_QUEUE_NAME: queues.uploads.name,
    JOB_QUEUE_NAME: queues.jobs.name,
  });
});

test('workers are scaled on the same backlogs as on AWS', () => {
  const { keda } = parse(
    readFileSync(new URL('../kubernetes/chart/values.yaml', import.meta.url), 'utf8'),
  ) as {
    keda: object;
  };
  const { backlogPerTask, jobsPerTask } = configurations.production.uploadWorker;
  expect(keda).toMatchObject({ uploadsPerWorker: backlogPerTask, jobsPerWorker: jobsPerTask });
});

test('values may have every rule of the house that docs/deploy.md has, and no other', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const [, example = ''] =
    /^## Rules of the house$.*?^```json\n(.*?)^```$/ms.exec(read('../../docs/deploy.md')) ?? [];
  const { properties } = JSON.parse(read('../kubernetes/chart/values.schema.json')) as {
    properties: { house: Section };
  };
  interface Section {
    readonly properties?: Readonly<Record<string, Section>>;
  }
  const ofSchema = ({ properties: inner = {} }: Section): object =>
    Object.fromEntries(Object.entries(inner).map(([key, each]) => [key, ofSchema(each)]));
  const ofExample = (value: unknown): object =>
    typeof value === 'object'
      ? Object.fromEntries(Object.entries(value ?? {}).map(([key, each]) => [key, ofExample(each)]))
      : {};
  expect(ofSchema(properties.house)).toEqual(ofExample(JSON.parse(example)));
});

test('every setting has a name of .env.example, or is one of job types', () => {
  const known = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  const names = manifests.flatMap(({ kind, data, spec }) => [
    ...(kind === 'ConfigMap' && 'PUBLIC_URL' in data ? Object.keys(data) : []),
    ...(spec?.template?.spec.containers ?? []).flatMap(({ env = [] }) => env.map(({ name }) => name)),
  ]);
  expect(names).toEqual(expect.arrayContaining(['S3_BUCKET', 'HOUSE', 'JOB_TYPES', 'TRUST_PROXY']));
  expect(new Set(names.filter((name) => !known.includes(`\n# ${name}=`)))).toEqual(new Set(['FEEDS']));
});
