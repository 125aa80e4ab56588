import type { Kind, Resource } from "../../crds/resource.ts";
import type { PageRequest } from "../../domain/page.ts";
import type { ApiPorts, Listed } from "../ports.ts";
import { publicIdOf } from "./identity.ts";

const pageSize = 100;
/** Bound on resources that a refusal lists. */
const maxNamed = 20;

interface Identified {
  readonly id?: string | undefined;
}

interface Used<S, T> {
  readonly namespace: string;
  /** Text that the spec of each user contains: an id, or a name. */
  readonly mentions: string;
  /** A resource that contains the text may not use what it names. */
  readonly uses: (resource: Resource<S, T>) => boolean;
}

/**
 * The resources of a kind that use something, up to `max`. One in deletion does not count, and neither does one whose stored spec is
 * invalid, because it does not run.
 */
export async function findUsers<S, T extends Identified>(
  kind: Kind<S, T>,
  { namespace, mentions, uses }: Used<S, T>,
  { pages }: Pick<ApiPorts, "pages">,
  max: number = maxNamed + 1,
): Promise<readonly Resource<S, T>[]> {
  const users: Resource<S, T>[] = [];
  for (let cursor: PageRequest["cursor"] = null; users.length < max;) {
    const { items }: Listed<Resource<S, T>> = await pages.listPage(kind, { namespace, mentions }, { limit: pageSize, cursor });
    users.push(...items.filter((item) => item.metadata.deletionTimestamp === undefined && item.invalid === undefined && uses(item)));
    const last: Resource<S, T> | undefined = items.at(-1);
    if (items.length < pageSize || last === undefined) break;
    cursor = { side: "after", id: publicIdOf(last) };
  }
  return users.slice(0, max);
}

/** `dc_1, dc_2 and others`, from users of up to one more than a refusal lists. */
export function namedUsers(users: readonly Resource<unknown, Identified>[]): string {
  const others = users.length > maxNamed ? " and others" : "";
  return `${idsOf(users).join(", ")}${others}`;
}

export const idsOf = (users: readonly Resource<unknown, Identified>[]): readonly string[] => users.slice(0, maxNamed).map(publicIdOf);
