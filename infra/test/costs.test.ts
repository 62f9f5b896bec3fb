import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { type Stage, stages } from '../aws/configuration.ts';
import { configurations } from '../aws/configurations.ts';
import { deployment, type Resource } from './support/deployments.ts';

const guide = readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8');

/** The units of a row of the table, without dollars, by stage. */
function told(row: string): string[] {
  const [, cells = ''] = new RegExp(`^\\| ${row}.*?\\|(.*)\\|$`, 'm').exec(guide) ?? [];
  return cells.split('|').map((cell) => cell.trim().replace(/:? ?\$.*/, ''));
}

function atRest(stage: Stage) {
  const one = deployment(stage);
  const all = (['foundation', 'data', 'migration', 'services'] as const).flatMap((name) =>
    Object.values(one.template(name).toJSON()['Resources'] as Record<string, Resource>),
  );
  const of = (type: string) => all.filter(({ Type }) => Type === type);
  const count = (type: string) => String(of(type).length);
  const { api, uploadWorker, janitor, availabilityZones } = configurations[stage];
  const [desired] = of('AWS::ECS::Service').flatMap(({ Properties }) => Properties['DesiredCount'] ?? []);
  const tasks = [
    ...Array<typeof janitor>(api.min).fill(api),
    ...Array<typeof janitor>(uploadWorker.min).fill(uploadWorker),
    ...Array<typeof janitor>(Number(desired)).fill(janitor),
  ];
  const [database] = of('AWS::RDS::DBInstance').map(({ Properties }) => Properties);
  const instances = database?.['MultiAZ'] === true ? 2 : 1;
  return {
    tasks: `${tasks.reduce((sum, { cpu }) => sum + cpu, 0) / 1024}, ${tasks.reduce((sum, { memoryMiB }) => sum + memoryMiB, 0) / 1024}`,
    gateways: count('AWS::EC2::NatGateway'),
    addresses: String(availabilityZones.length),
    databases: `${instances}, ${instances * Number(database?.['AllocatedStorage'])}`,
    small: ['AWS::KMS::Key', 'AWS::SecretsManager::Secret', 'AWS::CloudWatch::Alarm'].map(count).join(', '),
  };
}

test('docs/deploy.md tells what each stage has at rest, which is what it costs', () => {
  const had = stages.map(atRest);
  expect(told('Tasks')).toEqual(had.map(({ tasks }) => tasks));
  expect(told('NAT')).toEqual(had.map(({ gateways }) => gateways));
  expect(told('Load balancer')).toEqual(had.map(({ addresses }) => addresses));
  expect(told('Database instances')).toEqual(had.map(({ databases }) => databases));
  expect(told('Keys')).toEqual(had.map(({ small }) => small));
});
