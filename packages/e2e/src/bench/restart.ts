import type { BenchCluster } from './processes.ts';

/** Starts services again with further settings. */
export async function restart(
  services: BenchCluster['services'],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  await Promise.all(services.map((service) => service.kill()));
  for (const service of services) await service.start({ env });
}
