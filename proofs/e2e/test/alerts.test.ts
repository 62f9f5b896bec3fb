import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { RUNBOOK } from '../src/index.ts';
import { alerts, dashboards, file } from './support/shipped-alerts.ts';

describe('the alert rules', () => {
  it('each have a section in the runbook, which has no other sections about alerts', () => {
    const sections = [...readFileSync(RUNBOOK, 'utf8').matchAll(/^## (Pasteflow\w+)$/gm)].map(
      ([, name]) => name,
    );
    expect(sections).toEqual(alerts);
    const links = [
      ...readFileSync(file('prometheus/rules/pasteflow.yml'), 'utf8').matchAll(
        /runbook: docs\/runbook\.md#(\w+)/g,
      ),
    ].map(([, link]) => link);
    expect(links).toEqual(alerts.map((name) => name.toLowerCase()));
  });
});

describe('the dashboard', () => {
  it('has panels with unique ids that do not overlap', () => {
    for (const dashboard of dashboards) {
      const ids = dashboard.panels.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
      const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from({ length: w * h }, (_, n) => `${x + (n % w)},${y + Math.floor(n / w)}`),
      );
      expect(new Set(cells).size).toBe(cells.length);
    }
  });
});
