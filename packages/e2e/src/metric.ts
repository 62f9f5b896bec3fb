import type { Service } from './service.ts';

export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All that a service shows at this moment. */
export async function scrape(service: Service): Promise<MetricSample[]> {
  const response = await fetch(`${service.metricsUrl}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', of = '']) => [
      label,
      of,
    ]);
    return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
  });
}

/** The present value of a service's metric, and 0 when it has none with these labels. */
export async function metricOf(
  service: Service,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const response = await fetch(`${service.metricsUrl}/metrics`);
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = (await response.text())
    .split('\n')
    .find((each) => each.startsWith(`${name}{`) && wanted.every((label) => each.includes(label)));
  return Number(line?.split(' ').at(-1) ?? 0);
}
