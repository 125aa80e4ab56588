import { describe } from "vitest";
import { localProcesses } from "../../../runner/sandbox/processes/local.ts";
import { describeProcesses } from "./contract.ts";

describe("sandbox processes on this side", () => {
  describeProcesses(() => localProcesses);
});
