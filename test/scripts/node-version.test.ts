import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";

const read = (path: string): Promise<string> => readFile(join(import.meta.dirname, "../..", path), "utf8");

it("the image, the sandbox's `process` and the tests have the Node of .node-version", async () => {
  const version = (await read(".node-version")).trim();
  expect(await read("Dockerfile")).toContain(
    `npm install --no-save --ignore-scripts --no-audit --no-fund --loglevel=error "$name@$(cat .node-version)"`,
  );
  const guest = await read("runner/sandbox/guest/node/process/process.ts");
  expect(guest).toContain(`version = "v${version}";`);
  // A later one of the same major version may run the tests, but then it has the same ABI.
  const { modules } = process.versions;
  expect(guest).toContain(`modules: "${modules}",`);
  expect(await read("scripts/release/native-modules.ts")).toContain(`const abi = ${modules};`);
});
