import { createClient } from "../client/client.ts";
import type { Connection } from "./context.ts";
import { organizationOf } from "./organization.ts";
import { openProfile, type Search } from "./profile/find.ts";
import type { Profile } from "./profile/profile.ts";

interface ConnectOptions extends Search {
  /** Value of `--org`: an id or a name. */
  readonly org: string | undefined;
  readonly signal: AbortSignal;
}

/** Finds the installation and makes a client for it. */
export async function connect({ org, signal, ...search }: ConnectOptions): Promise<Connection> {
  const { profile: found, close } = await openProfile(search);
  try {
    const profile: Profile = { ...found, org: await organizationIdOf(org ?? found.org, found, signal) };
    return { client: clientOf(profile, signal), profile, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function organizationIdOf(text: string | undefined, profile: Profile, signal: AbortSignal): Promise<string | undefined> {
  return text === undefined ? undefined : organizationOf(clientOf({ ...profile, org: undefined }, signal), text);
}

export function clientOf({ url, apiKey, org }: Profile, signal: AbortSignal): Connection["client"] {
  return createClient({
    baseUrl: url,
    headers: () => ({ "user-agent": "hw", ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }) }),
    fetch: (input, init) => {
      const signals = [signal, ...(init?.signal == null ? [] : [init.signal])];
      return fetch(onBehalfOf(org, new URL(input instanceof Request ? input.url : input)), { ...init, signal: AbortSignal.any(signals) });
    },
  });
}

/** Every operation of `/v1` takes `org_id`. */
function onBehalfOf(org: string | undefined, url: URL): URL {
  const takesOwner = url.pathname.startsWith("/v1/") && !url.pathname.startsWith("/v1/orgs") && !url.pathname.startsWith("/v1/oauth");
  if (org !== undefined && takesOwner && !url.searchParams.has("org_id")) url.searchParams.set("org_id", org);
  return url;
}
