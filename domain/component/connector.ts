import { z } from "zod";

/** A trigger or action of a package, in the shipped index of connectors. */
const member = z.object({
  name: z.string(),
  label: z.string(),
  trigger: z.enum(["polling", "webhook", "app_webhook", "manual"]).optional(),
});

/** A package in the index: facts that `npm run connectors` has read from it. */
const connector = z.object({
  name: z.string(),
  version: z.string(),
  displayName: z.string(),
  app: z.string(),
  /** Its ways to authenticate; none: it needs no account. */
  auth: z.array(z.string()),
  actions: z.array(member),
  triggers: z.array(member),
  /** Of its bundle with the adapter. */
  bundleBytes: z.int(),
});
export type Connector = z.infer<typeof connector>;

const failed = z.object({ name: z.string(), version: z.string().nullable(), problem: z.string() });

/** `registry/connectors.json`. */
export const connectorIndex = z.object({
  connectors: z.array(connector),
  /** Packages that do not load, and why. */
  failed: z.array(failed),
});
export type ConnectorIndex = z.infer<typeof connectorIndex>;

/** A connector that matches a search, with those of its members that do. */
export interface FoundConnector {
  readonly connector: Connector;
  readonly members: readonly { readonly kind: "action" | "trigger"; readonly name: string; readonly label: string }[];
}

/** The connectors that contain all words, in their own names or in those of one of their members; by name first. */
export function searchConnectors(all: readonly Connector[], text: string): readonly FoundConnector[] {
  const words = wordsOf(text.replace(/^npm:/, ""));
  const found = all.flatMap((connector) => {
    const own = wordsOf(`${connector.displayName} ${connector.name} ${connector.app}`).join(" ");
    const missing = words.filter((word) => !own.includes(word));
    const members = membersOf(connector).filter(({ name, label }) => {
      const texts = wordsOf(`${label} ${name}`).join(" ");
      return missing.every((word) => texts.includes(word));
    });
    const isNamed = missing.length === 0;
    return isNamed || members.length > 0 ? [{ connector, members, rank: rankOf(connector, words, isNamed) }] : [];
  });
  return found.sort((a, b) => a.rank - b.rank || (a.connector.displayName < b.connector.displayName ? -1 : 1));
}

function rankOf({ displayName }: Connector, words: readonly string[], isNamed: boolean): number {
  if (wordsOf(displayName).join(" ") === words.join(" ")) return 0;
  return isNamed ? 1 : 2;
}

const membersOf = ({ actions, triggers }: Connector): FoundConnector["members"] => [
  ...triggers.map(({ name, label }) => ({ kind: "trigger" as const, name, label })),
  ...actions.map(({ name, label }) => ({ kind: "action" as const, name, label })),
];

const wordsOf = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
