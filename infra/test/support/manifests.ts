import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HTTPRoute } from '@kubernetes-models/gateway-api/gateway.networking.k8s.io/v1';
import { ScaledObject, TriggerAuthentication } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { PodMonitor, PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { parseAllDocuments } from 'yaml';
import { kubernetesVersions } from '../../kubernetes/helm.ts';

export interface Container {
  readonly args: string[];
  readonly image: string;
  readonly securityContext: object;
  readonly readinessProbe?: object;
  readonly livenessProbe?: object;
  readonly resources: { limits: object; requests: object };
  readonly env?: readonly { name: string; value: string }[];
  readonly ports?: readonly object[];
  readonly envFrom: { secretRef?: { name: string; optional?: boolean } }[];
  readonly volumeMounts?: readonly { mountPath: string; subPath: string }[];
}

export interface Pod {
  readonly containers: Container[];
  readonly securityContext: object;
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
}

/** The parts of any kind that tests look at. */
export interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  readonly data: Record<string, string>;
  readonly spec: {
    readonly replicas?: number;
    readonly template: { metadata: { annotations: Record<string, string> }; spec: Pod };
    readonly selector: { matchLabels: object };
    readonly groups: unknown;
  } & Record<string, unknown>;
}

export function manifestsOf(yaml: string): Manifest[] {
  return parseAllDocuments(yaml).flatMap((document) => (document.toJS() as Manifest | null) ?? []);
}

export function finder(manifests: readonly Manifest[]) {
  return (kind: string, name: string): Manifest | undefined =>
    manifests.find((each) => each.kind === kind && each.metadata.name === `pasteflow-${name}`);
}

/** Kinds that Kubernetes itself doesn't have, each with the schema of its own resource definition. */
const custom: Readonly<Record<string, new (data: never) => { validate: () => void }>> = {
  HTTPRoute,
  PodMonitor,
  PrometheusRule,
  ScaledObject,
  TriggerAuthentication,
};

/** @throws unless all are valid, without unknown fields, by the schemas of each version of Kubernetes and of the operators */
export function validate(manifests: readonly Manifest[]): void {
  for (const each of manifests) {
    const Model = custom[each.kind];
    if (Model === undefined) continue;
    const unread = new Set<string>();
    // Given afterwards, because the constructor copies what it gets.
    Object.assign(new Model(each as never), { spec: watched(each.spec, 'spec', unread) }).validate();
    if (unread.size > 0) throw new Error(`${each.kind}: unknown fields ${[...unread].join(', ')}`);
  }
  const own = manifests.filter(({ kind }) => !(kind in custom));
  const folder = mkdtempSync(join(tmpdir(), 'pasteflow-manifests-'));
  try {
    const file = join(folder, 'manifests.yaml');
    writeFileSync(file, own.map((each) => JSON.stringify(each)).join('\n---\n')); // unquoted, `off` is no text in YAML 1.1
    const program = new URL('../../node_modules/.checks/bin/kubernetes-validate', import.meta.url).pathname;
    for (const version of kubernetesVersions) {
      const { status, stdout, stderr } = spawnSync(program, ['--strict', '--quiet', '-k', version, file], {
        encoding: 'utf8',
      });
      if (status !== 0 || stdout + stderr !== '')
        throw new Error(`Kubernetes ${version}: ${stdout}${stderr}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** These validators ignore what they don't know: a field that one has never read is unknown. */
function watched(value: unknown, path: string, unread: Set<string>): unknown {
  if (Array.isArray(value)) return value.map((each, index) => watched(each, `${path}[${index}]`, unread));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, inner]): [string, unknown] => {
    unread.add(`${path}.${key}`);
    return [key, watched(inner, `${path}.${key}`, unread)];
  });
  return new Proxy(Object.fromEntries(fields), {
    get: (target, key) => {
      unread.delete(`${path}.${String(key)}`);
      return target[key as string];
    },
    // It reads all keys, as of labels.
    ownKeys: (target) => {
      for (const key of Object.keys(target)) unread.delete(`${path}.${key}`);
      return Reflect.ownKeys(target);
    },
  });
}
