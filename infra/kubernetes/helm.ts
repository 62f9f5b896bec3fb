import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const folder = new URL('.', import.meta.url).pathname;
const chart = `${folder}chart`;
const program = new URL('../node_modules/.helm', import.meta.url).pathname;

/** What `helm template` makes of the configuration without hooks, which is complete without Helm. */
export const manifestsFile = `${folder}manifests.yaml`;
const MANIFESTS_OF = 'job';

/** The configurations in which the chart is linted and rendered: `eks`, … */
export const configurations: readonly string[] = readdirSync(`${chart}/ci`).map((file) =>
  file.replace('-values.yaml', ''),
);

/** Since 1.30 a container can sleep before it stops. */
export const kubernetesVersions = ['1.31', '1.34'] as const;

/** A helm that no release has built takes the cluster for a Kubernetes 1.20. */
const CLUSTER = ['--kube-version', kubernetesVersions[1]];

/** Only Go 1.21 and later can fetch the newer Go that helm asks for. */
export function canBuildHelm(): boolean {
  return (spawnSync('go', ['env', 'GOTOOLCHAIN'], { encoding: 'utf8' }).stdout ?? '').trim() !== '';
}

/** Builds helm from the module that helm/go.mod pins: three minutes of CPU time, and seconds when Go has it in its cache. */
export function buildHelm(): void {
  run('go', ['build', '-C', `${folder}helm`, '-o', program, 'helm.sh/helm/v3/cmd/helm']);
}

/** @throws Error with what helm found */
export function lint(configuration: string): void {
  run(program, ['lint', chart, '--strict', '--quiet', '--values', valuesOf(configuration), ...CLUSTER]);
}

/** The objects of a release `pasteflow`, as YAML. Options of helm follow. */
export function render(configuration: string, ...options: readonly string[]): string {
  return renderChart(chart, configuration, options);
}

/** The same of the chart as it is published, packed into a folder. */
export function renderPacked(configuration: string, into: string): string {
  run(program, ['package', chart, '--destination', into]);
  const [packed = ''] = readdirSync(into);
  return renderChart(join(into, packed), configuration, []);
}

function renderChart(from: string, configuration: string, options: readonly string[]): string {
  const values = ['--namespace', 'pasteflow', '--values', valuesOf(configuration)];
  return run(program, ['template', 'pasteflow', from, ...values, ...CLUSTER, ...options]);
}

export function manifests(): string {
  return `# Made by \`npm run manifests\` of the chart, for ci/${MANIFESTS_OF}-values.yaml. Chart: ${chartDigest()}\n${render(MANIFESTS_OF)}`;
}

/** What the manifests depend on, so that a test without helm finds those of an older chart. A release changes the versions in both. */
export function chartDigest(): string {
  const hash = createHash('sha256');
  const files = readdirSync(chart, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name));
  for (const file of [...files, `${folder}helm/go.mod`].toSorted())
    hash.update(
      `${relative(folder, file)}\n${readFileSync(file, 'utf8').replaceAll(/^(?:appV|v)ersion: .*$/gm, '')}`,
    );
  return hash.digest('hex');
}

function valuesOf(configuration: string): string {
  return `${chart}/ci/${configuration}-values.yaml`;
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  // It tells of each link, which is how the chart has the rules and the names of the settings.
  const said = (stderr ?? '').replaceAll(/^walk\.go:.*\n/gm, '');
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stdout + said}`);
  return stdout;
}
