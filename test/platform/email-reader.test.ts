import { afterAll, expect, it } from "vitest";
import { EmailReader } from "../../platform/mail/email-reader.ts";

const readers: EmailReader[] = [];
const readerOf = (maxMs?: number): EmailReader => {
  const reader = new EmailReader(maxMs);
  readers.push(reader);
  return reader;
};
afterAll(() => Promise.all(readers.map((reader) => reader.stop())));

const message = (text: string): Buffer => Buffer.from(`Subject: Hello\r\n\r\n${text}`);

it("reads messages one behind the other", async () => {
  const reader = readerOf();
  expect(await reader.read(message("one"))).toMatchObject({ subject: "Hello", text: expect.stringContaining("one") });
  expect(await reader.read(message("two"))).toMatchObject({ text: expect.stringContaining("two") });
});

it("leaves a message that takes too long, and reads the next one", async () => {
  const reader = readerOf(0);
  await expect(reader.read(message("x"))).rejects.toThrow("takes more than 0 ms");
  await expect(reader.read(message("x"))).rejects.toThrow("takes more than 0 ms");
  await reader.stop();
  expect(await readerOf().read(message("next"))).toMatchObject({ text: expect.stringContaining("next") });
});
