import { CfnOutput } from 'aws-cdk-lib';
import * as ecs from 'aws-cdk-lib/aws-ecs';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { OperationsConfiguration } from './configuration.ts';

/**
 * `OPS_PORT`. The same on the operator's machine at the end of a tunnel: the page refuses requests for
 * another port.
 */
export const OPERATIONS_PORT = 9467;

/**
 * Letters and digits: a browser sends the token as a password, and an operator copies it. 40 of them have 238
 * bits.
 */
const TOKEN_CHARACTERS = 40;

/** The passwords of the operations page, and the settings of the janitors that serve it. */
export class OperationsPage extends Construct {
  readonly secrets: Readonly<Record<string, ecs.Secret>>;
  readonly environment: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, operations: OperationsConfiguration) {
    super(scope, id);
    this.secrets = {
      OPS_TOKEN: this.#makeToken('Token', 'reads and acts'),
      OPS_READ_TOKEN: this.#makeToken('ReadToken', 'reads'),
      ...(operations.via === 'balancer' &&
        operations.oidcClientSecretArn !== undefined && {
          OPS_OIDC_CLIENT_SECRET: ecs.Secret.fromSecretsManager(
            Secret.fromSecretCompleteArn(this, 'OidcClientSecret', operations.oidcClientSecretArn),
          ),
        }),
    };
    this.environment = {
      OPS_PORT: String(OPERATIONS_PORT),
      // Through a tunnel the page needs no other address than loopback, which nothing in the VPC reaches.
      ...(operations.via === 'balancer' && { OPS_HOST: '0.0.0.0', OPS_URL: operations.url }),
    };
  }

  /**
   * Secrets Manager makes the text. Its name is made by CloudFormation, so that a failed deployment leaves no
   * name behind.
   */
  #makeToken(id: string, who: string): ecs.Secret {
    const secret = new Secret(this, id, {
      description: `The password of the operations page for who ${who}`,
      generateSecretString: { passwordLength: TOKEN_CHARACTERS, excludePunctuation: true },
    });
    new CfnOutput(this, `${id}Arn`, { value: secret.secretArn });
    return ecs.Secret.fromSecretsManager(secret);
  }
}
