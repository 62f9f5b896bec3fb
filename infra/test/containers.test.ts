import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from '@jest/globals';
import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import { parse } from 'yaml';

const root = (path: string) => new URL(`../../${path}`, import.meta.url).pathname;
const dockerfile = readFileSync(root('Dockerfile'), 'utf8');

describe('the Dockerfile', () => {
  test('passes hadolint', () => {
    const hadolint = new URL('../node_modules/.checks/bin/hadolint', import.meta.url).pathname;
    const { status, stdout, stderr } = spawnSync(hadolint, [root('Dockerfile')], { encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  const targets = Object.fromEntries(
    dockerfile.split(/^(?=FROM )/m).map((text) => [/^FROM \S+ AS ([\w-]+)/.exec(text)?.[1] ?? '', text]),
  );

  test.each(['api', 'upload-worker', 'janitor', 'migrate'])('has a target %s with a health check', (name) => {
    expect(targets[name]).toMatch(/^HEALTHCHECK /m);
    expect(targets[name]).toContain('FROM runtime AS');
  });

  test('starts node without a shell, so that node receives SIGTERM, and not as root', () => {
    expect(dockerfile.match(/^(ENTRYPOINT|CMD) .*$/gm)).toEqual([
      'ENTRYPOINT ["/usr/local/bin/node"]',
      'CMD ["dist/main.js"]',
      'CMD ["dist/migrate-main.js"]',
    ]);
    expect(targets['runtime']).toMatch(/^USER 65532:65532$/m);
  });

  // The volume tests of memory start the api with the same setting:
  // proofs/e2e/test/support/large-bodies.ts.
  test('lets malloc give large buffers of the api back to the system', () => {
    expect(targets['api']).toMatch(/^ENV .*\bMALLOC_MMAP_THRESHOLD_=1048576$/m);
  });

  // RunTask runs `token-main.js` and `ops-main.js` in the same images, which an entry in ENTRYPOINT would
  // prevent.
  test('has every entry in the command, which RunTask, compose and Kubernetes can replace', () => {
    const sources = {
      'dist/main.js': ['services/api', 'services/upload-worker', 'services/janitor'],
      'dist/token-main.js': ['services/api'],
      'dist/ops-main.js': ['services/janitor'],
      'dist/migrate-main.js': ['packages/postgres'],
    };
    for (const [entry, packages] of Object.entries(sources))
      for (const folder of packages)
        expect(existsSync(root(`${folder}/${entry.replace('dist', 'src').replace('.js', '.ts')}`))).toBe(
          true,
        );
    const guide = readFileSync(root('docs/deploy.md'), 'utf8');
    const byPlace = guide.split(/^## /m).filter((text) => /^(AWS|Kubernetes|One machine)/.test(text));
    expect(byPlace).toHaveLength(3);
    for (const text of byPlace) {
      expect(text).toContain('dist/token-main.js');
      expect(text).toContain('dist/ops-main.js');
    }
  });

  test('has the Node version of the workspace', () => {
    const { devDependencies } = JSON.parse(readFileSync(root('package.json'), 'utf8')) as {
      devDependencies: { node: string; pnpm: string };
    };
    expect(dockerfile).toContain(`library/node:${devDependencies.node}-`);
    expect(dockerfile).toContain(`pnpm@${devDependencies.pnpm}`);
  });
});

test('the certificates in the image are those of RDS, and valid for years', () => {
  const pem = readFileSync(new URL('../container/certificates/rds.pem', import.meta.url), 'utf8');
  const certificates =
    pem.match(/-----BEGIN[^]+?-----END CERTIFICATE-----/g)?.map((text) => new X509Certificate(text)) ?? [];
  expect(certificates.length).toBeGreaterThan(20);
  for (const certificate of certificates) {
    expect(certificate.subject).toMatch(/CN=Amazon RDS .*RSA2048 G1/);
    expect(certificate.ca && certificate.verify(certificate.publicKey)).toBe(true);
    expect(Date.parse(certificate.validTo) - Date.now()).toBeGreaterThan(5 * 365 * 86_400_000);
  }
});

interface Service {
  readonly image?: string;
  readonly command?: string[];
  readonly environment?: Record<string, string>;
  readonly profiles?: string[];
  readonly read_only?: boolean;
  readonly ports?: string[];
  readonly container_name?: string;
  readonly depends_on?: Record<string, { condition: string }>;
  readonly volumes?: string[];
}

/** null: valid by the schema of the Compose Specification. */
function problemsOf(compose: object): unknown {
  const schemas = createRequire(import.meta.url)
    .resolve('dclint')
    .replace(/dist\/.*$/, 'schemas/');
  const schema = JSON.parse(readFileSync(`${schemas}compose.schema.json`, 'utf8')) as object;
  const ajv = new Ajv({ strict: false, allErrors: true });
  formats.default(ajv);
  // The schema names its dialect with https, which Ajv doesn't know.
  const validate = ajv.compile({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' });
  return validate(compose) ? null : validate.errors;
}

describe('the compose file of the one-machine edition', () => {
  const text = readFileSync(root('infra/one-machine/docker-compose.yml'), 'utf8');
  const { services, ...others } = parse(text, { merge: true, logLevel: 'error' }) as {
    services: Record<string, Service>;
  };
  const base = parse(readFileSync(root('docker-compose.yml'), 'utf8'), { merge: true }) as {
    services: Record<string, Service>;
  };

  test('is valid by the schema, and takes LocalStack out', () => {
    const { localstack: _, ...kept } = services; // removed by a tag of its own, which no schema knows
    expect(text).toMatch(/^  localstack: !reset null$/m);
    expect(problemsOf({ ...others, services: kept })).toBeNull();
    for (const [name, { image = '', depends_on: dependsOn = {} }] of Object.entries(kept)) {
      expect(image).toMatch(/^$|:(?!latest)[\w.-]+$/);
      for (const needed of Object.keys(dependsOn))
        expect([name, { ...base.services, ...kept }]).toHaveProperty(`1.${needed}`);
    }
  });

  test('starts the services without LocalStack, each on the two servers', () => {
    for (const name of ['api', 'upload-worker', 'janitor'])
      expect(services[name]).toMatchObject({
        environment: { AWS_ENDPOINT_URL: '', AWS_ENDPOINT_URL_S3: 'http://objects:7070' },
        depends_on: { objects: {}, queues: {} },
      });
    expect(text.match(/depends_on: !override/g)).toHaveLength(1);
  });

  test('is closed, within bounds, and has a house.json, until its operator says otherwise', () => {
    expect(services['api']?.environment).toMatchObject({ ANONYMOUS_PASTES: '${ANONYMOUS_PASTES:-deny}' });
    const page = readFileSync(root('docs/one-machine.md'), 'utf8');
    for (const name of ['MAX_PASTES', 'MAX_STORED_BYTES']) {
      for (const service of ['api', 'upload-worker', 'janitor'])
        expect(services[service]?.environment).toMatchObject({ [name]: `\${${name}:-0}` });
      expect(page).toMatch(new RegExp(`^${name}=\\$`, 'm'));
    }
    const bound = page.match(/^(?:MAX_PASTES|pastes)=.*$/gm)?.join('\n');
    const ofTerabyte = `df() { echo 16000000; }\n${bound}\nprintf $MAX_PASTES`;
    expect(spawnSync('bash', ['-c', ofTerabyte], { encoding: 'utf8' }).stdout).toBe('1000000');
    const settings = readFileSync(root('infra/one-machine/services.env'), 'utf8');
    const [, folder, file] = /^HOUSE=(.*)\/(.*)$/m.exec(settings) ?? [];
    for (const service of ['api', 'upload-worker'])
      expect(services[service]?.volumes).toEqual([
        `\${HOUSE_FOLDER:-./infra/one-machine/house}:${folder}:ro`,
      ]);
    JSON.parse(readFileSync(root(`infra/one-machine/house/${file}`), 'utf8'));
  });

  test('starts with no password that everybody knows, and the page names all that it asks for', () => {
    const known = readFileSync(root('docker-compose.yml'), 'utf8').match(/\w*PASSWORD(?=:-)/g);
    const asked = [...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);
    expect(asked).toEqual(expect.arrayContaining([...new Set(known)]));
    const page = readFileSync(root('docs/one-machine.md'), 'utf8');
    for (const name of asked) expect(page).toMatch(new RegExp(`^${name}=`, 'm'));
  });
});

test('the queues of ElasticMQ are those of infra/resources.json', () => {
  const conf = readFileSync(root('infra/one-machine/elasticmq.conf'), 'utf8');
  const { queues, deadLetterSuffix } = JSON.parse(readFileSync(root('infra/resources.json'), 'utf8')) as {
    queues: Record<string, { name: string; visibilitySeconds: number; maxReceiveCount: number }>;
    deadLetterSuffix: string;
  };
  for (const { name, visibilitySeconds, maxReceiveCount } of Object.values(queues))
    expect(conf).toContain(`  ${name} {
    defaultVisibilityTimeout = ${visibilitySeconds} seconds
    deadLettersQueue { name = ${name}${deadLetterSuffix}, maxReceiveCount = ${maxReceiveCount} }
  }`);
});

describe('docker-compose.yml', () => {
  const compose = parse(readFileSync(root('docker-compose.yml'), 'utf8'), { merge: true }) as {
    services: Record<string, Service>;
  };
  const ours = ['api', 'upload-worker', 'janitor', 'migrate'];

  test('is valid by the schema of the Compose Specification', () => {
    expect(problemsOf(compose)).toBeNull();
    expect(
      problemsOf({ services: { ...compose.services, api: { ...compose.services['api'], depend_on: {} } } }),
    ).not.toBeNull();
  });

  test('starts Postgres, the migration, S3 and SQS before the services', () => {
    expect(compose.services['migrate']?.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
    for (const name of ['api', 'upload-worker', 'janitor'])
      expect(compose.services[name]?.depends_on).toEqual({
        migrate: { condition: 'service_completed_successfully' },
        localstack: { condition: 'service_healthy' },
      });
  });

  test('pins every image, and LocalStack to the last release that needs no token', () => {
    for (const { image } of Object.values(compose.services)) expect(image).toMatch(/:(?!latest)[\w${}:.-]+$/);
    expect(compose.services['localstack']?.image).toContain('localstack/localstack:4.14.0}');
  });

  test('runs the services on a read-only file system', () => {
    for (const name of ours) expect(compose.services[name]?.read_only).toBe(true);
  });

  test('connects each service as its own role, and lets only the migration be the superuser', () => {
    const urls = ours.map((name) => compose.services[name]?.environment?.['DATABASE_URL']);
    expect(urls.map((url) => /^postgres:\/\/(\w+):/.exec(url ?? '')?.[1])).toEqual([
      'pasteflow_api',
      'pasteflow_worker',
      'pasteflow_janitor',
      'pasteflow',
    ]);
    for (const role of ['API', 'WORKER', 'JANITOR'])
      expect(urls.join()).toContain(
        `:${compose.services['migrate']?.environment?.[`PASTEFLOW_${role}_PASSWORD`]}@`,
      );
  });

  test('publishes nothing beyond this machine, and the operations page only with a token', () => {
    const published = Object.values(compose.services).flatMap(({ ports = [] }) => ports);
    expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    expect(compose.services['janitor']?.ports).toEqual(['127.0.0.1:9467:9467']);
    expect(compose.services['janitor']?.environment).toMatchObject({
      OPS_PORT: '${OPS_TOKEN:+9467}',
      OPS_TOKEN: '${OPS_TOKEN:-}',
      OPS_READ_TOKEN: '${OPS_READ_TOKEN:-}',
    });
  });

  test('gives the secret of the identity provider to the api alone', () => {
    const having = Object.entries(compose.services).filter(([, { environment = {} }]) =>
      Object.keys(environment).includes('OIDC_CLIENT_SECRET'),
    );
    expect(having.map(([name]) => name)).toEqual(['api']);
  });

  test('keeps the content of pastes out of the log of Postgres', () => {
    expect(compose.services['postgres']?.command).toEqual(
      expect.arrayContaining([
        '-clog_parameter_max_length=0',
        '-clog_parameter_max_length_on_error=0',
        '-clog_error_verbosity=terse',
      ]),
    );
  });

  test('has the entry of each image in its command', () => {
    expect(ours.map((name) => compose.services[name]?.command)).toEqual([
      ['dist/main.js'],
      ['dist/main.js'],
      ['dist/main.js'],
      ['dist/migrate-main.js'],
    ]);
  });

  test('sets PUBLIC_URL to the published port of the api', () => {
    expect(compose.services['api']?.ports).toEqual(['127.0.0.1:${API_PORT:-3000}:3000']);
    for (const name of ['api', 'janitor'])
      expect(compose.services[name]?.environment?.['PUBLIC_URL']).toBe(
        '${PUBLIC_URL:-http://127.0.0.1:${API_PORT:-3000}}',
      );
  });

  test('allows several upload-workers', () => {
    expect(compose.services['upload-worker']?.ports).toBeUndefined();
    expect(compose.services['upload-worker']?.container_name).toBeUndefined();
  });

  test('publishes its ports on this machine only', () => {
    for (const { ports = [] } of Object.values(compose.services))
      for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  test('mounts only existing files, since Docker would create an empty folder for a missing one', () => {
    const sources = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.map((volume) => volume.split(':')[0] ?? '').filter((source) => source.startsWith('./')),
    );
    expect(sources).toContain('./infra/observability/prometheus');
    expect(sources.filter((source) => !existsSync(root(source)))).toEqual([]);
  });

  test('has Prometheus, Grafana and the collector in a profile', () => {
    const watching = Object.entries(compose.services).filter(([, { profiles }]) =>
      profiles?.includes('observability'),
    );
    expect(watching.map(([name]) => name)).toEqual(['prometheus', 'grafana', 'otel-collector']);
  });
});
