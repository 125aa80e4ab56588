import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createLogger, type Logger } from "../../platform/telemetry/logger.ts";

describe("createLogger", () => {
  it("writes JSON lines without secrets", () => {
    const { logger, lines } = capturing();
    logger.info({ headers: { authorization: "Bearer x" }, a: { b: { password: "x" } }, token: "x", kept: 1 }, "hello");
    const [line] = lines();
    expect(line).toMatchObject({ level: "info", message: "hello", kept: 1, token: "[redacted]" });
    expect(JSON.stringify(line)).not.toContain('"x"');
    expect(JSON.stringify(line)).not.toContain("Bearer");
  });

  it("writes nothing below its level", () => {
    const { logger, lines } = capturing("warn");
    logger.info("quiet");
    expect(lines()).toEqual([]);
  });
});

function capturing(level: "info" | "warn" = "info"): { logger: Logger; lines: () => unknown[] } {
  const destination = new PassThrough();
  const logger = createLogger({ level, destination });
  const lines = (): unknown[] =>
    String(destination.read() ?? "")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  return { logger, lines };
}
