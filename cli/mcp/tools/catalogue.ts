import { z } from "zod";
import type { Connector, PackageComponent } from "../../../client/generated/operations.ts";
import { npmPackage } from "../../component/npm-package.ts";
import { notFound } from "../../failure.ts";
import { templates } from "../../init/templates.ts";
import { nearestName } from "../../nearest-name.ts";
import { present } from "../../values.ts";
import { cuttable, listAnswer, wholeAnswer, type Row } from "./answer.ts";
import { defineTool, limit, name, text, type Tool } from "./tool.ts";

const types = ["source", "action"] as const;

const catalogue = defineTool({
  name: "catalogue",
  description:
    "Searches components to deploy (type source: triggers) or to use as steps (type action): yours, those of the registry, and of connectors from " +
    "npm. With package, lists the components of one package. `list` with kind apps lists apps.",
  effect: "read",
  operations: ["searchComponentDetails", "searchConnectors", "listPackageComponents"],
  input: {
    query: text("Words of what it does").optional(),
    type: z.enum(types).optional().describe("Only of this type"),
    app: name("Only for this app, such as slack").optional(),
    package: name("A package as npm:<package> or npm:<package>@<version>").optional(),
    limit,
  },
  call: async ({ client }, { query, type, app, package: named, limit: count }) => {
    const whole = "props shows what one needs";
    const isRight = (each: { readonly type: string }): boolean => type === undefined || each.type === type;
    if (named !== undefined) {
      const { name: path, version } = npmPackage(named);
      const { data } = await client.call("listPackageComponents", { path: { name: path }, query: present({ version }) });
      const found = data.filter(isRight);
      return listAnswer(found.slice(0, count).map(packageRow), { whole, more: { total: found.length } });
    }
    const [{ data: components }, { data: connectors }] = await Promise.all([
      client.call("searchComponentDetails", { query: { limit: count, ...present({ query, app, type }) } }),
      client.call("searchConnectors", { query: present({ q: query ?? app }) }),
    ]);
    const own = components.map((each): Row => ({
      component: each.key ?? each.id,
      type: each.type,
      name: cuttable(each.name),
      about: cuttable(each.description),
    }));
    const others = connectors.filter((each) => app === undefined || each.app === app).flatMap((each) => connectorRows(each, isRight));
    // Both kinds are shown, however many of one there are.
    const shownOthers = others.slice(0, Math.max(Math.floor(count / 2), count - own.length));
    return listAnswer([...own.slice(0, count - shownOthers.length), ...shownOthers], { whole });
  },
});

/** The components of a connector that match, or the connector itself. */
function connectorRows(connector: Connector, isRight: (each: { readonly type: string }) => boolean): readonly Row[] {
  const matches = connector.matches.filter(isRight);
  if (matches.length > 0) return matches.map((each) => ({ component: each.component_url, type: each.type, name: cuttable(each.name) }));
  const { package: named, name: label, triggers, actions } = connector;
  return [{ package: `npm:${named}`, name: cuttable(label), triggers, actions }];
}

const packageRow = ({ component_url: url, type, name: label, description, problem }: PackageComponent): Row => ({
  component: url,
  type,
  name: cuttable(label),
  about: cuttable(description),
  problem: cuttable(problem),
});

const template = defineTool({
  name: "template",
  description: "Lists templates of components, or shows the code of one, to write it to a file.",
  effect: "read",
  operations: [],
  input: { template: name("Name of a template; without it the list").optional(), title: name("Name of the component").default("Hello") },
  call: async (_context, { template: named, title }) => {
    if (named === undefined) {
      return listAnswer(
        templates.map(({ name: each, kind, does }) => ({ template: each, type: kind, does: cuttable(does) })),
        { whole: "template shows its code" },
      );
    }
    const found = templates.find((each) => each.name === named);
    if (found !== undefined) return wholeAnswer({ file: `${named}.ts`, code: found.component(JSON.stringify(title)) }, "hw init source");
    const names = templates.map((each) => each.name);
    const nearest = nearestName(named, names);
    throw notFound(
      `there is no template "${named}"`,
      nearest === undefined ? `templates are: ${names.join(", ")}` : `did you mean ${nearest}?`,
    );
  },
});

export const catalogued: readonly Tool[] = [catalogue, template];
