export { stopShared as default } from './shared-postgres.mjs'; // Jest's global teardown
