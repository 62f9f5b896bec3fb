// Installs site/node_modules from site/pnpm-lock.yaml.
import { installApart } from '../scripts/install-apart.mjs';

installApart('site');
