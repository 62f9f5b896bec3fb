// Installs infra/node_modules from infra/pnpm-lock.yaml, and the Python environment of test/requirements.txt
// in node_modules/.checks.
import { installApart, run } from '../scripts/install-apart.mjs';

const REQUIREMENTS = 'test/requirements.txt';
const CHECKS = 'node_modules/.checks';

installApart('infra', [REQUIREMENTS], () => {
  run('python3', ['-m', 'venv', '--clear', CHECKS]);
  const hashed = ['--require-hashes', '--only-binary', ':all:', '--requirement', REQUIREMENTS];
  run(`${CHECKS}/bin/pip`, ['install', '--quiet', '--disable-pip-version-check', ...hashed]);
});
