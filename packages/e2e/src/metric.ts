import type { Service } from './service.ts';

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
