import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { ScaledObject, TriggerAuthentication } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { configurations } from '../aws/configurations.ts';
import { readResources } from '../resources.ts';

const folder = new URL('../kubernetes/', import.meta.url).pathname;

interface Container {
  readonly args: string[];
  readonly securityContext: object;
  readonly readinessProbe?: object;
  readonly livenessProbe?: object;
  readonly resources: { limits: object; requests: object };
  readonly env?: readonly object[];
  readonly ports?: readonly object[];
  readonly envFrom: { secretRef?: { name: string } }[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data: Record<string, string>;
  readonly spec: {
    readonly replicas?: number;
    readonly template: {
      spec: {
        containers: Container[];
        securityContext: object;
        automountServiceAccountToken: boolean;
        enableServiceLinks: boolean;
      };
    };
    readonly selector: { matchLabels: object };
    readonly triggers: { metadata: Record<string, string> }[];
    readonly egress: { ports: { port: number }[] }[];
    readonly ingress: { from: object[] }[];
  };
}

const base = parse(readFileSync(`${folder}base/kustomization.yaml`, 'utf8')) as { resources: string[] };
const files = [...base.resources.map((name) => `base/${name}`), 'example/ingress.yaml'];
const read = (file: string) =>
  parseAllDocuments(readFileSync(folder + file, 'utf8')).map((document) => document.toJS() as Manifest);
const manifests = files.flatMap(read);
const keda = read('keda/upload-worker.yaml');
const find = (kind: string, name: string) =>
  manifests.find((each) => each.kind === kind && each.metadata.name === name);

// The sleep of preStop exists since 1.30.
test.each(['1.31', '1.34'])(
  'every manifest is valid by the schemas of Kubernetes %s, without unknown fields',
  (version) => {
    const validate = new URL('../node_modules/.checks/bin/kubernetes-validate', import.meta.url).pathname;
    const paths = files.map((file) => folder + file);
    const { status, stdout, stderr } = spawnSync(validate, ['--strict', '--quiet', '-k', version, ...paths], {
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  },
);

describe('KEDA', () => {
  test('accepts its two objects', () => {
    const [authentication, scaled] = keda;
    new TriggerAuthentication(authentication as never).validate();
    new ScaledObject(scaled as never).validate();
  });

  test('scales the worker on the same queues and backlogs as on AWS', () => {
    const { queues } = readResources();
    const { backlogPerTask, jobsPerTask } = configurations.production.uploadWorker;
    expect(keda[1]?.spec.triggers.map(({ metadata }) => metadata)).toMatchObject([
      { queueURL: queues.uploads.name, queueLength: String(backlogPerTask), scaleOnInFlight: 'false' },
      { queueURL: queues.jobs.name, queueLength: String(jobsPerTask), scaleOnInFlight: 'false' },
    ]);
  });
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
    expect(pod?.enableServiceLinks).toBe(false); // a Service called api would give API_PORT=tcp://…
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
    }
  });

  test('is alive while its process answers, and gets requests only while it is ready', () => {
    expect(pod?.containers[0]?.livenessProbe).toMatchObject({ httpGet: { path: '/healthz' } });
    expect(pod?.containers[0]?.readinessProbe).toMatchObject({ httpGet: { path: '/readyz' } });
  });

  test('has its own disruption budget', () => {
    expect(find('PodDisruptionBudget', name)?.spec.selector).toEqual(deployment?.spec.selector);
  });
});

test('no manifest asks for an architecture, so that nodes of either run the images', () => {
  const all = [...files, 'keda/upload-worker.yaml', 'example/kustomization.yaml'];
  for (const file of all)
    expect(readFileSync(folder + file, 'utf8')).not.toMatch(/nodeSelector|nodeAffinity|amd64|arm64/);
});

test('there are two janitors, and scaled services have no number of replicas', () => {
  expect(find('Deployment', 'janitor')?.spec.replicas).toBe(2);
  expect(find('Deployment', 'api')?.spec.replicas).toBeUndefined();
  expect(find('Deployment', 'upload-worker')?.spec.replicas).toBeUndefined();
});

test('each service has a database Secret of its own, and only the migration has no other', () => {
  const secretOf = (kind: string, name: string) =>
    find(kind, name)?.spec.template.spec.containers[0]?.envFrom.flatMap(
      ({ secretRef }) => secretRef?.name ?? [],
    );
  expect(secretOf('Deployment', 'api')).toEqual([
    'pasteflow-database-api',
    'pasteflow-webhooks',
    'pasteflow-oidc',
  ]);
  expect(secretOf('Deployment', 'upload-worker')).toEqual([
    'pasteflow-database-upload-worker',
    'pasteflow-webhooks',
  ]);
  expect(secretOf('Deployment', 'janitor')).toEqual([
    'pasteflow-database-janitor',
    'pasteflow-webhooks',
    'pasteflow-ops',
  ]);
  expect(secretOf('Job', 'migrate')).toEqual(['pasteflow-database-migrate']);
});

test('the operations page is reached by a port-forward alone', () => {
  const [janitor] = find('Deployment', 'janitor')?.spec.template.spec.containers ?? [];
  expect(janitor?.env).toEqual([
    { name: 'OPS_PORT', value: '9467' },
    { name: 'OPS_HOST', value: '127.0.0.1' },
  ]);
  expect(janitor?.ports).toEqual([{ name: 'metrics', containerPort: 9466 }]);
});

test('each container has its entry in args', () => {
  const args = (kind: string, name: string) => find(kind, name)?.spec.template.spec.containers[0]?.args;
  for (const name of ['api', 'upload-worker', 'janitor'])
    expect(args('Deployment', name)).toEqual(['dist/main.js']);
  expect(args('Job', 'migrate')).toEqual(['dist/migrate-main.js']);
});

test('the services may reach Postgres, HTTPS and an OTLP collector', () => {
  const [rule] = find('NetworkPolicy', 'dependencies')?.spec.egress ?? [];
  expect(rule?.ports.map(({ port }) => port)).toEqual([5432, 443, 4318]);
});

test('the api takes requests from the pods of the ingress controller alone', () => {
  const rules = find('NetworkPolicy', 'requests')?.spec.ingress ?? [];
  expect(rules.map(({ from }) => from)).toEqual([
    [
      {
        namespaceSelector: { matchLabels: { 'pasteflow.io/ingress': 'true' } },
        podSelector: { matchLabels: { 'app.kubernetes.io/name': 'traefik' } },
      },
    ],
  ]);
});

test('URLs of archives expire before the credentials that signed them', () => {
  expect(find('ConfigMap', 'pasteflow')?.data).toMatchObject({ ASSET_URL_SECONDS: '300' });
});

test('the bucket and queues have the names of resources.json', () => {
  const { bucket, queues } = readResources();
  expect(find('ConfigMap', 'pasteflow')?.data).toMatchObject({
    S3_BUCKET: bucket.name,
    UPLOAD_QUEUE_NAME: queues.uploads.name,
    JOB_QUEUE_NAME: queues.jobs.name,
  });
});

const kubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
(kubectl ? test : test.skip)('kustomize puts the example together, with its own names everywhere', () => {
  const { status, stdout, stderr } = spawnSync('kubectl', ['kustomize', `${folder}example`], {
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout.match(/^kind: /gm)).toHaveLength(manifests.length + keda.length);
  expect(
    stdout.match(/image: .*/g)?.every((image) => image.includes('registry.example.org/pasteflow/')),
  ).toBe(true);
  expect(stdout).not.toContain('us-east-1');
});
