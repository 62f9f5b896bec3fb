import { describeKilledImports } from './support/describe-killed-imports.ts';

// 10,000 pastes and 5 kills in jobs-kills.volume.ts.
describeKilledImports({ jobCount: 4, itemsPerJob: 500, maxKills: 2, minKills: 1 });
