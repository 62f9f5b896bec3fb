import { describeKilledImports } from './support/describe-killed-imports.ts';

describeKilledImports({ jobCount: 10, itemsPerJob: 1000, maxKills: 5, minKills: 3 });
