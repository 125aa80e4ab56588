import { readFileSync } from "node:fs";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { kinds } from "../crds/kinds.ts";
import { connectorIndex } from "../domain/component/connector.ts";
import { services } from "../test/sandbox/connector-runs/services/all.ts";
import { withTable } from "./connectors/table.ts";
import { commandLinePage } from "./generate/command-line-page.ts";
import { clientOperations } from "./generate/client-operations.ts";
import { componentSchema } from "./generate/component-schema.ts";
import { dashboard } from "./generate/dashboard.ts";
import { definitionOf } from "./generate/definition.ts";
import { packagedDocuments } from "./generate/packaged-documents.ts";
import { registryIndex } from "./generate/registry-index.ts";
import { resourcesPage } from "./generate/resources-page.ts";
import { consoleRunbooks } from "./generate/runbooks.ts";
import { valuesSchema } from "./generate/values-schema.ts";

/**
 * `npm run generate`: writes the generated files. Their sources are the kinds of crds/, the settings, the component format, the
 * components of registry/, the table of dashboard panels and the commands of cli/. With `--check` it writes nothing and fails where what is
 * committed differs.
 */
const root = join(import.meta.dirname, "..");
const definitions = "charts/headwater/files/crds";
const head = "# Written by `npm run generate` from crds/. Changes go there.\n";

interface Generated {
  /** Below the root of the repository. */
  readonly path: string;
  readonly text: string;
}

const generated: readonly Generated[] = [
  ...kinds.map((kind) => ({
    path: `${definitions}/${kind.plural}.yaml`,
    text: head + stringify(definitionOf(kind), { lineWidth: 140, aliasDuplicateObjects: false }),
  })),
  { path: "docs/resources.md", text: resourcesPage() },
  { path: "docs/cli.md", text: await commandLinePage() },
  { path: "docs/connectors.md", text: connectorsPage() },
  { path: "charts/headwater/values.schema.json", text: valuesSchema(root) },
  { path: "charts/headwater/files/dashboard.json", text: dashboard() },
  { path: "client/generated/operations.ts", text: clientOperations() },
  { path: "types/component.schema.json", text: componentSchema() },
  { path: "cli/generated/documents.ts", text: packagedDocuments(root) },
  { path: "console/generated/runbooks.ts", text: consoleRunbooks(root) },
  { path: "registry/index.json", text: await registryIndex(join(root, "registry")) },
];

/** What loads is what `npm run connectors` has found; what runs are the cases of the tests. */
function connectorsPage(): string {
  const index = connectorIndex.parse(JSON.parse(readFileSync(join(root, "registry", "connectors.json"), "utf8")));
  return withTable(readFileSync(join(root, "docs", "connectors.md"), "utf8"), index, services);
}

process.exitCode = process.argv.includes("--check") ? await check() : await write();

async function write(): Promise<number> {
  for (const path of await superfluous()) await rm(join(root, path));
  for (const { path, text } of generated.filter(differs)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
    console.log(path);
  }
  return 0;
}

async function check(): Promise<number> {
  const wrong = [...generated.filter(differs).map(({ path }) => path), ...(await superfluous())];
  for (const path of wrong) console.log(`${path} is not what follows from its source: run \`npm run generate\``);
  return wrong.length === 0 ? 0 : 1;
}

function differs({ path, text }: Generated): boolean {
  try {
    return readFileSync(join(root, path), "utf8") !== text;
  } catch {
    return true;
  }
}

/** Definitions of kinds that no longer exist. */
async function superfluous(): Promise<string[]> {
  const files = await readdir(join(root, definitions)).catch(() => []);
  const wanted = generated.map(({ path }) => path);
  return files.map((file) => `${definitions}/${file}`).filter((path) => !wanted.includes(path));
}
