import { loadConfig, runService } from '@pasteflow/runtime';
import { settingNames } from '@pasteflow/service-kit';
import { composeApi } from './compose.ts';
import { configSchema } from './config.ts';

await runService({
  name: 'api',
  env: process.env,
  loadConfig: (env) => loadConfig(configSchema, env),
  settingNames,
  compose: (context) => composeApi(context).components,
});
