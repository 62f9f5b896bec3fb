// What infra/observability ships: the names of the alerts in the order of their rules, and the panels of the
// dashboards.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OBSERVABILITY_FOLDER } from '../../src/index.ts';

/** @param path below infra/observability */
export const file = (path: string): string => join(OBSERVABILITY_FOLDER, path);
export const alerts = [
  ...readFileSync(file('prometheus/rules/pasteflow.yml'), 'utf8').matchAll(/- alert: (\w+)/g),
].map(([, name = '']) => name);

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}
export const dashboards = readdirSync(file('grafana/dashboards')).map(
  (name) =>
    JSON.parse(readFileSync(file(`grafana/dashboards/${name}`), 'utf8')) as {
      title: string;
      panels: Panel[];
    },
);
export const panels = dashboards
  .flatMap((dashboard) => dashboard.panels)
  .filter(({ type }) => type !== 'row');
