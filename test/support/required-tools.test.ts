import { expect, it } from "vitest";
import { findProgram } from "./helm.ts";

const empty = { PATH: import.meta.dirname };

it("finds no program on a PATH without it, so that its tests are skipped", () => {
  expect(findProgram("promtool", empty)).toBeUndefined();
});

it("throws with HEADWATER_TEST_REQUIRE_TOOLS=1, so that its tests fail", () => {
  const required = { ...empty, HEADWATER_TEST_REQUIRE_TOOLS: "1" };
  expect(() => findProgram("promtool", required)).toThrow(
    "promtool was not found below KUBEBUILDER_ASSETS or on PATH: HEADWATER_TEST_REQUIRE_TOOLS=1",
  );
});
