export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A running service. */
interface Measured {
  /** The base URL of its metrics. */
  readonly metricsUrl: string;
}

/** All current metrics of a service. */
export async function scrape({ metricsUrl }: Measured): Promise<MetricSample[]> {
  const response = await fetch(`${metricsUrl}/metrics`);
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
  service: Measured,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const sample = (await scrape(service)).find(
    (each) =>
      each.name === name && Object.entries(labels).every(([label, value]) => each.labels[label] === value),
  );
  return sample?.value ?? 0;
}
