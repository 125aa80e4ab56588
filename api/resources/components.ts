import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { componentKind, type ComponentSpec, type ComponentStatus } from "../../crds/component.ts";
import { labels, type Resource } from "../../crds/resource.ts";
import { checkComponentCode, codeLimits, identityOf, isSameCode, type ComponentCode } from "../../domain/component/component-code.ts";
import type { Build, ComponentDefinition } from "../../domain/component/definition.ts";
import { Conflict, InvalidInput, Unavailable } from "../../domain/errors.ts";
import { newId, resourceNameOf } from "../../domain/ids.ts";
import type { Warning } from "../../domain/component/warning.ts";
import type { ApiConfig } from "../config.ts";
import type { NamedComponent } from "./library/ports.ts";
import { confirmOwned } from "./owner-present.ts";
import type { ApiPorts } from "../ports.ts";
import { derivedId } from "./derived-id.ts";
import { publicIdOf } from "./identity.ts";
import { keyOf, type ResourceWatch } from "./watch/resource-watch.ts";
import { untilCreated } from "./watch/until-created.ts";
import { verdictOf } from "./watch/verdict.ts";

/** Bound on keys in requests. */
const maxKeyCharacters = 255;
/** Paths below `/components` that are no keys. */
const reservedKeys: ReadonlySet<string> = new Set(["search", "registry"]);

export type ComponentResource = Resource<ComponentSpec, ComponentStatus>;

/** The parts of a source's component that lists need, without its code of up to a mebibyte. */
export interface KnownComponent {
  readonly id: string;
  readonly definition: ComponentDefinition | undefined;
  /** Probable mistakes of its author. */
  readonly warnings: readonly Warning[];
  /** Key of the registry component that it copies. */
  readonly registryKey: string | undefined;
}

/** Origin of code. */
export interface Origin {
  /** For information only. */
  readonly url?: string | undefined;
  /** Key of the registry component that it copies. */
  readonly registryKey?: string | undefined;
}

/** Owner of a component, and the parts of its name. */
interface Identity {
  readonly namespace: string;
  readonly owner: string;
  /** Public id, derived from the owner and all of the code. */
  readonly id: string;
  readonly origin: Origin;
}

/** A component that was built, and not saved. */
export interface DraftComponent {
  /** The id that it would have. */
  readonly id: string;
  readonly code: ComponentCode;
  readonly build: Build;
}

/** Saves components, and caches what lists need of them. */
export class Components {
  readonly #ports: ApiPorts;
  readonly #config: ApiConfig;
  readonly #watch: ResourceWatch<ComponentSpec, ComponentStatus>;
  readonly #known = new LRUCache<string, Promise<KnownComponent | undefined>>({ max: 2_000 });

  constructor(ports: ApiPorts, config: ApiConfig, watch: ResourceWatch<ComponentSpec, ComponentStatus>) {
    this.#ports = ports;
    this.#config = config;
    this.#watch = watch;
    // The cache holds promises, so a change also evicts a read that began before it.
    watch.onChange((key) => (key === undefined ? this.#known.clear() : this.#known.delete(key)));
  }

  known(namespace: string, name: string): Promise<KnownComponent | undefined> {
    const key = keyOf(namespace, name);
    const cached = this.#known.get(key);
    if (cached !== undefined) return cached;
    const reading = this.#read(namespace, name);
    this.#known.set(key, reading);
    // Do not cache failures and absent components.
    reading.then(
      (found) => found?.definition === undefined && this.#known.delete(key),
      () => this.#known.delete(key),
    );
    return reading;
  }

  /** Reads several components, with one query for those not cached; absent ones are omitted. In a cluster the query lags slightly. */
  async knownOf(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, NamedComponent>> {
    const cached = await Promise.all(
      [...new Set(names)].map(async (name) => [name, await this.#known.get(keyOf(namespace, name))?.catch(() => undefined)] as const),
    );
    const found = new Map<string, NamedComponent>(cached.flatMap(([name, known]) => (known === undefined ? [] : [[name, known]])));
    const missing = cached.flatMap(([name]) => (found.has(name) ? [] : [name]));
    const listed = missing.length === 0 ? [] : await this.#ports.library.findNamed(namespace, missing);
    return new Map([...found, ...listed]);
  }

  async #read(namespace: string, name: string): Promise<KnownComponent | undefined> {
    const found = await this.#ports.store.find(componentKind, namespace, name);
    if (found === undefined) return undefined;
    const { build } = found.status;
    return {
      id: publicIdOf(found),
      definition: build?.definition,
      warnings: build?.warnings ?? [],
      registryKey: found.metadata.labels[labels.registry],
    };
  }

  /**
   * Returns the owner's built component with this code and these files, creating it if it does not exist.
   * @throws InvalidInput when the code cannot be built, LimitExceeded when it is too long, Unavailable
   */
  async save(owner: string, component: ComponentCode, origin: Origin = {}): Promise<ComponentResource> {
    const { code, entry, files } = component;
    const id = this.#idOf(owner, component);
    const name = resourceNameOf(id);
    const namespace = await this.#ports.owners.ensure(owner);
    const found = await this.#ports.store.find(componentKind, namespace, name);
    if (
      found !== undefined &&
      isSameCode(found.spec, component) &&
      found.metadata.deletionTimestamp === undefined &&
      found.status.build !== undefined
    )
      return found;
    // Build first: a mistake is reported with all details, and no component is created.
    const { definition } = await this.#checkedBuild(owner, component);
    const spec: ComponentSpec = {
      code,
      ...(entry === undefined ? {} : { entry }),
      ...(files === undefined ? {} : { files }),
      ...(origin.url === undefined ? {} : { url: origin.url }),
      ...(definition.key === undefined ? {} : { key: definition.key }),
    };
    const following = this.#watch.follow(namespace, name);
    try {
      const created = await this.#create({ namespace, owner, id, origin }, spec);
      await confirmOwned(componentKind, created, owner, this.#ports);
      if (created.metadata.name !== name) return await this.#built(created);
      const signal = AbortSignal.timeout(this.#config.deployTimeoutMs);
      const verdict =
        verdictOf(created, created.metadata.generation) ??
        (await untilCreated(
          { kind: componentKind, created, store: this.#ports.store },
          following,
          (seen) => verdictOf(seen, created.metadata.generation),
          signal,
        ));
      return settled(created, verdict);
    } finally {
      following.end();
    }
  }

  /** Builds the code without saving it. @throws as save */
  async build(owner: string, code: ComponentCode): Promise<DraftComponent> {
    const id = this.#idOf(owner, code);
    return { id, code, build: await this.#checkedBuild(owner, code) };
  }

  /** @throws LimitExceeded when the code is too long */
  #idOf(owner: string, code: ComponentCode): string {
    checkComponentCode(code, { files: codeLimits.files, bytes: this.#config.codeBytes });
    return idOfCode(owner, sha256(identityOf(code)));
  }

  async #checkedBuild(owner: string, code: ComponentCode): Promise<Build> {
    const build = await this.#ports.builds.build(code, owner);
    const { key = "" } = build.definition;
    if (key.length > maxKeyCharacters)
      throw new InvalidInput(`the component's key has ${key.length} characters; the limit is ${maxKeyCharacters}`);
    if (reservedKeys.has(key))
      throw new InvalidInput(
        `the component's key '${key}' is reserved, because /v1/components/${key} is another operation: choose another`,
        {
          code: "key_reserved",
        },
      );
    return build;
  }

  /** Derives the name from owner and code, so that equal concurrent requests create one component. */
  async #create({ namespace, owner, id: derived, origin }: Identity, spec: ComponentSpec): Promise<ComponentResource> {
    const create = (id: string): Promise<ComponentResource> =>
      this.#ports.store.create(componentKind, {
        name: resourceNameOf(id),
        namespace,
        spec,
        labels: {
          ...componentLabels(id, owner, spec),
          ...(origin.registryKey === undefined ? {} : { [labels.registry]: origin.registryKey }),
        },
      });
    try {
      return await create(derived);
    } catch (error) {
      if (!(error instanceof Conflict)) throw error;
      const existing = await this.#ports.store.find(componentKind, namespace, resourceNameOf(derived));
      if (existing !== undefined && isSameCode(existing.spec, spec) && existing.metadata.deletionTimestamp === undefined) return existing;
      // Other code has that name, for instance from kubectl.
      return create(newId("component", this.#ports.randomBytes));
    }
  }

  async #built(component: ComponentResource): Promise<ComponentResource> {
    const { namespace, name, generation } = component.metadata;
    const following = this.#watch.follow(namespace, name);
    try {
      following.notify(await this.#ports.store.find(componentKind, namespace, name));
      return settled(
        component,
        await following.until((seen) => verdictOf(seen, generation), AbortSignal.timeout(this.#config.deployTimeoutMs)),
      );
    } finally {
      following.end();
    }
  }
}

function settled(component: ComponentResource, verdict: ReturnType<typeof verdictOf<ComponentSpec, ComponentStatus>>): ComponentResource {
  if (verdict?.outcome === "stalled")
    throw new InvalidInput(`the component cannot be built: ${verdict.message}`, { code: "component_failed" });
  if (verdict?.outcome !== "ready" || verdict.resource === undefined)
    throw new Unavailable(`component ${publicIdOf(component)} is saved, but was not built in time: try again`, {
      code: "not_ready_in_time",
    });
  return verdict.resource;
}

/** @param codeHash of all files */
export const idOfCode = (owner: string, codeHash: string): string => derivedId("component", `${owner} ${codeHash}`);

export function sha256(text: string): string {
  return hash("sha256", text);
}

function componentLabels(id: string, owner: string, { code, key }: ComponentSpec): Readonly<Record<string, string>> {
  return {
    [labels.id]: id,
    [labels.owner]: owner,
    // A label's value has at most 63 characters, one less than the hash.
    [labels.codeHash]: sha256(code).slice(0, 63),
    ...(key === undefined ? {} : { [labels.componentKey]: labelOfKey(key) }),
  };
}

/** Uses the key's hash if it contains characters that a label must not contain. */
export function labelOfKey(key: string): string {
  return /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/.test(key) ? key : `sha256-${sha256(key).slice(0, 48)}`;
}
