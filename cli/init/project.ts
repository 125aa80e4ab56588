import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { usageFailure } from "../failure.ts";
import type { Template } from "./templates.ts";
import { testingModule, testingTypes, typesModule } from "./testing.ts";

export interface ProjectOptions {
  readonly name: string;
  readonly template: Template;
  readonly isWorkflow: boolean;
  readonly isTypeScript: boolean;
}

/** The files of a new project by path. */
export async function projectFiles(options: ProjectOptions): Promise<Readonly<Record<string, string>>> {
  const { name, template, isWorkflow, isTypeScript } = options;
  const { componentTypes } = await import("../generated/documents.ts");
  const stem = isWorkflow ? "greet" : name;
  const extension = isTypeScript ? "ts" : "mjs";
  const file = `${stem}.${extension}`;
  return {
    [file]: template.component(JSON.stringify(stem)),
    [`${stem}.test.${extension}`]: template.test(file),
    ...(isWorkflow ? { "workflow.yaml": workflow(name, file) } : {}),
    "package.json": json(manifest(name, isTypeScript)),
    ...(isTypeScript ? { "tsconfig.json": json(compilerSettings) } : {}),
    ".gitignore": "node_modules/\n",
    "headwater/package.json": json(libraryManifest),
    "headwater/types.d.ts": `${componentTypes}\n`,
    "headwater/types.mjs": typesModule,
    "headwater/testing.d.ts": testingTypes,
    "headwater/testing.mjs": testingModule,
    ...(isTypeScript ? { "headwater/requires-node.mjs": requiresNode } : {}),
  };
}

/** Writes the files of a project, and links the package `headwater` as `npm install` would. @throws Failure */
export async function writeProject(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await writeFiles(folder, files);
  await mkdir(join(folder, "node_modules"));
  await symlink(join("..", "headwater"), join(folder, "node_modules", "headwater"), process.platform === "win32" ? "junction" : "dir");
}

/** Writes files into a folder that is empty or missing. @throws Failure */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  const present = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw usageFailure(`${folder} cannot be used: ${error instanceof Error ? error.message : String(error)}`, "choose another name");
  });
  if (present.length > 0) throw usageFailure(`${folder} is not empty`, "choose another name, or empty it");
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text, { flag: "wx" });
  }
}

/** Runs TypeScript files as they are. */
const nodeOfTypeScript = "22.18";

const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

const manifest = (name: string, isTypeScript: boolean): object => ({
  name,
  version: "0.1.0",
  private: true,
  type: "module",
  scripts: isTypeScript ? { test: "node headwater/requires-node.mjs && node --test", check: "tsc" } : { test: "node --test" },
  devDependencies: { headwater: "file:headwater", ...(isTypeScript ? { "@types/node": "^26.0.0", typescript: "^5.9.0" } : {}) },
  engines: { node: isTypeScript ? `>=${nodeOfTypeScript}` : ">=20" },
});

/** An older Node finds no tests in TypeScript files, and `node --test` succeeds without tests. */
const requiresNode = `// Ends with an error if this Node cannot run TypeScript: node --test would run no tests, and succeed.
if (!process.features.typescript) {
  console.error(\`npm test needs Node ${nodeOfTypeScript} or later and this is \${process.versions.node}: install a newer one, see https://nodejs.org\`);
  process.exit(1);
}
`;

const libraryManifest = {
  name: "headwater",
  version: "0.1.0",
  private: true,
  type: "module",
  exports: {
    "./types": { types: "./types.d.ts", default: "./types.mjs" },
    "./testing": { types: "./testing.d.ts", default: "./testing.mjs" },
  },
};

const compilerSettings = {
  compilerOptions: {
    target: "es2024",
    module: "nodenext",
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
    skipLibCheck: true,
    types: ["node"],
  },
  include: ["*.ts"],
};

const workflow = (name: string, file: string): string => `name: ${JSON.stringify(name)}
triggers:
  - type: http
steps:
  - name: greet
    file: ${file}
    props:
      who: "{{ steps.trigger.event.query.who }}"
`;
