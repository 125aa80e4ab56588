import { identityOf } from "../../../domain/component/component-code.ts";
import { deprecationWarning } from "../../../domain/component/publication.ts";
import type { Warning } from "../../../domain/component/warning.ts";
import { NotFound } from "../../../domain/errors.ts";
import { suggestion } from "../../../domain/nearest-name.ts";
import { idOfCode, sha256 } from "../components.ts";
import { derivedId } from "../derived-id.ts";
import type { ListedComponents, ListedPublication, Publication, PublishedCode, PublishedComponent, Publications } from "./ports.ts";

/** Owner part of the registry's ids; no owner has this id. */
const registryOwner = "registry";
/** Lists of the registry have one page. */
const maxListed = 1_000;

/** Id of a version that an admin publishes. */
export const publicationId = (key: string, version: string): string => derivedId("component", `${registryOwner} ${key} ${version}`);

/** The components that come with Headwater, and those that admins published. Both are available to all owners. */
export class Registry {
  /** By key. */
  readonly #own: ReadonlyMap<string, PublishedComponent>;
  readonly #publications: Publications;

  constructor(own: readonly PublishedCode[], publications: Publications) {
    this.#own = new Map(own.map((component) => [component.key, ownComponent(component)]));
    this.#publications = publications;
  }

  /** The components that come with Headwater. */
  get own(): readonly PublishedComponent[] {
    return [...this.#own.values()];
  }

  /** The component with the key; by default, its current version. Of its own components Headwater has one version. */
  async find(key: string, version?: string): Promise<PublishedComponent | Publication | undefined> {
    const own = this.#own.get(key);
    if (own === undefined) return this.#publications.find(key, version);
    return version === undefined || version === own.definition.version ? own : undefined;
  }

  /** @throws NotFound */
  async get(key: string, version?: string): Promise<PublishedComponent | Publication> {
    const found = await this.find(key, version);
    if (found !== undefined) return found;
    const current = version === undefined ? undefined : await this.find(key);
    if (current === undefined)
      throw new NotFound(
        `record not found: the registry has no component '${key.slice(0, 80)}'${await this.suggestion(key, ": GET /v1/components/registry lists what it has")}`,
      );
    throw new NotFound(
      `the registry has version ${current.definition.version ?? ""} of ${key}, but not version '${(version ?? "").slice(0, 80)}': GET /v1/components/registry/${key}/versions lists them`,
    );
  }

  async list(): Promise<ListedComponents> {
    const { items, total } = await this.#publications.listCurrent(maxListed);
    return { items: [...this.#own.values(), ...items], total: total + this.#own.size };
  }

  /** Newest first. @throws NotFound */
  async listVersions(key: string): Promise<readonly ListedPublication[]> {
    const own = this.#own.get(key);
    if (own !== undefined) return [{ ...own, version: own.definition.version ?? "", deprecated: null }];
    const versions = await this.#publications.listVersions(key);
    if (versions.length === 0) await this.get(key);
    return versions;
  }

  /** `: did you mean acme-feed?`, or `otherwise`. */
  async suggestion(key: string, otherwise: string): Promise<string> {
    const [app = ""] = key.slice(0, 80).split("-");
    return suggestion(key, [...this.#own.keys(), ...(await this.#publications.keysLike(app))], otherwise);
  }

  /** The warning for a source or step whose component copies a deprecated version. */
  async warningsOf(key: string | undefined, version: string | undefined): Promise<readonly Warning[]> {
    if (key === undefined || version === undefined || this.#own.has(key)) return [];
    const deprecated = await this.#publications.deprecationOf(key, version);
    return deprecated === null ? [] : [deprecationWarning({ key, version, deprecated })];
  }
}

/** The warning for a version of the registry, if it is deprecated. */
export function deprecationOf(component: PublishedComponent | ListedPublication): readonly Warning[] {
  if (!("deprecated" in component) || component.deprecated === null) return [];
  const { definition, version, deprecated } = component;
  return [deprecationWarning({ key: definition.key ?? "", version, deprecated })];
}

function ownComponent(component: PublishedCode): PublishedComponent {
  const releasedMs = Date.parse(component.released);
  return {
    ...component,
    id: idOfCode(registryOwner, sha256(identityOf(component))),
    codeHash: sha256(component.code),
    createdAtMs: releasedMs,
    updatedAtMs: releasedMs,
    isPublished: true,
  };
}
