import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { knownPropTypes } from "../../domain/component/definition.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const root = join(import.meta.dirname, "../..");

/** Checks files as the project of an author would, outside of this repository. @returns what the compiler says */
async function compile(files: readonly string[], options: object = {}): Promise<string> {
  const directory = await temporaryDirectory("types");
  try {
    const compilerOptions = {
      target: "es2024",
      module: "esnext",
      moduleResolution: "bundler",
      strict: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      types: [],
      paths: { "headwater/types": [join(root, "types/index.ts")] },
      ...options,
    };
    await writeFile(join(directory.path, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    const compiler = spawn(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", directory.path]);
    let output = "";
    compiler.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    await once(compiler, "close");
    return output;
  } finally {
    await directory.remove();
  }
}

/** test/types/components.ts holds components that compile and, each under `@ts-expect-error`, mistakes that do not. */
describe("headwater/types", () => {
  const components = join(import.meta.dirname, "components.ts");

  it("knows `this` by the props, and finds mistakes, also in the example in TypeScript", async () => {
    expect(await compile([components, join(root, "fixtures/components/typescript.ts")])).toBe("");
  });

  it("does so under the strictest options as well", async () => {
    const strictest = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noPropertyAccessFromIndexSignature: true };
    expect(await compile([components], { ...strictest, verbatimModuleSyntax: true, isolatedModules: true })).toBe("");
  });

  it("has every type of prop that there is", async () => {
    const directory = await temporaryDirectory("prop-types");
    const props = knownPropTypes.filter((type) => type !== "app").map((type, n) => `p${n}: "${type}", q${n}: { type: "${type}" }`);
    const path = join(directory.path, "all.ts");
    await writeFile(
      path,
      `import { defineSource } from "headwater/types";\ndefineSource({ name: "x", props: { ${props.join(", ")} }, run() {} });\n`,
    );
    expect(await compile([path])).toBe("");
    await directory.remove();
  });
});
