import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { configurations } from '../aws/configurations.ts';
import { containers, deployment, executionSecrets } from './support/deployments.ts';

type Deployment = ReturnType<typeof deployment>;

const tunnelled = deployment('production');
const balancer = {
  via: 'balancer',
  url: 'https://ops.example.internal/pasteflow',
  certificateArn: 'arn:aws:acm:eu-central-1:222222222222:certificate/11111111-0000-0000-0000-000000000000',
  clients: ['10.8.0.0/16', '10.9.0.0/16'],
} as const;
const balanced = deployment('production', { operations: balancer });
const without = deployment('production', { operations: null });

const containerOf = (of: Deployment, name: string) =>
  containers(of, 'services').find(({ Name }) => Name === name);

function settingsOfJanitor(of: Deployment): Record<string, unknown> {
  const all = containerOf(of, 'janitor')?.Environment ?? [];
  return Object.fromEntries(all.map(({ Name, Value }) => [Name, Value]));
}

const secretNames = (of: Deployment, name: string) =>
  (containerOf(of, name)?.Secrets ?? []).map(({ Name }) => Name);

const balancers = (of: Deployment) =>
  Object.values(of.resources('services', 'AWS::ElasticLoadBalancingV2::LoadBalancer')).map(({ Properties }) =>
    String(Properties['Scheme']),
  );

/** The ports of the janitors that somebody may reach, each with who may. */
function ingressOfJanitors(of: Deployment): [port: unknown, source: string][] {
  return Object.values(of.resources('services', 'AWS::EC2::SecurityGroupIngress'))
    .map(({ Properties }) => Properties)
    .filter(({ GroupId }) => JSON.stringify(GroupId).includes('Groupjanitor'))
    .map(({ FromPort, ToPort, SourceSecurityGroupId }) => {
      expect(ToPort).toBe(FromPort);
      return [
        FromPort,
        /"(Monitoring|OperationsEntrance)/.exec(JSON.stringify(SourceSecurityGroupId))?.[1] ?? '',
      ];
    });
}

describe.each([
  ['a tunnel', tunnelled],
  ['an internal load balancer', balanced],
])('the operations page behind %s', (_kind, one) => {
  test('has two passwords that Secrets Manager makes, which only the janitors get', () => {
    expect(secretNames(one, 'janitor')).toEqual(['PGUSER', 'PGPASSWORD', 'OPS_TOKEN', 'OPS_READ_TOKEN']);
    for (const name of ['api', 'upload-worker'])
      expect(secretNames(one, name)).toEqual(['PGUSER', 'PGPASSWORD']);
    const made = Object.entries(one.resources('services', 'AWS::SecretsManager::Secret'));
    expect(made.map(([id]) => id.replace(/[\dA-F]{8}$/, ''))).toEqual([
      'OperationsToken',
      'OperationsReadToken',
    ]);
    for (const [, { Properties }] of made) {
      expect(Properties).not.toHaveProperty('Name'); // a failed deployment would leave the name behind
      expect(Properties).toMatchObject({
        GenerateSecretString: { PasswordLength: 40, ExcludePunctuation: true },
      });
    }
    const [token, readToken] = (containerOf(one, 'janitor')?.Secrets ?? []).slice(2);
    expect(JSON.stringify(token)).toContain('OperationsToken');
    expect(JSON.stringify(readToken)).toContain('OperationsReadToken');
  });

  test('lets only the execution role of the janitors read them, beside their own credentials', () => {
    expect(executionSecrets(one)).toEqual({
      api: ['Credentialspasteflowapi'],
      uploadworker: ['Credentialspasteflowworker'],
      janitor: ['Credentialspasteflowjanitor', 'OperationsReadToken', 'OperationsToken'],
    });
  });

  test('names where the passwords are in the outputs, and never the passwords', () => {
    const outputs = Object.entries(one.template('services').findOutputs('*'));
    const named = outputs.filter(([id]) => /^Operations(Read)?TokenArn/.test(id));
    expect(named.map(([, { Value }]) => Object.keys(Value as object))).toEqual([['Ref'], ['Ref']]);
    expect(JSON.stringify(one.template('services').toJSON())).not.toContain('resolve:secretsmanager');
  });

  test('adds no public load balancer', () => {
    expect(balancers(one).filter((scheme) => scheme === 'internet-facing')).toHaveLength(1); // that of the api
    const listeners = Object.values(one.resources('services', 'AWS::ElasticLoadBalancingV2::TargetGroup'));
    const ports = listeners.filter(({ Properties }) => Properties['Port'] === 9467);
    expect(ports).toHaveLength(one === balanced ? 1 : 0);
  });
});

describe('a tunnel to the operations page', () => {
  test('ends at the loopback address, which nothing in the VPC reaches', () => {
    const settings = settingsOfJanitor(tunnelled);
    expect(settings).toMatchObject({ OPS_PORT: '9467' });
    expect(settings).not.toHaveProperty('OPS_HOST');
    expect(settings).not.toHaveProperty('OPS_URL');
    expect(balancers(tunnelled)).toEqual(['internet-facing']);
    expect(ingressOfJanitors(tunnelled)).toEqual([[9466, 'Monitoring']]);
  });

  test('begins in a container without secrets, which can end without the janitor', () => {
    const tunnel = containerOf(tunnelled, 'tunnel');
    expect(tunnel).toMatchObject({
      Essential: false,
      User: '65532',
      ReadonlyRootFilesystem: false,
      LinuxParameters: { InitProcessEnabled: true },
      Command: ['--eval', expect.any(String)],
      Image: containerOf(tunnelled, 'janitor')?.Image,
    });
    expect([tunnel?.Secrets, tunnel?.Environment]).toEqual([undefined, undefined]);
  });

  test('needs ECS Exec of the janitors alone, whose commands are not logged', () => {
    const services = Object.values(tunnelled.resources('services', 'AWS::ECS::Service'));
    expect(
      services.map(({ Properties }) => [
        Properties['ServiceName'],
        Properties['EnableExecuteCommand'] ?? false,
      ]),
    ).toEqual(
      expect.arrayContaining([
        ['api', false],
        ['upload-worker', false],
        ['janitor', true],
      ]),
    );
    tunnelled.template('foundation').hasResourceProperties('AWS::ECS::Cluster', {
      Configuration: { ExecuteCommandConfiguration: { Logging: 'NONE' } },
    });
  });
});

describe('an internal load balancer of the operations page', () => {
  test('is the only one that reaches the page and, for health checks, /healthz', () => {
    expect(balancers(balanced).toSorted()).toEqual(['internal', 'internet-facing']);
    expect(ingressOfJanitors(balanced)).toEqual(
      expect.arrayContaining([
        [9466, 'Monitoring'],
        [9466, 'OperationsEntrance'],
        [9467, 'OperationsEntrance'],
      ]),
    );
    expect(ingressOfJanitors(balanced)).toHaveLength(3);
    balanced.template('services').hasResourceProperties('AWS::ElasticLoadBalancingV2::TargetGroup', {
      Port: 9467,
      HealthCheckPath: '/healthz',
      HealthCheckPort: '9466',
    });
  });

  test('admits the networks of the operators alone, by HTTPS', () => {
    const groups = balanced.resources('services', 'AWS::EC2::SecurityGroup');
    const [, entrance] = Object.entries(groups).find(([id]) => id.startsWith('OperationsEntrance')) ?? [];
    expect(entrance?.Properties['SecurityGroupIngress']).toEqual(
      ['10.8.0.0/16', '10.9.0.0/16'].map((CidrIp) =>
        expect.objectContaining({ CidrIp, FromPort: 443, ToPort: 443, IpProtocol: 'tcp' }),
      ),
    );
    balanced.template('services').hasResourceProperties('AWS::ElasticLoadBalancingV2::Listener', {
      Port: 443,
      Protocol: 'HTTPS',
      Certificates: [{ CertificateArn: Match.stringLikeRegexp('11111111-0000') }],
      SslPolicy: Match.stringLikeRegexp('TLS13'),
    });
  });

  test('gives the page its address, with the path, and needs no ECS Exec', () => {
    expect(settingsOfJanitor(balanced)).toMatchObject({
      OPS_HOST: '0.0.0.0',
      OPS_PORT: '9467',
      OPS_URL: 'https://ops.example.internal/pasteflow',
    });
    expect(containerOf(balanced, 'tunnel')).toBeUndefined();
    for (const { Properties } of Object.values(balanced.resources('services', 'AWS::ECS::Service')))
      expect(Properties['EnableExecuteCommand']).not.toBe(true);
  });
});

test('a deployment without the operations page has no passwords, no tunnel and no load balancer for it', () => {
  expect(Object.keys(settingsOfJanitor(without)).filter((name) => name.startsWith('OPS_'))).toEqual([]);
  expect(secretNames(without, 'janitor')).toEqual(['PGUSER', 'PGPASSWORD']);
  expect(containerOf(without, 'tunnel')).toBeUndefined();
  expect(balancers(without)).toEqual(['internet-facing']);
  without.template('services').resourceCountIs('AWS::SecretsManager::Secret', 0);
});

describe('the client secret of the sign-in', () => {
  const arn = 'arn:aws:secretsmanager:eu-central-1:222222222222:secret:pasteflow/oidc-AbCdEf';
  const { environment } = configurations.production;
  const client = { OIDC_ISSUER: 'https://login.example.org', OIDC_CLIENT_ID: 'pasteflow' };

  test('comes from the secret of the operator, which only the execution role of the api can read', () => {
    const one = deployment('production', {
      oidcClientSecretArn: arn,
      environment: { ...environment, api: client },
    });
    expect(containerOf(one, 'api')?.Secrets).toContainEqual({ Name: 'OIDC_CLIENT_SECRET', ValueFrom: arn });
    for (const name of ['upload-worker', 'janitor'])
      expect(secretNames(one, name)).not.toContain('OIDC_CLIENT_SECRET');
    const { api, ...others } = executionSecrets(one);
    expect(api).toEqual(['Credentialspasteflowapi', arn]);
    expect(JSON.stringify(others)).not.toContain(arn);
  });

  test('of operators is one that only the janitors get', () => {
    const one = deployment('production', { operations: { ...balancer, oidcClientSecretArn: arn } });
    const { janitor, ...others } = executionSecrets(one);
    expect(secretNames(one, 'janitor')).toContain('OPS_OIDC_CLIENT_SECRET');
    expect(janitor).toContain(arn);
    expect(JSON.stringify(others)).not.toContain(arn);
  });

  test('without a client stops the synthesis, because the api would not start', () => {
    expect(() => deployment('production', { oidcClientSecretArn: arn })).toThrow('has no OIDC_CLIENT_ID');
  });

  test.each(['OIDC_CLIENT_SECRET', 'WEBHOOK_KEY', 'OPS_TOKEN', 'OPS_READ_TOKEN', 'OPS_OIDC_CLIENT_SECRET'])(
    '%s in the environment stops the synthesis',
    (name) => {
      const api = { [name]: 'a secret' };
      expect(() => deployment('production', { environment: { ...environment, api } })).toThrow(
        `${name} is set by the stacks`,
      );
    },
  );
});

test('the key of webhooks comes from the secret of the operator, to the three services alone', () => {
  const arn = 'arn:aws:secretsmanager:eu-central-1:222222222222:secret:pasteflow/webhooks-AbCdEf';
  const one = deployment('production', { webhookKeyArn: arn });
  for (const name of ['api', 'upload-worker', 'janitor']) {
    expect(containerOf(one, name)?.Secrets).toContainEqual({ Name: 'WEBHOOK_KEY', ValueFrom: arn });
  }
  const secrets = Object.values(executionSecrets(one));
  expect(secrets.filter((names) => names.includes(arn))).toHaveLength(3);
  expect(JSON.stringify(one.template('migration').toJSON())).not.toContain(arn);
});
