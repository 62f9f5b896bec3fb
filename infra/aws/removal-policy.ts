import { RemovalPolicy } from 'aws-cdk-lib';
import type { Configuration } from './configuration.ts';

/**
 * A protected resource stays when its stack is deleted. It does not stay when the creation of its stack
 * failed: it is empty then, and its name would block the next attempt.
 */
export function removalPolicy({ protect }: Configuration): RemovalPolicy {
  return protect ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}
