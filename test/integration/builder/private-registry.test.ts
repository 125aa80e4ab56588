import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readNpmConfig } from "../../../builder/npm/config.ts";
import { startRegistry } from "./registry.ts";
import { failure, openBuilder } from "./support.ts";

const token = "a-token-that-stays-secret";
const code = 'import own from "@own/package";\nimport one from "one";\nexport default { name: own + one, run() {} };\n';
const own = { name: "@own/package", files: { "index.js": 'module.exports = "own "' } };
const one = { name: "one", files: { "index.js": 'module.exports = "one"' } };

/** npm's configuration as a user's file, with the token in the environment. */
async function configuration(lines: readonly string[], environment: Readonly<Record<string, string>>) {
  const directory = await mkdtemp(join(tmpdir(), "headwater-npmrc-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const userconfig = join(directory, "npmrc");
  await writeFile(userconfig, lines.join("\n"));
  return readNpmConfig({ npm_config_userconfig: userconfig, ...environment }, directory);
}

async function registries() {
  const [open, closed] = [await startRegistry([one]), await startRegistry([own], token)];
  const host = closed.npm.registry.replace("http:", "");
  return { lines: [`registry=${open.npm.registry}`, `@own:registry=${closed.npm.registry}`], host };
}

test("a scope is installed from its own registry, with the token from the environment", async () => {
  const { lines, host } = await registries();
  const npm = await configuration([...lines, `${host}/:_authToken=\${REGISTRY_TOKEN}`], { REGISTRY_TOKEN: token });
  const { builder, stored } = await openBuilder({ npm });
  const build = await builder.build({ code });
  expect(build.definition.name).toBe("own one");
  expect(`${build.lockfile}${[...stored.values()].join()}`).not.toContain(token);
});

test("the same settings can come from the environment alone", async () => {
  const { lines, host } = await registries();
  const environment = Object.fromEntries(lines.map((line) => [`npm_config_${line.split("=")[0]}`, line.slice(line.indexOf("=") + 1)]));
  const npm = await configuration([], { ...environment, [`npm_config_${host}/:_authToken`]: token });
  const { builder } = await openBuilder({ npm });
  expect((await builder.build({ code })).definition.name).toBe("own one");
});

test.each([
  ["without a token", () => []],
  ["with a wrong token", (host: string) => [`${host}/:_authToken=wrong-${token}`]],
  ["with a wrong password in the address", (host: string) => [`@own:registry=http://user:${token}@${host.slice(2)}`]],
])("%s the package is refused, and the error contains no secret", async (_, credentials) => {
  const { lines, host } = await registries();
  const npm = await configuration([...credentials(host), ...lines], {});
  const { builder } = await openBuilder({ npm });
  const error = await failure(builder.build({ code }));
  expect(error.message).toContain("@own/package");
  expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain(token);
});

test("an unreachable registry is named by its host alone", async () => {
  const { lines } = await registries();
  const npm = await configuration([...lines.slice(0, 1), `@own:registry=http://user:${token}@127.0.0.1:1/npm`], {});
  const { builder } = await openBuilder({ npm });
  const error = await failure(builder.build({ code }));
  expect(error).toMatchObject({ status: 503 });
  expect(`${error.message} ${JSON.stringify(error.details)}`).not.toContain(token);
});
