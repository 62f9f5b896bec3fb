import { RemovalPolicy } from 'aws-cdk-lib';
import type { Configuration } from './configuration.ts';

/**
 * What is protected stays when its stack goes, but not when its stack could not even be made: it holds nothing then, and its name would be in
 * the way of the next attempt.
 */
export function removalPolicy({ protect }: Configuration): RemovalPolicy {
  return protect ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
}
