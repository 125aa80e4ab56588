import { z } from "zod";
import { formatNpmOrigin } from "../../domain/component/npm-origin.ts";
import { searchConnectors, type FoundConnector } from "../../domain/component/connector.ts";
import { operation } from "../context.ts";
import { optionalParameter, text } from "../http/request/parameters.ts";
import type { Answered } from "../http/response/answered.ts";
import { ok } from "../http/response/replies.ts";
import { all } from "../http/response/schemas.ts";

const maxMembers = 20;

const query = z.object({
  q: optionalParameter(text.max(200, "it must have at most 200 characters")).describe(
    "Words of the name of a connector, or of its triggers and actions; by default, all connectors.",
  ),
});

export const connectorSchema = z
  .object({
    package: z.string(),
    version: z.string().describe("The version that was read; newer ones may exist."),
    name: z.string(),
    app: z.string().describe("Slug of the app whose accounts it uses."),
    auth: z.array(z.string()).describe("The ways in which it authenticates."),
    actions: z.int(),
    triggers: z.int(),
    matches: z
      .array(z.object({ component_url: z.string(), type: z.enum(["source", "action"]), name: z.string() }))
      .describe(`Its triggers and actions that contain the words, at most ${maxMembers}.`),
  })
  .meta({ id: "Connector", description: "A package of the npm registry with triggers and actions." });

/** The index is part of the installation: a search needs no network. */
export const connectorOperations = [
  operation({
    route: "GET /connectors",
    id: "searchConnectors",
    summary: "Search the connectors that are known to load",
    description: "From an index that is part of the installation. GET /packages/{name}/components lists any package of the registry.",
    query,
    responses: all(connectorSchema),
    handle: async (call, { ports }) => {
      const { connectors } = await ports.connectors();
      return ok(searchConnectors(connectors, call.query().q ?? "").map(response));
    },
  }),
];

const response = ({ connector, members }: FoundConnector): Answered<typeof connectorSchema> => ({
  package: connector.name,
  version: connector.version,
  name: connector.displayName,
  app: connector.app,
  auth: [...connector.auth],
  actions: connector.actions.length,
  triggers: connector.triggers.length,
  matches: members.slice(0, maxMembers).map(({ kind, name, label }) => ({
    component_url: formatNpmOrigin({ name: connector.name, range: connector.version, path: "", member: { kind, name } }),
    type: kind === "action" ? "action" : "source",
    name: label,
  })),
});
