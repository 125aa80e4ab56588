import { it } from "vitest";
import { expectRaisedLimits } from "./larger-store.ts";

it("setup raises the limits of streams once a server has restarted with a larger store, and not before", () => expectRaisedLimits(1));
