import { z } from "zod";
import type { Kind, Resource } from "../../crds/resource.ts";
import { Forbidden, NotFound } from "../../domain/errors.ts";
import { isId, type IdKind } from "../../domain/ids.ts";
import type { Call } from "../http/call.ts";
import { parse, text } from "../http/parameters.ts";
import type { ApiPorts, User } from "../ports.ts";
import { notFound } from "./not-found.ts";

type AccessPorts = Pick<ApiPorts, "accounts" | "store" | "pages" | "owners">;

export const ownerParameters = z.object({ org_id: text.optional(), workspace_id: text.optional() });

/** Who may see and own what: a user sees what is theirs and their organizations'. */
export class Access {
  readonly #ports: AccessPorts;

  constructor(ports: AccessPorts) {
    this.#ports = ports;
  }

  /** In whose name the call acts: the organization of `org_id` (or `workspace_id`), else the user. @throws Forbidden, NotFound */
  async owner({ user, parameters }: Pick<Call, "user" | "parameters">): Promise<string> {
    const { org_id, workspace_id } = parse(ownerParameters, parameters);
    const wanted = org_id ?? workspace_id;
    if (wanted === undefined || wanted === "" || wanted === user.id) return user.id;
    await this.checkOrganization(user, wanted);
    return wanted;
  }

  /** @throws Forbidden for an organization of others, NotFound for none */
  async checkOrganization(user: User, id: string): Promise<void> {
    if (!isId("organization", id)) throw new NotFound(`organization '${id.slice(0, 80)}' is not found: its id must look like o_…`);
    if (await this.#ports.accounts.isMember(user.id, id)) return;
    if ((await this.#ports.accounts.findOrganization(id)) === undefined) throw new NotFound(`organization ${id} is not found`);
    throw new Forbidden(`you are no member of organization ${id}`);
  }

  /** The user and their organizations. */
  async ownersOf(user: User): Promise<readonly string[]> {
    return [user.id, ...(await this.#ports.accounts.organizationsOf(user.id)).map(({ id }) => id)];
  }

  /** As it is now. What belongs to others is not found, just as what does not exist: ids tell nobody anything. @throws NotFound */
  async get<S, T>(kind: Kind<S, T>, idKind: IdKind, id: string, user: User): Promise<Resource<S, T>> {
    const found = isId(idKind, id) ? await this.#ports.store.findById(kind, id) : undefined;
    if (found === undefined || !(await this.#isShown(found, user))) throw notFound(idKind, id);
    return found;
  }

  /** Undefined in a namespace that nobody owns. */
  async ownerOf({ metadata }: Resource): Promise<string | undefined> {
    return this.#ports.owners.ownerOf(metadata.namespace);
  }

  /**
   * As lists show it, which is enough for whoever reads its history: that asks nothing of the store, however often it is read.
   * What no list shows yet is looked for in the store. @throws NotFound
   */
  async getListed<S, T>(kind: Kind<S, T>, idKind: IdKind, id: string, user: User): Promise<Resource<S, T>> {
    const listed = isId(idKind, id) ? await this.#ports.pages.findById(kind, id) : undefined;
    if (listed === undefined) return this.get(kind, idKind, id, user);
    if (!(await this.#isShown(listed, user))) throw notFound(idKind, id);
    return listed;
  }

  async #isShown(found: Resource, user: User): Promise<boolean> {
    return found.metadata.deletionTimestamp === undefined && (await this.#mayUse(user, found));
  }

  async #mayUse(user: User, resource: Resource): Promise<boolean> {
    const owner = await this.ownerOf(resource);
    if (owner === undefined || owner === user.id) return owner !== undefined;
    return isId("organization", owner) && this.#ports.accounts.isMember(user.id, owner);
  }
}
