import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { FaultProxy } from '@pasteflow/dev-stack/testing';
import { problemCodes, statusOf } from '../src/http/errors/problem-codes.ts';
import { useApi, type RunningApi } from './support/api.ts';
import { newPaste, processedPaste } from './support/pastes.ts';
import { until } from './support/until.ts';

const bed = useApi();
let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await FaultProxy.start(bed.stack.aws.endpoint);
});
afterAll(() => proxy.stop());

/** The number of problems by route and code: `{'route code': number}`. */
async function problems({ metricsUrl }: RunningApi): Promise<Record<string, number>> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  return Object.fromEntries(
    [...text.matchAll(/^http_problems_total\{([^}]*)\} (\d+)$/gm)].map(([, labels = '', count]) => {
      const of = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(labels)?.[1];
      return [`${of('route')} ${of('code')}`, Number(count)];
    }),
  );
}

it('problems are counted by route and code, so that unreadable content is distinguished from uploads in progress', async () => {
  const api = await bed.start({ env: { AWS_ENDPOINT_URL_S3: proxy.url } });
  const stored = await processedPaste(bed, 'stored');
  const underWay = await newPaste(bed.db);
  proxy.rule({ method: 'GET' }, { kind: 'fail', status: 500 });
  const paths = [stored, stored, `v1/pastes/${stored}/content`, underWay, `v1/pastes/${stored}`, 'healthz'];
  const statuses = [];
  for (const path of [...paths, `nothing/${stored}`])
    statuses.push((await fetch(`${api.url}/${path}`)).status);
  expect(statuses).toEqual([503, 503, 503, 503, 200, 200, 404]);
  const expected: Record<string, number> = {
    '/:short_code dependency_unavailable': 2,
    '/v1/pastes/:short_code/content dependency_unavailable': 1,
    '/:short_code paste_in_progress': 1,
    'none route_not_found': 1,
  };
  const counted = await until(
    () => problems(api),
    (figures) => Object.values(figures).reduce((sum, count) => sum + count, 0) >= 5,
  );
  expect(counted).toEqual(expected);
});

it('the alert counts every code of a server error, and no other', () => {
  const rules = readFileSync(
    new URL('../../../infra/observability/prometheus/rules/pasteflow.yml', import.meta.url),
    'utf8',
  );
  const [, codes = ''] = /http_problems_total\{code=~"([^"]*)"\}/.exec(rules) ?? [];
  const ours = problemCodes.filter((code) => statusOf(code) >= 500 && code !== 'paste_in_progress');
  expect(codes.split('|').toSorted()).toEqual(ours.toSorted());
});
