import { expect, it } from "vitest";
import { LimitExceeded } from "../../domain/errors.ts";
import { FailedUpdates } from "../../operator/deployable/failed-updates.ts";

it("a failed update is remembered until another one is requested, and tried again after that", () => {
  const failures = new FailedUpdates();
  failures.add("uid", "1 a", new LimitExceeded("too large"));
  expect(failures.find("uid", "1 a")).toEqual({ name: "LimitExceeded", message: "too large", code: "limit_exceeded" });
  expect(failures.find("uid", "1 b")).toBeUndefined();
  expect(failures.find("uid", "1 a")).toBeUndefined();
});
