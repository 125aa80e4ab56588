import type { Client } from "../client/client.ts";
import { notFound, usageFailure } from "./failure.ts";

/**
 * The id of an organization of the caller, by its id, its unique orgname or its display name. An organization that the caller does not belong to
 * would be ignored by operations on single things, so it is an error here. @throws Failure
 */
export async function organizationOf(client: Client, text: string): Promise<string> {
  const { data } = await client.call("getMe", {});
  const found = [data.orgs.filter(({ id, orgname }) => id === text || orgname === text), data.orgs.filter(({ name }) => name === text)];
  const [only, ...others] = found.find((each) => each.length > 0) ?? [];
  if (only === undefined) throw notFound(`you belong to no organization "${text}"`, "`hw list orgs` shows yours");
  if (others.length === 0) return only.id;
  throw usageFailure(`"${text}" may be ${[only, ...others].map(({ orgname }) => orgname).join(" or ")}`, "use one of these names");
}
