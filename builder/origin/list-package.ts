import { z } from "zod";
import { InvalidInput, Unavailable } from "../../domain/errors.ts";
import type { ListedComponent, PackageListing, WantedPackage } from "../../domain/component/package-listing.ts";
import { build, type BuildParts } from "../build.ts";
import type { Deadline } from "../deadline.ts";
import { filesOf, listComponentFiles } from "./component-files.ts";
import { listingCode } from "./generated-code.ts";
import { shortenListing } from "./shorten-listing.ts";
import { resolvePackage, type ResolvedPackage } from "./resolve-package.ts";

/** What the code of a package says of it: read as that of an attacker. */
const text = z.string().max(1_000);
const name = z.string().regex(/^[\w.-]{1,200}$/);
const member = z.object({ name, label: text, description: text, problem: text.optional() });
const strategy = z.enum(["polling", "webhook", "app_webhook", "manual"]);
const field = z.object({ name: text, label: text, secret: z.boolean(), optional: z.boolean() });
const auth = z.object({
  kind: z.enum(["oauth2", "secret_text", "basic", "custom", "oidc"]),
  authorizationUrl: text.optional(),
  tokenUrl: text.optional(),
  scopes: z.array(text).max(200).optional().catch(undefined),
  fields: z.array(field).max(100).optional().catch(undefined),
});
/** Of all that a piece says of itself, without its actions and triggers. */
const maxPieceCharacters = 64 * 1024;
const piece = z
  .object({ displayName: text, description: text.optional(), app: text, auth: z.array(auth).max(20) })
  .refine((said) => JSON.stringify(said).length <= maxPieceCharacters);
const described = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("piece"),
    piece,
    actions: z.array(member.nullable().catch(null)).max(2_000),
    triggers: z.array(member.extend({ strategy }).nullable().catch(null)).max(2_000),
  }),
  z.object({ kind: z.literal("component"), name: text.optional(), type: z.unknown() }),
  z.object({ kind: z.literal("none") }),
]);
type Described = z.infer<typeof described>;

/** Runners never run what is built to list a package, so the store of bundles does not keep it. */
const notStored = { keep: async () => true, store: async () => undefined };

/**
 * The components of a package. Its files are read; if they are none, its code is evaluated in the sandbox, and shows by its exports whether
 * it is a piece.
 */
export async function listPackage(wanted: WantedPackage, owner: string, parts: BuildParts, deadline: Deadline): Promise<PackageListing> {
  const found = await deadline.during("install", resolvePackage(wanted, owner, parts));
  return shortenListing(await listResolved(found, owner, parts, deadline));
}

export async function listResolved(found: ResolvedPackage, owner: string, parts: BuildParts, deadline: Deadline): Promise<PackageListing> {
  const { directory, ...facts } = found;
  const reading = async () => listComponentFiles(directory, await filesOf(directory), deadline.signal);
  const files = await deadline.during("scan", reading());
  if (files.length > 0) return { ...facts, kind: "components", components: files };
  const evaluated = await evaluate(found, owner, parts, deadline);
  if ("problem" in evaluated) return { ...facts, kind: "none", components: [], problem: evaluated.problem };
  return { ...facts, ...listed(evaluated) };
}

function listed(found: Described): Pick<PackageListing, "kind" | "piece" | "components"> {
  switch (found.kind) {
    case "piece": {
      const actions = found.actions.flatMap((each) => (each === null ? [] : [componentOf("action", each)]));
      const triggers = found.triggers.flatMap((each) => (each === null ? [] : [componentOf("trigger", each)]));
      return { kind: "piece", piece: found.piece, components: [...actions, ...triggers] };
    }
    case "component":
      return {
        kind: "component",
        components: [{ address: "", type: found.type === "action" ? "action" : "source", name: found.name ?? "" }],
      };
    case "none":
      return { kind: "none", components: [] };
  }
}

type Member = z.infer<typeof member> & { readonly strategy?: z.infer<typeof strategy> };

function componentOf(kind: "action" | "trigger", found: Member): ListedComponent {
  const problem = found.problem ?? (found.strategy === undefined ? undefined : problems[found.strategy]);
  return {
    address: `#${kind}/${found.name}`,
    type: kind === "action" ? "action" : "source",
    name: found.label,
    description: found.description,
    ...(found.strategy === undefined ? {} : { strategy: found.strategy }),
    ...(problem === undefined ? {} : { problem }),
  };
}

const problems: Readonly<Record<z.infer<typeof strategy>, string | undefined>> = {
  polling: undefined,
  webhook: undefined,
  app_webhook:
    "its service sends the events of all users of an app to one address, which Activepieces registers for its own app: register the endpoint of the source in an app of yours",
  manual: "it has no events: it starts by hand, with `hw run`",
};

async function evaluate(
  found: ResolvedPackage,
  owner: string,
  parts: BuildParts,
  deadline: Deadline,
): Promise<Described | { readonly problem: string }> {
  try {
    const request = { code: listingCode(found), owner };
    const { definition } = await build(request, { ...parts, ports: { ...parts.ports, bundles: notStored } }, deadline);
    const listing = definition.props.find(({ name: prop }) => prop === "listing")?.static;
    const parsed = described.safeParse(listing);
    return parsed.success ? parsed.data : { problem: "what it exports cannot be listed" };
  } catch (error) {
    // Its code fails when it is loaded; npm, the registry and its size are errors of the request.
    if (error instanceof Unavailable || !(error instanceof InvalidInput)) throw error;
    return { problem: error.message };
  }
}
