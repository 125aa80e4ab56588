import type { Client } from "../../client/client.ts";
import { notFound, usageFailure } from "../failure.ts";
import { kindNamed } from "../kinds/kinds.ts";
import type { Item, Kind } from "../kinds/kind.ts";
import { collect } from "../pages.ts";
import { recordOf } from "../values.ts";
import type { Manifests, Spec } from "./manifest.ts";

/** Resources of the server during one command: each list and each component is read once. */
export class Session {
  readonly client: Client;
  readonly #manifests: Pick<Manifests, "secrets" | "configMaps">;
  readonly #lists = new Map<string, Promise<readonly Item[]>>();
  readonly #components = new Map<string, Promise<Spec>>();
  readonly #ids = new Map<string, string>();

  constructor(client: Client, manifests: Pick<Manifests, "secrets" | "configMaps">) {
    this.client = client;
    this.#manifests = manifests;
  }

  /** All things of a kind. */
  items(kindName: string): Promise<readonly Item[]> {
    const listed = this.#lists.get(kindName) ?? this.#read(kindNamed(kindName));
    this.#lists.set(kindName, listed);
    return listed;
  }

  async #read(kind: Kind): Promise<readonly Item[]> {
    return (await collect((query) => kind.list(this.client, query))).data;
  }

  /** A saved component with its code. */
  component(id: string): Promise<Spec> {
    const found = this.#components.get(id) ?? this.client.call("getComponent", { path: { key: id } }).then(({ data }) => ({ ...data }));
    this.#components.set(id, found);
    return found;
  }

  /** Remembers the id of a resource that was found or created, for references by name. */
  remember(resourceKind: string, name: string, id: string): void {
    this.#ids.set(`${resourceKind}/${name}`, id);
  }

  /** The id of a reference by name. @throws Failure if there is none */
  async idOf(resourceKind: string, name: string): Promise<string> {
    const kindName = listNames[resourceKind];
    if (kindName === undefined) throw usageFailure(`a reference to the kind ${resourceKind} is not possible`);
    const known = this.#ids.get(`${resourceKind}/${name}`) ?? (await this.find(kindName, name))?.["id"];
    if (typeof known === "string") return known;
    throw notFound(`${resourceKind} ${name} does not exist`, "add it to the files, before or after what refers to it");
  }

  /** What has this resource name. */
  async find(kindName: string, name: string): Promise<Item | undefined> {
    const kind = kindNamed(kindName);
    return (await this.items(kindName)).find((item) => resourceName(kind, item) === name || idWithDash(String(item["id"])) === name);
  }

  /** The text that a `secretKeyRef` refers to. @throws Failure unless the files have it */
  secret(reference: unknown, what: string): string {
    const { secretKeyRef } = recordOf(reference, what);
    const { name, key } = recordOf(secretKeyRef ?? {}, `${what}.secretKeyRef`);
    const text = this.#manifests.secrets.get(`${String(name)}/${String(key)}`);
    if (text === undefined)
      throw notFound(
        `${what} refers to Secret ${String(name)}, which is not in the files`,
        "the API does not read Secrets of a cluster: add the Secret, or use kubectl",
      );
    return text;
  }

  /** The text of a key of a ConfigMap in the files. @throws Failure */
  configMap(reference: unknown, what: string): string {
    const { name, key } = recordOf(reference, what);
    const text = this.#manifests.configMaps.get(`${String(name)}/${String(key)}`);
    if (text === undefined) throw notFound(`${what} refers to ConfigMap ${String(name)}, which is not in the files`);
    return text;
  }
}

/** Lists of the kinds that others refer to. */
const listNames: Readonly<Record<string, string>> = {
  Source: "sources",
  Workflow: "workflows",
  Webhook: "webhooks",
  Component: "components",
  DataStore: "data-stores",
};

const idWithDash = (id: string): string => id.replace("_", "-");

/** A name for a resource: that of the thing as lower-case letters, digits and dashes, otherwise its id. */
export function resourceName(kind: Kind, item: Item): string {
  const [name] = (kind.namesOf?.(item) ?? []).filter((each) => typeof each === "string");
  const slug = (name ?? "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 58);
  return slug === "" ? idWithDash(String(item["id"])) : slug;
}
