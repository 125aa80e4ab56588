import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { expectObject, kubeList, messageOf, type KubeAnswer, type KubeApiClient, type KubeObject } from "./kube-api-client.ts";

/** kubectl's operations on manifests and names, over REST: for tests that need only an API server and etcd. */
export interface KubeObjects {
  /** Applies every document of the manifest, YAML or JSON. @param namespace the default namespace @throws with the server's message when it refuses */
  apply(manifest: string, namespace: string): Promise<void>;
  /** @param what kind and name, such as `source orders`; undefined when it does not exist */
  find(what: string, namespace: string): Promise<KubeObject | undefined>;
  /** @param kind one of our kinds, such as `sources` @param selector a label selector */
  list(kind: string, namespace: string, selector?: string): Promise<readonly KubeObject[]>;
  /** Requests the deletion: objects with finalizers disappear later. */
  delete(what: string, namespace: string): Promise<void>;
  label(namespace: string, labels: Readonly<Record<string, string>>): Promise<void>;
}

const ours = "headwater.dev/v1alpha1";
const core = ["configmap", "secret"];
const manifestSchema = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }) });

export function kubeObjects(client: () => KubeApiClient): KubeObjects {
  const request = (method: "GET" | "DELETE", what: string, namespace: string): Promise<KubeAnswer> => {
    const [kind = "", name = ""] = what.split(" ");
    return client().request(method, `${collectionOf(kind, namespace)}/${name}`);
  };
  return {
    apply: async (manifest, namespace) => {
      for (const document of parseAllDocuments(manifest)) {
        const given = manifestSchema.parse(document.toJS());
        const { name, namespace: into = namespace } = given.metadata;
        const metadata = { ...given.metadata, namespace: into };
        await client().apply(`${collectionOf(given.kind, into)}/${name}`, { ...given, metadata });
      }
    },
    find: async (what, namespace) => {
      const answer = await request("GET", what, namespace);
      return answer.status === 404 ? undefined : expectObject(answer);
    },
    list: async (kind, namespace, selector = "") => {
      const { body } = await client().request("GET", `${collectionOf(kind, namespace)}?labelSelector=${encodeURIComponent(selector)}`);
      return kubeList.parse(body).items;
    },
    delete: async (what, namespace) => {
      const answer = await request("DELETE", what, namespace);
      if (answer.status >= 300) throw new Error(`${what} is not deleted: ${messageOf(answer)}`);
    },
    label: async (namespace, labels) => {
      const type = { "content-type": "application/merge-patch+json" };
      expectObject(await client().request("PATCH", `/api/v1/namespaces/${namespace}`, { metadata: { labels } }, type));
    },
  };
}

/** @param kind singular or plural, in any case */
function collectionOf(kind: string, namespace: string): string {
  const singular = kind.toLowerCase().replace(/s$/, "");
  const root = core.includes(singular) ? "/api/v1" : `/apis/${ours}`;
  return `${root}/namespaces/${namespace}/${singular}s`;
}
