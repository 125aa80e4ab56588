import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startHeadwater } from "../support/system/headwater.ts";
import { until } from "../support/until.ts";
import { steadyPort } from "../support/steady-port.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { startHwProcess } from "./hw.ts";

const source = `import { word } from "./word.ts";
export default {
  name: "Echo", version: "0.1.0",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run() { this.http.respond({ status: 201, headers: { "x-word": word } }); },
};
`;

it("hw dev goes on after the server was away", async () => {
  const directory = await temporaryDirectory("dev-away");
  const folder = join(directory.path, "away");
  const writeWord = (text: string): Promise<void> => writeFile(join(folder, "word.ts"), `export const word = "${text}";\n`);
  const options = { dataDirectory: join(directory.path, ".headwater"), ports: { api: await steadyPort(), ingress: await steadyPort() } };
  let server = await startHeadwater(options);
  await mkdir(folder);
  await writeFile(join(folder, "echo.ts"), source);
  await writeWord("one");
  const dev = startHwProcess({ directory: directory.path, env: { HOME: directory.path } }, ["dev", "away/echo.ts"]);
  try {
    await dev.untilPrinted(/(http:\/\/127\.0\.0\.1:\d+) → http/);
    const [, url = ""] = /(http:\/\/127\.0\.0\.1:\d+) → http/.exec(dev.stdout()) ?? [];
    await server.stop();
    await until(() => dev.stderr().includes("the connection is lost"), "the loss is reported", { more: dev.stderr });
    expect((await fetch(url)).status).toBe(502);
    server = await startHeadwater(options);
    await until(() => dev.stderr().includes("connected again"), "the connection is back", { more: dev.stderr });
    await writeWord("two");
    await dev.untilPrinted(/✓ deployed in/);
    // The API may be back before the endpoints are.
    await until(async () => (await fetch(url)).headers.get("x-word") === "two", "the new version answers", { more: dev.stderr });
  } finally {
    dev.interrupt();
    await dev.ended();
    await server.stop();
    await directory.remove();
  }
});
