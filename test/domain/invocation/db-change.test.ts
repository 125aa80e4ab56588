import { describe, expect, it } from "vitest";
import { dbChangesOf } from "../../../domain/invocation/db-change.ts";

const asItIs = (json: string): string => json;

describe("dbChangesOf", () => {
  it("shows changed, added and deleted keys, and no key that was set to the value that it had", () => {
    const before = { db: { cursor: "1", gone: '"x"', same: "true" } };
    expect(dbChangesOf(before, { db: { cursor: "2", gone: null, same: "true", added: "[]", never: null } }, asItIs)).toEqual([
      { prop: "db", key: "cursor", before: "1", after: "2" },
      { prop: "db", key: "gone", before: '"x"', after: null },
      { prop: "db", key: "added", before: null, after: "[]" },
    ]);
  });

  it("has at most ten changes of 280 characters each, and masks before it cuts", () => {
    const secret = "s3cret".repeat(20);
    const mask = (json: string): string => json.replaceAll(secret, "***");
    const writes = Object.fromEntries(
      Array.from({ length: 50 }, (_, n) => [`${n}-${"k".repeat(500)}`, JSON.stringify(`${"v".repeat(90)}${secret}`)]),
    );
    const changes = dbChangesOf({}, { db: writes }, mask);
    expect(changes).toHaveLength(10);
    expect(JSON.stringify(changes)).not.toContain("s3c");
    for (const change of changes) expect(change.key.length + (change.after?.length ?? 0)).toBeLessThanOrEqual(181);
  });

  it("does not read long values", () => {
    const masked: number[] = [];
    const note = (json: string): string => (masked.push(json.length), json);
    const [change] = dbChangesOf({ db: { large: "1".repeat(1_024) } }, { db: { large: "1".repeat(1_000_000) } }, note);
    expect(change?.after).toBe("… (1000000 characters of JSON)");
    expect(masked).toEqual([1_024]);
  });
});
