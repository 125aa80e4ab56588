import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readAdminToken } from "../../platform/secrets/admin-token.ts";
import { temporaryDirectory, type TemporaryDirectory } from "../support/temporary-directory.ts";

let directory: TemporaryDirectory;
beforeAll(async () => {
  directory = await temporaryDirectory("admin-token");
});
afterAll(() => directory.remove());

async function read(text: string): Promise<string | undefined> {
  const file = join(directory.path, "admin-token");
  await writeFile(file, text);
  return readAdminToken(file);
}

it("is the file's content, without the end of its line", async () => {
  expect(await read(`${"a1".repeat(16)}\n`)).toBe("a1".repeat(16));
});

it("is undefined when no file is named", async () => {
  expect(await readAdminToken(undefined)).toBeUndefined();
});

it("is refused if it is easy to guess, in an error that does not contain it", async () => {
  for (const text of ["", "hunter2", "a".repeat(31), `${"correct horse battery staple ".repeat(3)}`, "a".repeat(513)]) {
    const refused = await read(text).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "admin_token_unfit", message: expect.stringContaining("32 to 512 characters") });
    if (text !== "") expect(String(refused)).not.toContain(text);
  }
});

it("is refused with the file's name if the file is missing", async () => {
  await expect(readAdminToken(join(directory.path, "none"))).rejects.toMatchObject({
    code: "admin_token_unreadable",
    message: expect.stringContaining("none"),
  });
});
