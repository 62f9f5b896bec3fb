import { writeFileSync } from 'node:fs';
import { buildHelm, configurations, lint, manifests, manifestsFile, render } from './helm.ts';

// `npm run manifests`: after a change of the chart. chart.test.ts looks closer, and takes the same helm.
buildHelm();
for (const configuration of configurations) {
  lint(configuration);
  render(configuration);
}
writeFileSync(manifestsFile, manifests());
