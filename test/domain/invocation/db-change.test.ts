import { describe, expect, it } from "vitest";
import { dbChangesOf } from "../../../domain/invocation/db-change.ts";

const asItIs = (text: string): string => text;

describe("dbChangesOf", () => {
  it("lists changed, added and deleted keys without their values, and no key that was set to the value that it had", () => {
    const before = { db: { cursor: "1", gone: '"x"', same: "true" } };
    expect(dbChangesOf(before, { db: { cursor: '"ä"', gone: null, same: "true", added: "[]", never: null } }, asItIs)).toEqual([
      { prop: "db", key: "cursor", change: "changed", bytes: 4 },
      { prop: "db", key: "gone", change: "deleted" },
      { prop: "db", key: "added", change: "added", bytes: 2 },
    ]);
  });

  it("has at most ten changes with names of 81 characters each, and masks names before it cuts them", () => {
    const secret = "s3cret".repeat(20);
    const mask = (text: string): string => text.replaceAll(secret, "***");
    const writes = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`${"k".repeat(70)}${secret}${n}${"k".repeat(300)}`, "1"]));
    const changes = dbChangesOf({}, { [`${"p".repeat(70)}${secret}`]: writes }, mask);
    expect(changes).toHaveLength(10);
    expect(JSON.stringify(changes)).not.toContain("s3c");
    for (const { prop, key } of changes) expect([prop.length, key.length]).toEqual([73, 81]);
  });

  it("does not mask long names, and never cuts an emoji in half", () => {
    const masked: number[] = [];
    const note = (text: string): string => (masked.push(text.length), text);
    const writes = { ["k".repeat(1_025)]: "1", [`${"k".repeat(79)}😀`]: "1" };
    const [long, emoji] = dbChangesOf({}, { db: writes }, note);
    expect(long?.key).toBe("… (1025 characters)");
    expect(emoji?.key).toBe(`${"k".repeat(79)}\ufffd…`);
    expect(Math.max(...masked)).toBe(81);
  });
});
