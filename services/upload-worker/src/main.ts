import { loadConfig, runService } from '@pasteflow/runtime';
import { settingNames } from '@pasteflow/service-kit';
import { compose } from './compose.ts';
import { configSchema } from './config.ts';

await runService({
  name: 'upload-worker',
  env: process.env,
  loadConfig: (env) => loadConfig(configSchema, env),
  settingNames,
  compose,
});
