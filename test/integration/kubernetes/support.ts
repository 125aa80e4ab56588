import { randomBytes } from "node:crypto";
import { afterAll, beforeAll } from "vitest";
import { connectKubernetes, type Kubernetes, type KubernetesOptions } from "../../../platform/kubernetes/access/connection.ts";
import { readKubeconfig } from "../../../platform/kubernetes/access/kubeconfig.ts";
import type { ResourceStore } from "../../../crds/resource-store.ts";
import type { Resource } from "../../../crds/resource.ts";
import { startProxy, type CuttableProxy } from "../../support/cuttable-proxy.ts";
import type { KubeApi } from "../../support/kube/kube-api.ts";

/** A connection to the file's API server, closed after the last test. */
export function withKubernetes(kube: KubeApi, options: KubernetesOptions = {}): () => Kubernetes {
  let kubernetes: Kubernetes | undefined;
  beforeAll(async () => {
    if (kube.missing === undefined) kubernetes = await connectKubernetes({ access: await readKubeconfig(kube.kubeconfigPath), ...options });
  });
  afterAll(() => kubernetes?.close());
  return () => {
    if (kubernetes === undefined) throw new Error("there is no connection before beforeAll");
    return kubernetes;
  };
}

export interface Proxied {
  readonly kubernetes: Kubernetes;
  /** The proxy through which it reaches the API server. */
  readonly proxy: CuttableProxy;
  /** The API server cannot be reached, until `arrive`. */
  leave(): Promise<void>;
  arrive(): Promise<void>;
  end(): Promise<void>;
}

/** A connection to the API server that a test can cut. */
export async function throughProxy(kube: KubeApi, options: KubernetesOptions = {}): Promise<Proxied> {
  const target = Number(new URL(kube.access.url).port);
  let proxy = await startProxy(target);
  const { port } = proxy;
  const access = { ...(await readKubeconfig(kube.kubeconfigPath)), server: `https://127.0.0.1:${port}` };
  const kubernetes = await connectKubernetes({ access, ...options });
  return {
    kubernetes,
    get proxy() {
      return proxy;
    },
    leave: () => proxy.close(),
    arrive: async () => {
      proxy = await startProxy(target, port);
    },
    end: async () => {
      await kubernetes.close();
      await proxy.close();
    },
  };
}

/** The store without resources of other files' namespaces, which share the API server: this file's operator must not see them. */
export function ofNamespaces(store: ResourceStore, isOwn: (namespace: string) => boolean): ResourceStore {
  const isSeen = <S, T>({ metadata }: Resource<S, T>): boolean => isOwn(metadata.namespace);
  return {
    ...store,
    list: async (kind, options) => {
      const page = await store.list(kind, options);
      return { ...page, items: page.items.filter(isSeen) };
    },
    watch: async function* (kind, resourceVersion, signal) {
      for await (const event of store.watch(kind, resourceVersion, signal))
        if (event.type === "bookmark" || isSeen(event.resource)) yield event;
    },
  };
}

/** A unique public id of a user. */
export const newOwner = (): string => `u_${randomBytes(8).toString("hex")}`;

/** Resolves with the first value that is neither undefined nor false; throws after two minutes. */
export async function whenever<T>(look: () => Promise<T | undefined | false> | T | undefined | false, what: string): Promise<T> {
  const deadline = Date.now() + 120_000;
  // A look is often a request: many of them would cost more than what they wait for.
  for (let waitMs = 10; ; waitMs = Math.min(100, waitMs * 1.5)) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`this did not come about: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
