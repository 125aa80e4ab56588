import { usageFailure } from "../failure.ts";
import type { Kind } from "./kind.ts";
import { apps, oauthClients } from "./apps.ts";
import { accounts, keys, organizations, registry } from "./owned.ts";
import { autoSubscriptions, subscriptions, webhooks } from "./delivered.ts";
import { components, sources, workflows } from "./running.ts";
import { dataStores } from "./data-stores.ts";
import { variables } from "./variables.ts";

/** Kinds in the order of `hw list --help`. */
export const kinds: readonly Kind[] = [
  sources,
  workflows,
  components,
  webhooks,
  subscriptions,
  autoSubscriptions,
  accounts,
  apps,
  oauthClients,
  variables,
  dataStores,
  organizations,
  keys,
  registry,
];

export const kindNames = kinds.map(({ name }) => name);

/** The kind that has this name, singular or alias. @throws Failure that lists the names */
export function kindNamed(text: string): Kind {
  const found = kinds.find(({ name, noun, aliases }) => [name, noun, ...aliases].includes(text.toLowerCase()));
  if (found === undefined) throw usageFailure(`there is no kind "${text}"`, `kinds are: ${kindNames.join(", ")}`);
  return found;
}

/** The kind of an id by its prefix; undefined for a name. */
export const kindOfId = (id: string): Kind | undefined => kinds.find(({ prefix }) => prefix !== undefined && id.startsWith(`${prefix}_`));
