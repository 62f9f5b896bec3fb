import { loadJobTypes } from '@pasteflow/jobs';
import { ConfigError, loadConfig, runService } from '@pasteflow/runtime';
import { settingNames } from '@pasteflow/service-kit';
import { composeApi } from './compose.ts';
import { configSchema } from './config.ts';

await runService({
  name: 'api',
  env: process.env,
  loadConfig: (env) => loadConfig(configSchema, env),
  settingNames,
  compose: async (context) => {
    const refuse = (problem: string) => new ConfigError([`JOB_TYPES ${problem}`]);
    const jobTypes = await loadJobTypes(context.config.jobTypesFile, context.logger, refuse);
    return composeApi(context, { jobTypes }).components;
  },
});
