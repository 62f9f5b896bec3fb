import { loadConfig, runService } from '@pasteflow/runtime';
import { compose } from './compose.ts';
import { configSchema } from './config.ts';

await runService({
  name: 'upload-worker',
  env: process.env,
  loadConfig: (env) => loadConfig(configSchema, env),
  compose,
});
