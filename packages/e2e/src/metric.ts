import type { Service } from './service.ts';

export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** All current metrics of a service. */
export async function scrape(service: Service): Promise<MetricSample[]> {
  const response = await fetch(`${service.metricsUrl}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = '', text = '']) => [
      label,
      text,
    ]);
    return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
  });
}

/** The current value of a service's metric with these labels; 0 when there is none. */
export async function metricOf(
  service: Service,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const response = await fetch(`${service.metricsUrl}/metrics`);
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const line = (await response.text())
    .split('\n')
    .find((each) => each.startsWith(`${name}{`) && pairs.every((label) => each.includes(label)));
  return Number(line?.split(' ').at(-1) ?? 0);
}
