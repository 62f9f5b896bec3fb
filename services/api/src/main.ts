import { loadConfig, runService } from '@pasteflow/runtime';
import { composeApi } from './compose.ts';
import { configSchema } from './config.ts';

await runService({
  name: 'api',
  env: process.env,
  loadConfig: (env) => loadConfig(configSchema, env),
  compose: (context) => composeApi(context).components,
});
