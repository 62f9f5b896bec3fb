import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { configurations } from '../aws/configurations.ts';
import { elsewhere, mistakes, placeholders } from '../aws/mistakes.ts';

const main = new URL('../aws/main.ts', import.meta.url).pathname;

test('a synthesis refuses what the example has, and names all of it', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [main, '--stage', 'production', '--image-tag', '1.2.3'],
    { encoding: 'utf8' },
  );
  expect({ status, stdout, stderr }).toEqual({
    status: 78,
    stdout: '',
    stderr:
      'production still has what the example has in domain.name, domain.certificateArn, alarmEmail: write your own into infra/aws/configurations.ts\n',
  });
});

test('names of your own are none, and development has none to replace', () => {
  const { production } = configurations;
  const certificateArn =
    'arn:aws:acm:eu-central-1:123456789012:certificate/5f0b9c1e-0000-4000-8000-9c1e5f0b2d3a';
  const ours = { ...production, domain: { name: 'paste.examples.org', certificateArn }, alarmEmail: null };
  expect(placeholders(ours)).toEqual([]);
  expect(placeholders(configurations.development)).toEqual([]);
});

test('zones, certificates and secrets of another region are found', () => {
  const { production } = configurations;
  expect(elsewhere(production)).toEqual([]);
  const webhookKeyArn = 'arn:aws-cn:secretsmanager:us-east-1:123456789012:secret:key-AbCdEf';
  expect(elsewhere({ ...production, region: 'us-east-1', webhookKeyArn })).toEqual([
    'availabilityZones.0',
    'availabilityZones.1',
    'availabilityZones.2',
    'domain.certificateArn',
  ]);
  expect(elsewhere({ ...production, webhookKeyArn })).toEqual(['webhookKeyArn']);
});

test('tasks whose connections the database has not are a mistake', () => {
  const { development } = configurations;
  expect(mistakes(development)).toEqual([]);
  expect(mistakes({ ...development, api: { ...development.api, max: 20 } })).toEqual([
    'development may open 280 connections, and its database has 225: take a larger instance, or fewer tasks or a smaller pool',
  ]);
});

test.each([
  ['https://OPS.example.com/x', ['operations.url']],
  ['CHANGE_ME', ['operations.url']],
  ['arn:aws:secretsmanager:eu-central-1:111111111111:secret:a', ['operations.url']],
])('%s is one', (url, found) => {
  expect(placeholders({ operations: { url }, stage: 'production' })).toEqual(found);
});
