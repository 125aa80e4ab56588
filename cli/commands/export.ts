import type { Definition } from "../command.ts";
import { usageFailure } from "../failure.ts";
import { kindNamed } from "../kinds/kinds.ts";
import { toYaml } from "../output/yaml.ts";
import { referredTo } from "../references.ts";
import { documentsOf, everything, ofKind, type Selected } from "../resources/exported.ts";
import { resourceKinds } from "../resources/plan.ts";
import { Session } from "../resources/session.ts";
import { readOperations } from "./apply.ts";

export const command: Definition = {
  description:
    "Prints resources as YAML, in the form of kubectl's custom resources: those of a kind, single ones, or all. The API does not return " +
    "values of secrets and credentials: add these before you apply the file elsewhere.",
  arguments: [{ name: "[thing...]", description: "kinds such as sources, or ids and names; by default everything", completes: "kind" }],
  examples: [
    { command: "hw export > resources.yaml", does: "Write all resources to a file." },
    { command: "hw export sources webhooks", does: "Print sources and webhooks." },
    { command: "hw export hello", does: "Print one source." },
  ],
  operations: readOperations,
  run: async ({ client, out, terminal }, given) => {
    const session = new Session(client, { secrets: new Map(), configMaps: new Map() });
    const chosen = given.list("thing");
    const selected = await terminal.progress("Reading resources", async () =>
      chosen.length === 0 ? everything(session) : (await Promise.all(chosen.map((text) => select(session, text)))).flat(),
    );
    const documents = await documentsOf(session, selected);
    if (out.format === "json") return out.document({ apiVersion: "v1", kind: "List", items: documents }, () => []);
    for (const [index, document] of documents.entries())
      await out.line(`${index === 0 ? "" : "---\n"}${(await toYaml(document)).trimEnd()}`);
  },
};

async function select(session: Session, text: string): Promise<Selected[]> {
  const whole = resourceKinds.find(({ listed }) => [listed.name, listed.noun, ...listed.aliases].includes(text));
  if (whole !== undefined) return ofKind(session, whole);
  const { kind: found, id } = await referredTo(session.client, text);
  const kind = resourceKinds.find(({ listed }) => listed.name === found.name);
  const item = (await session.items(found.name)).find((each) => each["id"] === id);
  if (kind === undefined || item === undefined) throw usageFailure(`${kindNamed(found.name).name} cannot be exported`);
  return [{ kind, item }];
}
